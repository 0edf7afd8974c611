"""TBR's artefacts: claims, table and figures on rows like those of its runs."""

import itertools

import numpy as np
import pytest

from sparseid.papers.claims import Comparison, claims_in
from sparseid.papers.presets import preset_recipes, preset_runs
from sparseid.papers.registry import artefact, run_figures
from sparseid.papers.rows import newest, rows_frame
from sparseid.papers.targets import load_targets
from sparseid.papers.tbr import claims
from sparseid.papers.tbr.claims import LATENTS, LEARNED, PROBABILITIES
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

CLAIMS = claims_in(claims)

BASE = {"run": "r", "paper": "tbr", "scale": "small", "unit": "", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
MCC = {"tbr": [0.5, 0.98, 0.9, 0.8, 0.7, 0.6], "baseline": [0.5, 0.55, 0.5, 0.5, 0.45, 0.4]}
MSE = {"tbr": [0.09, 0.1, 0.12, 0.15, 0.2, 0.3], "baseline": [0.09, 1.0, 2.0, 3.0, 4.0, 5.0]}
EFFECT = {"tbr": 0.05, "baseline": 1.5}


def rows(seeds=3, changes=range(6), mcc=MCC, mse=MSE, effect=EFFECT):
    """Rows as the paper's curves would give them, seed by seed a little different."""
    recipe = next(iter(preset_recipes("tbr/fig4", "small")))
    made = []

    def add(keys, seed, metric, value):
        made.append(Row(keys=keys, seed=seed, metric=metric, value=value, recipe=recipe, **BASE))

    for seed in range(seeds):
        for method in ("tbr", "baseline"):
            for s in changes:
                keys = {"domain": "treesimulation", "method": method, "S": s, "latent_dim": 5, "learned_dim": 5}
                add(keys, seed, "mcc", mcc[method][s] - 0.001 * seed * (1 + (method == "tbr")))
                add(keys, seed, "mse", mse[method][s] + 0.001 * seed)
            for environment in range(1, 11):
                keys = {"domain": "treesimulation", "method": method, "S": 1}
                value = effect[method] * (1 + 0.1 * environment) + 0.01 * seed
                add(keys | {"environment": environment}, seed, "ate_mse", value)
                add(keys | {"environment": "pooled", "of_environment": environment}, seed, "ate_mse", value)
    return newest(rows_frame(made))


def outcomes(frame, artefacts=("tbr-fig4", "tbr-table3"), other=None):
    """Outcomes of the claims of some artefacts; those that compare two artefacts find `other` in the second place."""
    checks = {name: check for name, check in CLAIMS.items() if name.startswith(artefacts)}
    return {
        name: (check.check(frame, other) if isinstance(check, Comparison) else check(frame)).outcome
        for name, check in checks.items()
        if other is not None or not isinstance(check, Comparison)
    }


def frame_of(values, metric, artefact_id):
    """Rows of one metric from (keys, seed) -> value."""
    recipe = next(iter(preset_recipes(artefact_id, "small")))
    made = [
        Row(keys=dict(keys), seed=seed, metric=metric, value=value, recipe=recipe, **BASE)
        for (keys, seed), value in values.items()
    ]
    return newest(rows_frame(made))


def latent_rows(tbr, baseline, seeds=3):
    """Figure 3: test errors of each method from (true, learned) latents."""
    values = {}
    for method, error in (("tbr", tbr), ("baseline", baseline)):
        for true, learned, seed in itertools.product(LATENTS, LEARNED, range(seeds)):
            keys = {"method": method, "latent_dim": true, "learned_dim": learned}
            values[tuple(keys.items()), seed] = error(true, learned) + 0.001 * seed * learned
    return frame_of(values, "mse", "tbr/fig3")


def pi_rows(tbr, baseline, seeds=3):
    """Figure 8: MCC of each method from pi."""
    values = {
        (("method", method), ("pi", pi), seed): of(pi) + 0.002 * seed * (1 + (method == "tbr"))
        for method, of in (("tbr", tbr), ("baseline", baseline))
        for pi in PROBABILITIES
        for seed in range(seeds)
    }
    return frame_of({(key[:2], key[2]): value for key, value in values.items()}, "mcc", "tbr/fig8")


CELLS_MCC = {"tbr": [0.51, 0.61, 0.61], "baseline": [0.5, 0.4, 0.31]}
UNSEEN = {"tbr": [1.1, 0.49, 0.47], "baseline": [2.0, 2.0, 2.0]}


def cell_rows(mcc=CELLS_MCC, unseen=UNSEEN, changes=range(3)):
    """Rows as the paper's numbers on single cells would give them: two choices of latents, two held-out types."""
    made = []
    for seed, choice, method, s in itertools.product(range(3), range(2), ("tbr", "baseline"), changes):
        keys = {"domain": "gtex", "method": method, "S": s, "z_choice": choice, "source": "semi_synthetic"}
        noise = 0.002 * seed * (1 + (method == "tbr") + s) + 0.01 * choice
        if s < len(mcc[method]):
            made.append((keys, seed, "mcc", mcc[method][s] + noise, "tbr/fig5a"))
        for held_out in range(2):
            value = unseen[method][s] + noise + 0.1 * held_out
            made.append((keys | {"held_out": held_out}, seed, "unseen_mse", value, "tbr/fig5b"))
    recipes = {name: next(iter(preset_recipes(name, "small"))) for name in ("tbr/fig5a", "tbr/fig5b")}
    found = [Row(keys=k, seed=n, metric=m, value=v, recipe=recipes[a], **BASE) for k, n, m, v, a in made]
    return newest(rows_frame(found))


def test_claims_on_single_cells_hold_on_the_papers_numbers_and_fail_where_methods_are_alike():
    cells_only = ("tbr-fig5",)
    found = outcomes(cell_rows(), cells_only)
    assert set(found.values()) == {"holds"}
    assert len(found) == 5
    alike = cell_rows(dict.fromkeys(CELLS_MCC, CELLS_MCC["tbr"]), {method: [1.0, 1.2, 1.4] for method in UNSEEN})
    assert outcomes(alike, cells_only) == {
        "tbr-fig5a-equal_S0": "holds",
        "tbr-fig5a-tbr_rises": "holds",
        "tbr-fig5a-baseline_falls": "fails",
        "tbr-fig5b-S0_worst": "fails",
        "tbr-fig5b-baseline_worse": "fails",
    }


def test_errors_on_unseen_types_are_compared_at_every_number_of_changes_that_was_run():
    claim = ("tbr-fig5b-baseline_worse",)
    more = cell_rows(unseen={"tbr": [1.1, 0.49, 0.47, 3.0], "baseline": [2.0] * 4}, changes=range(4))
    assert outcomes(cell_rows(), claim) == {claim[0]: "holds"}
    assert outcomes(more, claim) == {claim[0]: "fails"}
    assert outcomes(cell_rows(changes=range(2)), claim) == {claim[0]: "undecided"}


def test_tables_of_single_cells_pool_choices_and_held_out_types_and_are_not_compared():
    for name, replicates, printed in (("tbr/fig5a", 6, 0.31), ("tbr/fig5b", 12, None)):
        made = {(cell.keys["method"], cell.keys["S"]): cell for cell in entries(artefact(name), cell_rows(), "small")}
        assert len(made) == 2 * 6
        measured = {keys: cell for keys, cell in made.items() if cell.ours}
        assert {changes for _, changes in measured} == {0, 1, 2}
        assert {cell.ours.n for cell in measured.values()} == {replicates}
        assert made["baseline", 2].target.value == printed
        assert str(made["tbr", 1].verdict) == "not comparable"
        figure = artefact(name).draw(cell_rows(), artefact(name).targets, "small")
        assert len(figure.axes[0].lines) == 2
        assert "not the paper's cells" in figure.axes[0].get_title()


def test_only_the_atlas_is_compared_with_the_paper():
    from sparseid.config.sweep import plan

    for name, runs in (("tbr/fig5a", 900), ("tbr/fig5b", 2400)):
        planned = plan([f"experiment={name}", "scale=paper"]).trials
        assert len(planned) == runs
        assert {cell.run.data.source for cell in planned} == {"atlas"}
    trained_on = {(cell.run.method.variant, cell.run.data.held_out.train_on) for cell in planned}
    assert trained_on == {("tbr", "all"), ("baseline", "closest")}


def test_claims_hold_on_rows_like_the_papers_curves():
    assert set(outcomes(rows()).values()) == {"holds"}


def test_claims_fail_where_both_methods_are_alike():
    alike = rows(mcc=dict.fromkeys(MCC, MCC["baseline"]), mse=dict.fromkeys(MSE, MSE["baseline"]),
                 effect=dict.fromkeys(EFFECT, 1.0))  # fmt: skip
    found = outcomes(alike)
    assert found["tbr-fig4-near_perfect_S1"] == "fails"
    assert found["tbr-fig4-robust"] == "fails"
    assert found["tbr-fig4-mse_baseline_degrades"] == "fails"
    assert found["tbr-fig4-entangled_S0"] == "holds"
    assert found["tbr-table3-pooled"] == "fails"


def falls_to_the_true_number(true, learned):
    return 0.1 + max(true - learned, 0)


def test_claims_about_the_number_of_latents_hold_on_curves_as_the_text_describes_them():
    described = latent_rows(falls_to_the_true_number, lambda z, k: 5 + max(z - k, 0) - 0.1 * (k > z or k == 8))
    assert set(outcomes(described, ("tbr-fig3",)).values()) == {"holds"}
    # the lowest point of a plateau is chance: the first one within a standard deviation counts
    dips = latent_rows(lambda z, k: falls_to_the_true_number(z, k) - 0.0005 * (k == 8), lambda z, k: 5.0)
    assert outcomes(dips, ("tbr-fig3-tbr_minimum",)) == {"tbr-fig3-tbr_minimum": "holds"}


def test_claims_about_the_number_of_latents_fail_where_it_does_not_matter_or_errors_go_on_falling():
    found = outcomes(latent_rows(lambda z, k: 1.0, lambda z, k: 5.0 + 0.1 * abs(k - z)), ("tbr-fig3",))
    assert found == {
        "tbr-fig3-tbr_minimum": "fails",
        "tbr-fig3-baseline_minimum": "fails",
        "tbr-fig3-elevated_below": "fails",
        "tbr-fig3-plateau": "fails",
    }
    falling = latent_rows(lambda z, k: 10.0 - k, lambda z, k: 5.0)
    assert outcomes(falling, ("tbr-fig3-plateau",)) == {"tbr-fig3-plateau": "fails"}
    low_in_one = latent_rows(falls_to_the_true_number, lambda z, k: 5.0 if (z, k) != (7, 7) else 4.0)
    assert outcomes(low_in_one, ("tbr-fig3-baseline",)) == {"tbr-fig3-baseline_minimum": "fails"}


def test_claims_about_leaves_and_linear_data_hold_on_curves_like_figure_4_and_fail_where_they_should():
    both = ("tbr-fig6", "tbr-fig7")
    good = rows()
    assert set(outcomes(good, both, good).values()) == {"holds"}
    same = rows(mcc=MCC | {"baseline": [0.5, 0.49, 0.45, 0.4, 0.4, 0.4]})
    assert outcomes(same, ("tbr-fig6-entangled",)) == {"tbr-fig6-entangled_S0": "fails"}  # TBR alone is more entangled
    far = rows(mcc={"tbr": [0.5, 0.8, 0.9, 0.8, 0.7, 0.6], "baseline": [0.5, 0.9, 0.5, 0.5, 0.45, 0.4]})
    assert outcomes(far, both, good) == {
        "tbr-fig6-near_perfect_S1": "fails",
        "tbr-fig6-entangled_S0": "holds",
        "tbr-fig6-same_trends": "fails",
        "tbr-fig7-minimal_change": "fails",
        "tbr-fig7-beats_baseline": "fails",
    }


def test_claims_about_random_numbers_of_changes():
    sparse = pi_rows(lambda pi: 0.5 if pi == 0 else 1 - 0.4 * pi, lambda pi: 0.5)
    assert outcomes(sparse, ("tbr-fig8",)) == {"tbr-fig8-robust": "holds", "tbr-fig8-best_sparse": "holds"}
    dense = pi_rows(lambda pi: 0.5 + 0.3 * pi, lambda pi: 0.5 + 0.3 * pi)
    assert outcomes(dense, ("tbr-fig8",)) == {"tbr-fig8-robust": "undecided", "tbr-fig8-best_sparse": "fails"}


def test_cells_are_compared_with_the_simulation():
    claim = ("tbr-fig5a-below_simulation",)
    assert outcomes(cell_rows(), claim, rows()) == {claim[0]: "holds"}
    assert outcomes(cell_rows({"tbr": [1.0] * 3, "baseline": [0.5] * 3}), claim, rows()) == {claim[0]: "fails"}


def test_every_claim_of_the_paper_has_a_check_and_those_between_artefacts_are_given_both():
    assert {entry.id for entry in load_targets("tbr").statements} == set(CLAIMS)
    asked = []

    def rows_of(name):
        asked.append(name)
        return rows()

    results = {result.id: result.finding for result in artefact("tbr/fig7").check_claims(rows_of, "small")}
    assert asked == ["tbr/fig7", "tbr/fig6"]
    undecided = artefact("tbr/fig7").check_claims(rows_of, "smoke")
    assert {result.finding.outcome for result in undecided} == {"undecided"}
    assert all(result.finding.text.startswith("scale=smoke decides nothing; ") for result in undecided)
    assert results["tbr-fig7-minimal_change"].outcome == "holds"


def test_the_figures_of_the_appendix_have_a_curve_per_method():
    for name, frame, panels in (
        ("tbr/fig6", rows(), 2), ("tbr/fig7", rows(), 1), ("tbr/fig8", pi_rows(lambda pi: pi, lambda pi: 0.5), 1)
    ):  # fmt: skip
        figure = artefact(name).draw(frame, artefact(name).targets, "small")
        assert [len(axes.lines) for axes in figure.axes] == [2] * panels
        (legend,) = figure.legends
        assert len(legend.get_texts()) == 2  # nothing of the paper is printed
    pi = figure.axes[0].lines[0].get_xdata()
    np.testing.assert_allclose(pi, np.array(PROBABILITIES) - 0.01)
    described = latent_rows(falls_to_the_true_number, lambda z, k: 5.0)
    figure = artefact("tbr/fig3").draw(described, [], "small")
    assert len(figure.axes) == 8
    np.testing.assert_allclose(figure.axes[1].lines[-1].get_ydata()[4], 0.1 + 0.005)
    assert len(entries(artefact("tbr/fig3"), described, "small")) == 64
    assert not artefact("tbr/fig3").draw(rows_frame([]), [], "paper").axes[0].collections


def test_run_times_are_compared_per_data_set():
    frame = frame_of({((("domain", "treesimulation"), ("method", "tbr"), ("S", 1)), n): 40.0 + n for n in range(3)},
                     "seconds", "tbr/runtime")  # fmt: skip
    simulated, on_cells = entries(artefact("tbr/runtime"), frame, "small")
    assert (simulated.ours.centre, simulated.target.value) == (41.0, 42.98)
    assert (on_cells.ours, on_cells.target.value) == (None, 25.37)
    assert outcomes(frame, ("tbr-runtime",)) == {"tbr-runtime-sim_order": "holds"}
    slow = frame.assign(value=frame["value"] + 80)
    assert outcomes(slow, ("tbr-runtime",)) == {"tbr-runtime-sim_order": "fails"}


def test_claims_without_rows_are_undecided():
    for check in CLAIMS.values():
        empty = rows_frame([])
        finding = check.check(empty, empty) if isinstance(check, Comparison) else check(empty)
        assert (finding.outcome, finding.measured) == ("undecided", False)


def test_missing_values_of_s_leave_the_claims_over_all_of_them_undecided():
    found = outcomes(rows(changes=(0, 1, 3, 5)))
    assert found["tbr-fig4-robust"] == found["tbr-fig4-peak_S1"] == "undecided"
    assert found["tbr-fig4-mse_baseline_degrades"] == "holds"


def test_table_3_sums_up_seeds_and_its_pooled_row_seeds_and_environments():
    table = {
        (entry.keys["environment"], entry.keys["method"]): entry
        for entry in entries(artefact("tbr/table3"), rows(), "small")
    }
    assert len(table) == 22
    assert next(iter(table)) == (1, "tbr")
    assert list(table)[-1] == ("pooled", "baseline")
    single, pooled = table[3, "tbr"].ours, table["pooled", "tbr"].ours
    assert (single.n, pooled.n) == (3, 30)
    assert single.centre == pytest.approx(0.05 * 1.3 + 0.01)
    assert pooled.centre == pytest.approx(0.05 * 1.55 + 0.01)
    spread = np.std([0.05 * (1 + 0.1 * e) + 0.01 * s for e in range(1, 11) for s in range(3)])
    assert pooled.high - pooled.centre == pytest.approx(spread)
    assert table["pooled", "baseline"].target.value == 1.51


def test_figure_4_has_a_cell_for_every_number_of_the_paper():
    made = entries(artefact("tbr/fig4"), rows(), "small")
    assert len(made) == 24
    printed = {
        (cell.keys["method"], cell.keys["S"]): cell.target.value for cell in made if cell.target.value is not None
    }
    assert printed == {("tbr", 0): 0.52, ("tbr", 1): 0.98, ("baseline", 0): 0.44}


def test_the_figure_shows_both_methods_and_the_printed_points():
    targets = artefact("tbr/fig4").targets
    figure = artefact("tbr/fig4").draw(rows(), targets, "small")
    mcc, mse = figure.axes
    curves = [line.get_ydata() for line in mcc.lines]
    np.testing.assert_allclose(curves[0], np.array(MCC["tbr"]) - 0.002)
    assert len(mse.lines) == 2
    empty = artefact("tbr/fig4").draw(rows_frame([]), targets, "paper")
    assert not empty.axes[0].lines


@pytest.mark.parametrize("name", ["fig3", "fig4", "fig5a", "fig5b", "fig6", "fig7", "fig8"])
@pytest.mark.parametrize("scale", ["small", "paper"])
def test_legends_and_titles_have_room(name, scale):
    entry = artefact(f"tbr/{name}")
    figure = entry.draw(rows_frame([]), entry.targets, scale)
    figure.draw_without_rendering()
    written = [axes.title for axes in figure.axes]
    written += [axis.label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    shown = [*figure.legends, *(text for text in written if text.get_text())]
    for box in (artist.get_window_extent() for artist in shown):
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1


def test_a_run_draws_its_correlations_and_deltas():
    permutation = np.array([[1, 0, 2], [0, 2, 1]])
    correlation = np.stack([np.eye(3)[order] for order in permutation])
    arrays = {"correlation": correlation, "permutation": permutation, "deltas": np.ones((2, 6, 3))}
    drawn = run_figures("tbr", rows(), arrays, "small")
    assert set(drawn) == {"correlations", "deltas"}
    assert [axes.get_title() for axes in drawn["correlations"].axes] == ["seed 0, MCC 1.000", "seed 1, MCC 1.000"]
    assert run_figures("tbr", rows_frame([]), {}, "small") == {}
    diverged = {"deltas": np.full((1, 6, 3), np.nan)}
    assert set(run_figures("tbr", rows(), diverged, "small")) == {"deltas"}


def test_the_table_reads_the_runs_of_the_figure_at_s_1():
    for scale in ("smoke", "small", "paper"):
        assert preset_runs("tbr/table3", scale) < preset_runs("tbr/fig4", scale)
    assert {seed for _, seed in preset_runs("tbr/fig4", "paper")} == set(range(10))
    assert len(preset_runs("tbr/fig4", "paper")) == 120


def test_the_tables_statistics_are_those_of_the_paper():
    aggregation = load_targets("tbr").aggregation_of("tbr/table3")
    assert (aggregation.interval, aggregation.keys) == ("population_sd", ("of_environment",))
    assert load_targets("tbr").aggregation.keys == ()
