"""The Sparse VAE's artefacts: claims, tables and figures on rows like those of its runs."""

import itertools

import numpy as np
import pandas as pd
import pytest

from sparseid.config.identity import row_keys
from sparseid.config.sweep import plan
from sparseid.papers.claims import Comparison, claims_in
from sparseid.papers.labels import label
from sparseid.papers.registry import artefact, run_figures, run_summary
from sparseid.papers.rows import key, newest, rows_frame
from sparseid.papers.sparse_vae import claims
from sparseid.papers.sparse_vae.rows import BETAS, CORRELATIONS, STUCK, WARM_UP
from sparseid.papers.targets import load_targets
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

BASE = {"run": "r", "paper": "sparse_vae", "scale": "paper", "unit": "", "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00", "recipe": "x", "n": 9}
CHECKS = claims_in(claims)


def frame(values):
    """Rows of (keys, seed, metric, value)."""
    return newest(rows_frame([Row(keys=k, seed=s, metric=m, value=float(v), **BASE) for k, s, m, v in values]))


def outcome(name, rows, other=None):
    check = CHECKS[f"sparse_vae-{name}"]
    return (check.check(rows, other) if isinstance(check, Comparison) else check(rows)).outcome


def model(method, beta=2.0):
    return {"method": method} | ({"beta": beta} if method == "beta_vae" else {})


MSE = {"sparse_vae": 0.35, WARM_UP: 0.4, "vae": 0.5, "beta_vae": 0.51, "vsc": 5.0}
DCI = {"sparse_vae": 0.8, WARM_UP: 0.8, "vae": 0.5, "beta_vae": 0.51, "vsc": 0.2}


def figure3(mse=MSE, dci=DCI, falls=0.3, seeds=5, correlations=CORRELATIONS):
    """Data sets a little different; the DCI falls after rho = 0.4."""
    made = []
    for rho, (method, error), seed in itertools.product(correlations, mse.items(), range(seeds)):
        keys = {"domain": "sevenfeatures", **model(method), "rho": rho}
        made.append((keys, seed, "mse", error + 0.02 * seed))
        made.append((keys, seed, "dci", dci[method] - falls * max(rho - 0.4, 0) - 0.02 * seed))
        if method == "beta_vae":
            made += [({**keys, "beta": beta}, seed, "mse", 9.0) for beta in BETAS[1:]]
    return frame(made)


def test_claims_of_figure_3_hold_where_the_paper_says_so_and_fail_where_methods_are_swapped():
    names = [name.removeprefix("sparse_vae-") for name in CHECKS if "-fig3-" in name]
    assert {outcome(name, figure3()) for name in names} == {"holds"}
    assert len(names) == 8
    swapped = {"sparse_vae": "vsc", "vsc": "sparse_vae"}
    other = figure3(*({swapped.get(k, k): v for k, v in numbers.items()} for numbers in (MSE, DCI)), falls=-0.3)
    found = {name: outcome(name, other) for name in names}
    assert found.pop("fig3-beta_like_vae") == found.pop("fig3-dci_robust") == "holds"
    assert set(found.values()) == {"fails"}
    assert outcome("fig3-beta_like_vae", figure3(MSE | {"beta_vae": 0.9})) == "fails"
    assert outcome("fig3-dci_robust", frame([])) == "undecided"


def test_medians_decide_figure_3_so_that_a_few_stuck_data_sets_do_not():
    rows = figure3()
    stuck = (key(rows, "method") == "sparse_vae") & (rows["metric"] == "mse") & (rows["seed"] < 2)
    rows.loc[stuck, "value"] = 15.0
    assert outcome("fig3-mse_vs_vae", rows) == "holds"
    assert outcome("fig3-mse_vs_vae_test", rows) == "undecided"
    finding = CHECKS["sparse_vae-fig3-mse_vs_vae"](rows)
    assert "with warm-up: holds" in finding.text


def test_a_correlation_that_was_not_run_leaves_claims_open():
    assert outcome("fig3-dci_vs_vae", figure3(correlations=CORRELATIONS[:4])) == "undecided"


def test_figure_3s_table_has_the_share_that_got_stuck_and_beta_2_as_the_beta_vae():
    rows = figure3()
    stuck = (key(rows, "method") == "sparse_vae") & (rows["metric"] == "mse") & (rows["seed"] == 4)
    rows.loc[stuck, "value"] = 7.0
    made = {(*cell.keys.values(), cell.metric): cell for cell in entries(artefact("sparse_vae/fig3"), rows, "paper")}
    share = made["sparse_vae", 0.0, STUCK].ours
    assert (share.centre, share.n, np.isnan(share.low)) == (20.0, 5, True)
    assert made["vae", 0.0, STUCK].ours.centre == 0
    assert made["sparse_vae", 0.0, "mse"].ours.centre == pytest.approx(0.39)  # a median
    assert made["beta_vae", 0.0, "mse"].ours.centre == pytest.approx(0.55)
    assert made["beta_vae", 0.0, "mse"].target.n == 25
    assert made["\N{GREEK SMALL LETTER BETA}-VAE (16)", 0.0, "mse"].ours.centre == 9.0


def test_figure_3_draws_what_there_is():
    figure = artefact("sparse_vae/fig3").figure(figure3(correlations=(0.0, 0.8)), dict, "paper")
    assert [axes.get_title() for axes in figure.axes[:2]] == ["ρ = 0", "ρ = 0.8"]
    (legend,) = figure.legends
    assert legend.get_title().get_text().endswith("dotted: variance of the noise")
    assert artefact("sparse_vae/fig3").draw(frame([]), [], "small").axes
    assert artefact("sparse_vae/fig3").figure(frame([]), dict, "small") is None, "the paper prints none of its numbers"


LOSS = {"sparse_vae": 170.9, "vae": 175.9, "beta_vae": 178.2, "vsc": 192.2}
RANK = {"sparse_vae": 0.98, "vae": 0.97, "beta_vae": 0.95, "vsc": 0.79}


def table1(loss=LOSS, rank=RANK, dataset="movielens", best_beta=2.0):
    made = []
    for (method, value), fold in itertools.product(loss.items(), range(5)):
        keys = {"dataset": dataset, **model(method), "fold": fold}
        noise = 0.01 * fold * (1 + len(method) % 3)
        made.append((keys, 0, "log_loss", value + noise))
        made.append((keys, 0, "gap_to_oracle", value + noise - 165))
        made += [(keys, 0, name, rank[method] - noise / 10) for name in ("recall_at_5", "ndcg_at_10")]
        if method == "beta_vae":
            for beta in BETAS[1:]:
                made.append(
                    ({**keys, "beta": beta}, 0, "log_loss", value + noise + (-1 if beta == best_beta else beta))
                )
    return frame(made)


def test_claims_of_table_1_on_the_papers_numbers_and_on_others():
    movies, words = table1(), table1(dataset="peerread")
    names = [name.removeprefix("sparse_vae-") for name in CHECKS if "-table1-" in name]
    assert {name: outcome(name, movies, words) for name in names} == dict.fromkeys(names, "holds")
    assert len(names) == 5
    assert outcome("table1-beta2_best", movies, table1(best_beta=8.0)) == "fails"
    alike = table1(dict.fromkeys(LOSS, 170.0), dict.fromkeys(RANK, 0.9))
    assert outcome("table1-movielens_log_loss", alike) != "holds"
    assert outcome("table1-movielens_ranking", alike) != "holds"
    assert outcome("table1-peerread_log_loss", movies, frame([])) == "undecided"


def test_table_1_sums_up_folds_with_the_population_standard_deviation_beside_the_papers_numbers():
    made = {
        (*cell.keys.values(), cell.metric): cell for cell in entries(artefact("sparse_vae/table1"), table1(), "paper")
    }
    ours = made["movielens", "sparse_vae", "log_loss"]
    assert ours.ours.n == 5
    assert ours.ours.high - ours.ours.centre == pytest.approx(np.std([0, 0.02, 0.04, 0.06, 0.08]))
    assert ours.verdict.word == "agrees"
    assert made["movielens", "beta_vae", 2.0, "log_loss"].target.value == 178.2
    assert made["movielens", "beta_vae", 4.0, "log_loss"].target is None
    assert made["movielens", "sparse_vae", "gap_to_oracle"].verdict.word == "no printed number"
    assert "the row's own frequencies" in label("gap_to_oracle")
    words = entries(artefact("sparse_vae/table1_peerread"), table1(dataset="peerread"), "paper")
    assert {cell.target.value for cell in words if cell.target} == {245.0, 252.6, 254.5, 252.9}


SHIFTED = {
    "sparse_vae": (52.4, 49.2, 48.6),
    "vae": (54.6, 52.3, 50.8),
    "beta_vae": (54.7, 52.1, 51.0),
    "vsc": (58.7, 56.1, 55.4),
}


def table2(loss=SHIFTED):
    shifts = (("high", 0.5), ("medium", 1.0), ("low", 3.0))
    return frame(
        (
            {"domain": "peerreadshift", **model(method), "shift": name, "sigma_shift": sigma},
            seed,
            "log_loss",
            value + noise,
        )
        for method, values in loss.items()
        for (name, sigma), value in zip(shifts, values, strict=True)
        for seed, noise in enumerate(np.array([0, 0.3, -0.3]) * (1 + 0.1 * len(method)))
    )


def test_claims_of_table_2_on_the_papers_numbers_and_on_others():
    names = [name.removeprefix("sparse_vae-") for name in CHECKS if "-table2-" in name]
    assert {name: outcome(name, table2()) for name in names} == dict.fromkeys(names, "holds")
    assert len(names) == 4
    turned = table2({name: values[::-1] for name, values in SHIFTED.items()})
    assert outcome("table2-difficulty_order", turned) == "fails"
    worse = table2(SHIFTED | {"sparse_vae": (60, 60, 60), "beta_vae": (52, 52, 52)})
    for name in ("all_shifts", "vsc_worst", "beta_equals_vae"):
        assert outcome(f"table2-{name}", worse) == "fails"
    made = entries(artefact("sparse_vae/table2"), table2(), "paper")
    assert {cell.verdict.word for cell in made} == {"agrees"}


def topics(named, source=None, dataset="movielens", by_chance=0.0):
    base = {"dataset": dataset, "method": "sparse_vae", "fold": 0} | ({"source": source} if source else {})
    made = []
    for number, (words, shared, value) in enumerate(named, start=1):
        made.append((base | {"topic": number, "top_features": words, "shared": shared}, 0, "npmi", value))
        made.append((base | {"topic": number}, 0, "npmi_random", by_chance + 0.01 * number))
    return frame(made)


STAR_WARS = "Star Wars: Episode V - The Empire Strikes Back (1980)"
FILMS = (
    ("Fifth Element, The (1997); Alien (1979); Gattaca (1997); Aliens (1986)", "Sci-Fi", 0.3),
    ("Bug's Life, A (1998); Monsters, Inc. (2001); Toy Story 3 (2010); Toy Story 2 (1999)", "Animation|Children", 0.4),
    (f"{STAR_WARS}; Star Wars: IV; Star Wars: VI; Raiders of the Lost Ark (1981)", "Action", 0.5),
)


def test_topics_of_films_are_checked_by_genres_and_titles():
    names = ("movies_scifi", "movies_children", "movies_blockbuster")
    assert [outcome(f"table3-{name}", topics(FILMS)) for name in names] == ["holds"] * 3
    for name, film in zip(names, FILMS, strict=True):
        others = [other for other in FILMS if other is not film]
        assert outcome(f"table3-{name}", topics(others)) == "fails"
        assert outcome(f"table3-{name}", topics(FILMS, source="latent_factors")) == "undecided"  # nobody knows these


def test_words_go_together_better_than_random_ones_over_factors():
    words = [(f"word {number}", "", 0.2 + 0.02 * number) for number in range(6)]
    assert outcome("table3-words_themes", frame([]), topics(words, dataset="peerread")) == "holds"
    assert outcome("table3-words_themes", frame([]), topics(words, dataset="peerread", by_chance=0.5)) == "fails"


def test_the_table_and_the_figure_of_topics_name_their_features():
    table = entries(artefact("sparse_vae/table3"), topics(FILMS), "paper")
    named = [cell.keys.get("top_features", "") for cell in table if cell.metric == "npmi"]
    assert named == [words for words, _, _ in FILMS]
    figure = artefact("sparse_vae/table3").figure(topics(FILMS), dict, "paper")
    drawn = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert drawn[:2] == named[:2]
    assert drawn[2].startswith(STAR_WARS)
    assert drawn[2].endswith("\N{HORIZONTAL ELLIPSIS}")
    assert artefact("sparse_vae/table3").figure(frame([]), dict, "small") is None
    assert not artefact("sparse_vae/table3").targets  # the paper's words are checked as claims


ACCURACY = {"sparse_vae": 0.95, "vae": 0.945, "nmf": 0.91, "vsc": 0.89, "oi_vae": 0.8}


def on_cells(accuracy=ACCURACY, silhouette=ACCURACY, processes=()):
    made = []
    for (method, value), seed in itertools.product(accuracy.items(), range(3)):
        keys = {"domain": "zeisel", "method": method}
        made.append((keys, seed, "accuracy", value + 0.02 * (seed - 1)))
        made.append((keys, seed, "silhouette", silhouette[method] - 0.5 + 0.01 * seed))
    made += [({"domain": "zeisel", "method": "sparse_vae"}, seed, "n_processes", n) for seed, n in enumerate(processes)]
    return frame(made)


def test_claims_on_cells_of_the_mouse_cortex():
    rows = on_cells(processes=[39, 35, 41])
    names = ("fig4-tsne_separation", "zeisel_accuracy-order", "zeisel_accuracy-vae_close", "zeisel_go-enriched")
    assert [outcome(name, rows) for name in names] == ["holds"] * 4
    other = dict(zip(ACCURACY, reversed(ACCURACY.values()), strict=True))
    assert [outcome(name, on_cells(other, other, [3, 4])) for name in names] == ["fails", "fails", "holds", "fails"]
    assert outcome("zeisel_accuracy-vae_close", on_cells(ACCURACY | {"sparse_vae": 0.99})) == "fails"
    without = CHECKS["sparse_vae-zeisel_go-enriched"](on_cells())
    assert (without.outcome, without.measured) == ("undecided", False)
    assert "names of genes" in without.text


@pytest.mark.parametrize("scale", ["smoke", "small", "paper"])
def test_every_scale_runs_every_method_on_the_cells_and_looks_for_processes_with_one(scale):
    for name in ("fig4", "zeisel_accuracy", "zeisel_go"):
        planned = plan([f"experiment=sparse_vae/{name}", f"scale={scale}"]).trials
        methods = {row_keys(cell.run)["method"] for cell in planned}
        assert methods == set(artefact(f"sparse_vae/{name}").selects["method"])


def test_figure_4_shows_the_planes_that_runs_saved_and_counts_the_cells():
    rows = on_cells()
    saved = {"plane": np.random.default_rng(0).normal(size=(9, 2)), "labels": np.repeat(["a", "b", "c"], 3)}
    figure = artefact("sparse_vae/fig4").figure(rows, lambda run: saved if run == "r" else {}, "paper")
    assert [axes.get_title() for axes in figure.axes[:2]] == ["Sparse VAE, silhouette 0.46", "VAE, silhouette 0.45"]
    assert artefact("sparse_vae/fig4").figure(rows, lambda run: {}, "paper") is None  # of rows kept in git
    (counted,) = [cell for cell in entries(artefact("sparse_vae/fig4"), rows, "paper") if cell.metric == "n_cells"]
    assert (counted.ours.centre, counted.target.value) == (9, 3005)


CLASSES = ("astrocytes_ependymal", "endothelial-mural", "interneurons", "microglia", "oligodendrocytes")
CLASSES += ("pyramidal CA1", "pyramidal SS")


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_the_names_of_all_types_of_cells_fit_below_the_planes(panels):
    saved = {"plane": np.random.default_rng(0).normal(size=(14, 2)), "labels": np.repeat(CLASSES, 2)}
    rows = on_cells({method: ACCURACY[method] for method in list(ACCURACY)[:panels]})
    figure = artefact("sparse_vae/fig4").figure(rows, lambda run: saved, "paper")
    figure.canvas.draw()
    (legend,) = figure.legends
    inside = legend.get_window_extent()
    assert inside.x0 >= 0
    assert inside.x1 <= figure.bbox.x1
    assert inside.y0 >= 0


def test_every_box_of_figure_3_is_inside_its_panel():
    rows = figure3()
    keys = [{"domain": "sevenfeatures", "method": "sparse_vae", "rho": rho} for rho in CORRELATIONS]
    wrong = frame(
        [(of_rho, seed, "selector_hamming", 3 * place) for place, of_rho in enumerate(keys) for seed in (0, 1)]
    )
    figure = artefact("sparse_vae/fig3").figure(pd.concat([rows, wrong], ignore_index=True), dict, "paper")
    low, high = figure.axes[-1].get_ylim()
    assert low == 0
    assert high > 3 * (len(CORRELATIONS) - 1)


def test_pictures_of_a_run_are_those_of_its_arrays():
    generator = np.random.default_rng(0)
    rows = on_cells()
    synthetic = {
        "selector": generator.normal(size=(2, 7, 5)),
        "codes": generator.normal(size=(30, 5)),
        "factors": generator.normal(size=(30, 2)),
    }
    assert set(run_figures("sparse_vae", rows, synthetic, "small")) == {"factors", "selector"}
    broken = synthetic | {"codes": np.full((30, 5), np.nan)}
    assert set(run_figures("sparse_vae", rows, broken, "small")) == {"factors", "selector"}
    words = {"selector": generator.normal(size=(1, 50, 20)), "feature_names": np.array([f"word{n}" for n in range(50)])}
    figures = run_figures("sparse_vae", rows, words, "small")
    assert set(figures) == {"topics"}
    top = figures["topics"].axes[0].get_yticklabels()[0].get_text()
    heaviest = np.abs(words["selector"][0]).sum(axis=0).argmax()
    assert top == f"word{np.abs(words['selector'][0, :, heaviest]).argmax()}"
    assert run_figures("sparse_vae", rows, {}, "small") == {}


def test_a_single_run_ends_with_its_numbers():
    summary = run_summary("sparse_vae", table1())
    assert summary.id == "sparse_vae/run"
    assert {cell.metric for cell in entries(summary, table1(), "paper")} == {
        "log_loss", "gap_to_oracle", "recall_at_5", "ndcg_at_10",
    }  # fmt: skip


def test_every_claim_in_the_targets_is_checked():
    assert {statement.id for statement in load_targets("sparse_vae").statements} == set(CHECKS)
