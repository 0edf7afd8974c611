"""RegCL's artefacts: claims and figures on rows like those of its runs."""

import numpy as np
import pytest

from sparseid.papers.regcl import figures
from sparseid.papers.regcl.claims import ATTRIBUTIONS, CELLS, CLAIMS, LATENTS, REGCL, cell, lead_over_supervised
from sparseid.papers.targets import load_targets
from sparseid.reporting.collect import newest, rows_frame
from sparseid.training.rows import Row

BASE = {"run": "r", "paper": "regcl", "scale": "small", "unit": "", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"recipe": "0" * 8, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
PRINTED = {
    (target.keys["attribution"], target.keys["training"], target.keys["regularisation"]): target.value
    for target in load_targets("regcl").of("regcl/table1")
}
UNOBSERVED = {
    (target.keys["attribution"], "hybrid_contrastive", target.keys["regularisation"]): target.value
    for target in load_targets("regcl").of("regcl/table2")
}


def rows(values, seeds=3, latents=LATENTS, of_latents=lambda name, d: 0.0):
    """Rows whose means are `values`, each data set and number of latents a little different."""
    made = []
    for name, centre in values.items():
        for place, d in enumerate(latents):
            for seed in range(seeds):
                keys = dict(zip(("attribution", "training", "regularisation"), name, strict=True)) | {"dim": d}
                wobble = 0.1 * (seed - (seeds - 1) / 2) + 0.1 * (place - (len(latents) - 1) / 2)
                value = centre + wobble + of_latents(name, d)
                made.append(Row(keys=keys, seed=seed, metric="auc", value=value, **BASE))
    return newest(rows_frame(made))


def outcomes(frame, artefact):
    return {name: check(frame).outcome for name, check in CLAIMS.items() if name.startswith(f"regcl-{artefact}-")}


def test_claims_of_table_1_hold_on_the_papers_numbers():
    assert len(PRINTED) == 36
    found = outcomes(rows(PRINTED), "table1")
    assert set(found.values()) == {"holds"}
    assert len(found) == 7
    (stated,) = [check(rows(PRINTED)) for name, check in CLAIMS.items() if name == "regcl-table1-headline"]
    assert "RegCL 98.2" in stated.text
    assert "93.0" in stated.text
    assert "18 runs" in stated.text


def test_claims_of_table_2_hold_on_the_papers_numbers():
    assert set(outcomes(rows(UNOBSERVED), "table2").values()) == {"holds"}


def test_claims_fail_where_regularisation_lowers_every_cell_but_one():
    lowered = {name: 90.0 - 8 * (name[2] == "regularised") for name in CELLS} | {REGCL: 92.0}
    found = outcomes(rows(lowered), "table1")
    assert found["regcl-table1-headline"] == "holds"
    assert found["regcl-table1-regularisation-helps"] == "fails"
    assert found["regcl-table1-best-other"] == "fails"
    assert found["regcl-table1-inverse-gains-from-lambda"] == "holds"
    assert found["regcl-table1-hybrid-inverse-over-gradient"] == "holds"
    text = CLAIMS["regcl-table1-regularisation-helps"](rows(lowered)).text
    assert text.startswith("holds in 1 of 18 cells")


def test_a_cell_inside_the_interval_of_the_next_is_no_headline():
    close = dict.fromkeys(CELLS, 80.0) | {REGCL: 90.0, ("jf_plus", "supervised", "none"): 89.9}
    assert outcomes(rows(close), "table1")["regcl-table1-headline"] == "fails"


@pytest.mark.parametrize("latents", [LATENTS, [4]])
def test_a_missing_cell_or_a_single_run_decides_nothing(latents):
    partial = {name: value for name, value in PRINTED.items() if name[1] != "supervised"}
    found = outcomes(rows(partial, latents=latents), "table1")
    assert found["regcl-table1-headline"] == found["regcl-table1-best-other"] == "undecided"
    assert set(outcomes(rows(PRINTED, seeds=1, latents=[4]), "table1").values()) == {"undecided"}
    for check in CLAIMS.values():
        finding = check(rows_frame([]))
        assert (finding.outcome, finding.measured) == ("undecided", False)


def test_figure_2_compares_the_lead_at_few_and_many_latents():
    falling = rows(PRINTED, of_latents=lambda name, d: 0.0 if name == REGCL else -2.0 * (d - 4))
    assert outcomes(falling, "fig2") == {"regcl-fig2-regcl-stays-high": "holds", "regcl-fig2-baselines-fall": "holds"}
    lead = lead_over_supervised(falling, 9)
    np.testing.assert_allclose(lead, 98.2 - 93.0 + 10)
    assert list(lead.index) == [0, 1, 2]
    rising = rows(PRINTED, of_latents=lambda name, d: -4.0 * (d - 4) if name == REGCL else 0.0)
    assert outcomes(rising, "fig2") == {"regcl-fig2-regcl-stays-high": "fails", "regcl-fig2-baselines-fall": "fails"}


def test_a_cell_pools_seeds_and_numbers_of_latents():
    values = cell(rows(PRINTED, seeds=2), *REGCL)
    assert len(values) == 12
    assert set(values.index) == {(seed, d) for seed in range(2) for d in LATENTS}


def test_figure_2_has_a_curve_per_method():
    figure = figures.auc_against_latents(rows(PRINTED), [], "small")
    assert [len(axes.lines) for axes in figure.axes] == [len(ATTRIBUTIONS) + 2] * 2  # with RegCL and the line of chance
    regcl = [line for line in figure.axes[0].lines if line.get_color() == "black"]
    np.testing.assert_allclose(regcl[0].get_ydata().mean(), 98.2)
    assert len(figures.auc_against_latents(rows_frame([]), [], "paper").axes[0].lines) == 1


def test_a_run_draws_its_maps_below_the_truth():
    truth = np.zeros((2, 2, 6), bool)
    truth[:, :, 3:] = True
    arrays = {"truth": truth, "map_jf_plus": np.ones((2, 2, 6)), "map_feature_ablation": np.full((2, 2, 6), np.nan)}
    frame = rows(PRINTED, seeds=2)
    (figure,) = figures.run_figures(frame, arrays, [], "small").values()
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:2]] == ["seed 0", "seed 1"]
    assert figures.run_figures(frame, {"truth": truth}, [], "small") == {}
