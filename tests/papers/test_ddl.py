"""Diverse Dictionary Learning's artefacts: claims, tables and figures on rows like those of its runs."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest

from sparseid.data.mlp_mixture.masks import circulant
from sparseid.masks import as_mask
from sparseid.papers.claims import Comparison, claims_in
from sparseid.papers.ddl import claims, figures, flow, image_claims, sae_claims, theory
from sparseid.papers.ddl.claims import ALPHA, ALPHAS, DIMS, SCORES
from sparseid.papers.registry import artefact, run_figures, run_summary
from sparseid.papers.rows import key, newest, rows_frame
from sparseid.papers.targets import load_targets
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

CLAIMS, THEORY = claims_in(claims, flow, image_claims, sae_claims), claims_in(theory)

BASE = {"run": "r", "paper": "ddl", "scale": "paper", "unit": "", "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00", "recipe": "x", "n": 9}
PLAIN = {"method": "ours", "alpha": ALPHA, "structure": "diverse", "mask": "circulant2", "noise": 0.0, "rho": 0.0}
SEEDS = range(3)


def frame(values):
    """Rows of (keys, metric, value) for three seeds, a little different."""
    made = [
        Row(keys=PLAIN | keys, seed=seed, metric=metric, value=value + 0.001 * seed, **BASE)
        for keys, metric, value in values
        for seed in SEEDS
    ]
    return newest(rows_frame(made))


def printed(table):
    """Return the numbers that the paper prints of a table, as (keys, value)."""
    return [(dict(target.keys), target.value) for target in load_targets("ddl").of(f"ddl/{table}")]


def table4():
    return frame([(keys, "mcc", value) for keys, value in printed("table4")])


COLUMNS = {"ours_no_noise": {}, "ours_noise": {"noise": 0.1}, "base": {"structure": "dense", "mask": "dense"}}


def table5(**instead):
    return frame(
        [
            ({"dim": keys["dim"], **COLUMNS[keys["method"]]}, "mcc", instead.get(keys["method"], value))
            for keys, value in printed("table5")
        ]
    )


def table6():
    return frame([({**keys, "alpha": float(keys["alpha"])}, "mcc", value) for keys, value in printed("table6")])


def images(table, scale="paper", **instead):
    """Rows of a table of images whose three seeds have the printed mean and standard deviation, or another mean."""
    base = BASE | {"scale": scale}
    made = []
    for target in load_targets("ddl").of(f"ddl/{table}"):
        keys = {"backbone": "factorvae", "image_size": 64, **target.keys}
        keys["image_size"] //= 1 if scale == "paper" else 2
        low, high = target.interval
        parts = ("backbone", "regulariser", "image_size") if table == "table1" else ("regulariser", "image_size")
        name = "_".join(str(target.keys[key]) for key in parts if key in target.keys)
        mean = instead.get(name, target.value)
        values = {0: mean + (low - high) / 2, 1: mean, 2: mean + (high - low) / 2}
        made += [Row(keys=keys, seed=seed, metric=target.metric, value=v, **base) for seed, v in values.items()]
    return newest(rows_frame(made))


def swaps(factors=("floor_hue", "wall_hue"), **instead):
    """Rows of EncDiff's swaps and traversals, with another mean of a metric, or of a metric of a factor."""
    means = {"transfer": 0.9, "leak": 0.1, "selectivity": 0.9}
    of_encdiff = {"backbone": "encdiff", "regulariser": "dependency"}
    return frame(
        [
            ({**of_encdiff, "factor": factor}, metric, instead.get(f"{metric}_{factor}", instead.get(metric, mean)))
            for factor, (metric, mean) in itertools.product(factors, means.items())
        ]
    )


def figure4(ref=0.95, int_with=0.2, int_without=0.5):
    made = []
    for dim, alpha in itertools.product(DIMS, (0.0, ALPHA)):
        r2 = {**dict.fromkeys(SCORES, 0.05), "int": int_with if alpha else int_without, "ref": ref}
        made += [({"dim": dim, "alpha": alpha, "score": score, "mask": "groups"}, "r2", v) for score, v in r2.items()]
    return frame(made)


def table3(cost=2.0, **instead):
    rows = [(keys, "dead_features", instead.get(keys["method"], value)) for keys, value in printed("table3")]
    rows += [({**rows[0][0], "part": part}, "dead_features", 1.0) for part in ("input", "output")]  # no entries
    times = [
        ({**rows[0][0], "method": kind}, "seconds", value) for kind, value in (("topk", 60.0), ("jsae", 60.0 * cost))
    ]
    return frame([*rows, *times])


def figure5(dense=0.5):
    structures = {"circulant2": ("diverse", 0.9), "lower_triangular": ("diverse", 0.7), "dense": ("dense", dense)}
    return frame(
        [
            ({"dim": dim, "mask": mask, "structure": structure}, "mcc", value)
            for dim, (mask, (structure, value)) in itertools.product(DIMS, structures.items())
        ]
    )


def flows(log_det=1e-8, inverse=1e-6):
    values = {"log_abs_det_max": log_det, "inverse_error": inverse, "moved_share": 0.1}
    base = BASE | {"scale": "small"}
    return newest(
        rows_frame(
            [
                Row(keys={"model": "flow", "regulariser": name}, seed=seed, metric=metric, value=value, **base)
                for name, (metric, value), seed in itertools.product(flow.REGULARISERS, values.items(), SEEDS)
            ]
        )
    )


def outcomes(table, rows):
    own = {name: check for name, check in CLAIMS.items() if name.startswith(f"ddl-{table}-")}
    return {name: check(rows).outcome for name, check in own.items() if not isinstance(check, Comparison)}


TABLES = [
    ("table3", table3, 2),
    ("table4", table4, 3),
    ("table5", table5, 2),
    ("table6", table6, 3),
    ("table7", partial(images, "table7"), 2),
    ("table7", partial(images, "table7", "small"), 2),
    ("table8", partial(images, "table8"), 1),
    ("table1", partial(images, "table1"), 4),
]


@pytest.mark.parametrize(("table", "rows", "count"), TABLES)
def test_the_claims_hold_on_the_papers_numbers(table, rows, count):
    found = outcomes(table, rows())
    assert len(found) == count
    assert set(found.values()) == {"holds"}


def test_claims_of_images_fail_where_one_entry_contradicts_them():
    best, resolution = "ddl-table7-dependency-best", "ddl-table7-resolution"
    assert outcomes("table7", images("table7", latent_64=0.75)) == {best: "fails", resolution: "holds"}
    assert outcomes("table7", images("table7", dependency_128=0.5)) == {best: "holds", resolution: "fails"}
    assert outcomes("table8", images("table8", orojar=0.5)) == {"ddl-table8-dependency-best": "fails"}


def test_the_claim_about_the_flow_fails_unless_it_is_a_flow_and_is_otherwise_for_the_eye():
    claim = "ddl-fig8-traversal-flow"
    assert outcomes("fig8", flows()) == {claim: "undecided"}
    assert "for the eye; preconditions: " in CLAIMS[claim](flows()).text
    assert outcomes("fig8", flows(log_det=1e-3)) == {claim: "fails"}
    assert outcomes("fig8", flows(inverse=1e-3)) == {claim: "fails"}


def test_figure_8_has_a_panel_for_each_penalty_with_arrays():
    arrays = {
        "flow_images": np.random.default_rng(0).random((4, 9, 28, 28)),
        "flow_changes": np.random.default_rng(1).random((4, 28, 28)),
        "flow_deviations": np.array([2.0, 1.0, 0.5, 0.25]),
    }
    drawn = flow.traversals_by_penalty(flows(), lambda run: arrays, "small")
    assert [axes.get_title() for axes in drawn.axes[::2]] == [
        "none, 0.10 of pixels moved",
        "latent, 0.10 of pixels moved",
        "dependency, 0.10 of pixels moved",
    ]
    assert [text.get_text() for text in drawn.axes[0].get_yticklabels()] == ["2", "1", "0.5", "0.25"]
    assert drawn.axes[0].get_images()[0].get_array().shape == (4 * 28, 9 * 28)
    assert flow.traversals_by_penalty(flows(), lambda run: {}, "small") is None
    assert list(run_figures("ddl", flows(), arrays, "small")) == ["traversals"]


def test_claims_of_table_1_count_cells():
    helps, beats, best, collapse = (
        f"ddl-table1-{name}"
        for name in ("dependency-helps-most", "dependency-beats-latent", "factorvae-all-cells", "latent-can-collapse")
    )
    rows = images("table1", encdiff_dependency=0.1)  # 6 of 18
    assert outcomes("table1", rows) == {helps: "holds", beats: "holds", best: "holds", collapse: "holds"}
    rows = images("table1", encdiff_dependency=0.1, disco_dependency=0.1)
    assert outcomes("table1", rows) == {helps: "fails", beats: "fails", best: "holds", collapse: "holds"}
    rows = images("table1", factorvae_latent=0.9)
    assert outcomes("table1", rows)[best] == outcomes("table1", rows)[collapse] == "fails"
    without = images("table1")
    without = without[key(without, "backbone") != "disco"]
    assert outcomes("table1", without) == {helps: "holds", beats: "holds", best: "holds", collapse: "holds"}
    few = without[key(without, "backbone") != "encdiff"]
    found = CLAIMS[helps](few)
    assert found.outcome == "undecided"
    assert found.text == "holds in 6 of 18 cases, 10 are needed; 12 undecided or not measured"


def test_claims_of_swaps_need_transfer_without_leak():
    claim = {"fig9": ("floor_hue", "wall_hue"), "fig10": ("azimuth", "object_type")}
    for name, factors in claim.items():
        assert outcomes(name, swaps(factors)) == {f"ddl-{name}-swap": "holds"}
        assert outcomes(name, swaps(factors, transfer=0.7)) == {f"ddl-{name}-swap": "fails"}
        assert outcomes(name, swaps(factors, **{f"leak_{factors[1]}": 0.3})) == {f"ddl-{name}-swap": "fails"}
    axes = ("horizontal_axis", "vertical_axis", "background_colour")
    assert outcomes("fig11", swaps(axes, transfer_vertical_axis=0.1)) == {"ddl-fig11-swap": "holds"}
    assert outcomes("fig11", swaps(axes, transfer_background_colour=0.1)) == {"ddl-fig11-swap": "fails"}
    # the better axis is the one whose leak counts
    both = swaps(axes, transfer_vertical_axis=0.95, leak_vertical_axis=0.5)
    assert outcomes("fig11", both) == {"ddl-fig11-swap": "fails"}


def test_the_claim_of_traversals_reads_the_runs_on_shapes3d():
    check = CLAIMS["ddl-fig8-traversal-encdiff"]
    assert check.other == "ddl/fig8_shapes3d"
    factors = ("orientation", "wall_hue", "shape", "object_hue")
    assert check.check(frame([]), swaps(factors)).outcome == "holds"
    assert check.check(frame([]), swaps(factors, selectivity_shape=0.5)).outcome == "fails"
    assert check.check(frame([]), frame([])).outcome == "undecided"


def test_claims_of_sparse_autoencoders_fail_where_one_number_contradicts_them():
    order, cost = "ddl-table3-dead-order", "ddl-table3-cost"
    assert outcomes("table3", table3(batchtopk=30)) == {order: "fails", cost: "holds"}
    assert outcomes("table3", table3(jsae=207)) == {order: "fails", cost: "holds"}
    assert outcomes("table3", table3(cost=2.6)) == {order: "holds", cost: "fails"}


def test_claims_of_tables_fail_where_columns_are_swapped():
    def swapped(rows, **by):
        name, (one, other) = next(iter(by.items()))
        swap = {one: other, other: one}
        return rows.assign(**{f"key_{name}": key(rows, name).map(lambda value: swap.get(value, value)).astype(object)})

    assert set(outcomes("table4", swapped(table4(), method=("ours", "orojar"))).values()) == {"fails"}
    assert set(outcomes("table5", table5(ours_noise=0.7, base=0.65)).values()) == {"fails"}
    assert set(outcomes("table6", swapped(table6(), alpha=(0.0, ALPHA))).values()) == {"fails"}


def test_claims_of_the_figures_need_their_margins():
    assert set(outcomes("fig4", figure4()).values()) == {"holds"}
    assert outcomes("fig4", figure4(int_with=0.48, int_without=0.4)) == {
        "ddl-fig4-below-ref": "fails",
        "ddl-fig4-regulariser-helps": "fails",
    }
    assert outcomes("fig5", figure5()) == {"ddl-fig5-only-diverse-identified": "holds"}
    assert outcomes("fig5", figure5(dense=0.75)) == {"ddl-fig5-only-diverse-identified": "fails"}  # the mean is 0.8


def test_claims_of_the_theory_read_their_cells():
    keys = {"dim": 3, "m": 6}
    groups = {**keys, "mask": "groups", "groups": "12-23"}
    rows = frame(
        [
            (keys, "structure_f1", 0.95),
            ({**keys, "m": 3}, "structure_f1", 0.1),
            (groups, "mcc", 0.9),
            ({**groups, "rho": 0.8}, "mcc", 0.6),
        ]
    )
    assert outcomes("theory", rows) == {"ddl-theory-structure": "holds", "ddl-theory-dependence-breaks": "holds"}


def test_without_rows_nothing_is_decided():
    for name, check in CLAIMS.items():
        if isinstance(check, Comparison):
            continue
        assert (check(frame([])).outcome, check(frame([])).measured) == ("undecided", False), name


@pytest.mark.parametrize("name", THEORY)
def test_what_the_theory_says_of_masks_is_computed_and_holds(name):
    found = THEORY[name](frame([]))
    assert found.outcome == "holds"
    assert found.measured


def test_sufficient_diversity_by_its_definition():
    assert theory.by_definition(circulant(4, 2))
    assert theory.by_definition(as_mask(np.tril(np.ones((4, 4), int))))
    assert not theory.by_definition(np.ones((3, 3), dtype=bool))
    assert theory.by_definition(as_mask([[1]]))


def test_table_5_has_the_papers_columns_and_table_6_its_cells():
    synthetic = ("ddl/table5", table5(), 9), ("ddl/table6", table6(), 18), ("ddl/table4", table4(), 9)
    of_images = (
        ("ddl/table7", images("table7"), 8),
        ("ddl/table8", images("table8"), 20),
        ("ddl/table1", images("table1"), 54),
    )
    for name, rows, count in (*synthetic, *of_images, ("ddl/table3", table3(), 3)):
        made = [cell for cell in entries(artefact(name), rows, "paper") if cell.ours and cell.metric != "seconds"]
        assert len(made) == count
        assert all(cell.verdict.word == "agrees" for cell in made), name


def test_figures_show_a_point_per_cell():
    shown = {
        "ddl/fig4": (figure4(), 3 * 2 * 5),
        "ddl/fig5": (figure5(), 3 * 3),
        "ddl/table6": (table6(), 3 * len(ALPHAS)),
    }
    for name, (rows, count) in shown.items():
        figure = artefact(name).figure(rows, lambda run: {}, "paper")
        bars = [bar for axes in figure.axes for bar in axes.containers]
        assert sum(len(centres.get_xdata()) for centres, *_ in bars) == count, name
        assert artefact(name).figure(frame([]), lambda run: {}, "paper") is None or artefact(name).targets


def test_a_run_draws_structures_in_the_true_order_and_its_latents():
    mask = circulant(3, 2).astype(float)
    order = [2, 0, 1]
    codes = np.random.default_rng(0).normal(size=(50, 3))
    arrays = {
        "mask": np.stack([mask, mask]),
        "dependence": np.stack([mask[:, np.argsort(order)]] * 2),
        "transition": np.zeros((2, 3, 3)),
        "matched": np.array([order, order]),
        "codes": codes,
        "factors": codes[:, order],
    }
    rows = frame([({"dim": 3}, "mcc", 0.9)])
    figures = run_figures("ddl", rows, arrays, "small")
    assert set(figures) == {"structure", "latents"}
    true, learned = (figures["structure"].axes[place].images[0].get_array() for place in (0, 2))
    np.testing.assert_array_equal(true, learned)
    points = figures["latents"].axes[0].collections[0].get_offsets()
    np.testing.assert_array_equal(points[:, 0], points[:, 1])
    assert run_figures("ddl", rows, {}, "small") == {}
    assert run_summary("ddl", rows).id == "ddl/run"
    assert run_summary("ddl", images("table8")).id == "ddl/run_on_images"


def test_a_run_on_images_draws_a_line_of_images_per_latent():
    shades = np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5, 1, 1, 1) + np.zeros((4, 4, 3), np.uint8)
    arrays = {
        "examples": np.full((2, 4, 4, 3), 100, np.uint8),
        "reconstructions": np.full((2, 4, 4, 3), 101, np.uint8),
        "traversals": shades,
        "traversal_values": np.linspace(-2, 2, 5),
        "active": np.array([True, False, True]),
    }
    drawn = figures.run_figures(frame([]), arrays, "small")["traversals"]
    first, second = drawn.axes
    sheet = second.images[0].get_array()
    assert sheet.shape == (3 * 4, 4 + 2 + 5 * 4, 3)
    np.testing.assert_array_equal(sheet[::4, 6::4, 0], shades[1, :, :, 0, 0, 0])
    assert (sheet[0, 0, 0], sheet[4, 0, 0], sheet[8, 0, 0]) == (100, 101, 255)
    assert [text.get_text() for text in first.get_yticklabels()] == ["z1", "z2\ninactive", "z3"]
    del arrays["reconstructions"]  # a generator's directions
    first = figures.run_figures(frame([]), arrays, "small")["traversals"].axes[0]
    assert [text.get_text() for text in first.get_yticklabels()] == ["z1", "z2", "z3"]
    assert first.images[0].get_array()[4, 0, 0] == 255


def pictured(units=3, images=4, side=4):
    """Arrays of a run of EncDiff, each image of one shade."""
    shade = np.arange(units * images, dtype=np.uint8).reshape(units, images, 1, 1, 1)
    return {
        "swap_examples": np.full((images, side, side, 3), 100, np.uint8),
        "swap_decoded": np.full((images, side, side, 3), 101, np.uint8),
        "swaps": shade + np.zeros((side, side, 3), np.uint8),
        "examples": np.full((2, side, side, 3), 100, np.uint8),
        "reconstructions": np.full((2, side, side, 3), 101, np.uint8),
        "traversals": np.zeros((2, units, 5, side, side, 3), np.uint8),
        "traversal_values": np.linspace(-2, 2, 5),
        "active": np.array([True, False, True]),
        "chosen": np.array([2, 0, 2]),
        "factor_names": np.array(["floor_hue", "shape", "scale"]),
    }


def test_a_figure_of_swaps_shows_a_line_per_unit_with_and_without_the_penalty():
    rows = pd.concat([swaps(), swaps().assign(key_regulariser="none", run="plain")], ignore_index=True)
    arrays = {"r": pictured(), "plain": pictured() | {"swap_examples": np.full((4, 4, 4, 3), 50, np.uint8)}}
    figure = artefact("ddl/fig9").figure(rows, arrays.get, "small")
    plain, penalised = figure.axes
    assert (plain.get_title(), penalised.get_title()) == ("none", "dependency")
    sheet = penalised.images[0].get_array()
    assert sheet.shape == ((3 + 2) * 4 + 2, 4 * 4, 3)
    assert (plain.images[0].get_array()[0, 0, 0], sheet[0, 0, 0], sheet[4, 0, 0]) == (50, 100, 101)
    np.testing.assert_array_equal(sheet[10::4, ::4, 0], np.arange(12).reshape(3, 4))
    names = [text.get_text() for text in penalised.get_yticklabels()]
    assert names == ["image", "decoded", "z1\nshape", "z2\ninactive", "z3\nfloor hue, scale"]
    assert artefact("ddl/fig9").figure(rows, lambda run: {}, "small") is None
    only = {"r": pictured(), "plain": {}}
    assert len(artefact("ddl/fig9").figure(rows, only.get, "small").axes) == 1


def test_figure_8_shows_traversals_with_the_names_of_factors():
    figure = artefact("ddl/fig8_shapes3d").figure(swaps(), {"r": pictured()}.get, "small")
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["z1\nshape", "z2\ninactive", "z3\nfloor hue, scale"]


def test_a_run_of_encdiff_draws_swaps_and_one_of_its_autoencoder_reconstructions():
    assert set(run_figures("ddl", swaps(), pictured(), "small")) == {"traversals", "swaps"}
    arrays = {name: pictured()[name] for name in ("examples", "reconstructions")}
    (figure,) = run_figures("ddl", swaps(), arrays, "small").values()
    assert figure.axes[0].images[0].get_array().shape == (8, 8, 3)
    assert run_summary("ddl", swaps()).id == "ddl/run_on_images"
