"""RegCL's artefacts: claims and figures on rows like those of its runs."""

import numpy as np
import pytest

from sparseid.papers.claims import claims_in
from sparseid.papers.regcl import claims, figures, statistics
from sparseid.papers.regcl.claims import ATTRIBUTIONS, ENTRIES, LATENTS, REGCL, auc, lead_over_supervised
from sparseid.papers.regcl.statistics import anova_rows, tukey_rows
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import key, keys_of, newest, rows_frame
from sparseid.papers.targets import load_targets
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

CLAIMS, STATISTICS = claims_in(claims), claims_in(statistics)

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
    lowered = {name: 90.0 - 8 * (name[2] == "regularised") for name in ENTRIES} | {REGCL: 92.0}
    found = outcomes(rows(lowered), "table1")
    assert found["regcl-table1-headline"] == "holds"
    assert found["regcl-table1-regularisation-helps"] == "fails"
    assert found["regcl-table1-best-other"] == "fails"
    assert found["regcl-table1-inverse-gains-from-lambda"] == "holds"
    assert found["regcl-table1-hybrid-inverse-over-gradient"] == "holds"
    text = CLAIMS["regcl-table1-regularisation-helps"](rows(lowered)).text
    assert text.startswith("holds in 1 of 18 cases")


def test_a_cell_inside_the_interval_of_the_next_is_no_headline():
    close = dict.fromkeys(ENTRIES, 80.0) | {REGCL: 90.0, ("jf_plus", "supervised", "none"): 89.9}
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
    # the gap grows, but one of the baselines does not fall
    steady = rows(PRINTED, of_latents=lambda name, d: -2.0 * (d - 4) * (name[1:] == ("supervised", "regularised")))
    finding = CLAIMS["regcl-fig2-baselines-fall"](steady)
    assert finding.outcome == "fails"
    assert "gap grows holds" in finding.text


def spread(values, seeds=10, noise=5.0):
    """Rows with a spread over data sets, as tests need it."""
    made, rng = [], np.random.default_rng(0)
    for name, centre in values.items():
        for d in LATENTS:
            for seed in range(seeds):
                keys = dict(zip(("attribution", "training", "regularisation"), name, strict=True)) | {"dim": d}
                value = centre + noise * rng.standard_normal()
                made.append(Row(keys=keys, seed=seed, metric="auc", value=value, **BASE))
    return newest(rows_frame(made))


def test_table_3_has_the_degrees_of_freedom_of_a_complete_design_and_the_terms_of_the_paper():
    table = anova_rows(spread(PRINTED))
    df = {
        keys["term"]: value
        for keys, value in zip(keys_of(table), table["value"], strict=True)
        if keys["statistic"] == "df"
    }
    printed = {t.keys["term"]: t.value for t in load_targets("regcl").of("regcl/table3") if t.metric == "df"}
    assert df.keys() == printed.keys()
    assert df == pytest.approx(printed | {"residual": 1944})
    assert set(table["seed"]) == {-1}
    assert set(table["n"]) == {2160}
    overall = {keys["statistic"] for keys in keys_of(table) if keys["term"] == "overall"}
    assert overall == {"F", "p"}


def test_claims_of_table_3_on_the_papers_means():
    found = {name: check(spread(PRINTED)) for name, check in STATISTICS.items() if "table3" in name}
    assert found["regcl-table3-extension-dominates"].outcome == "holds"
    complete = found["regcl-table3-runs-missing"]
    assert (complete.outcome, complete.statistic) == ("fails", 2160)  # nothing is missing
    missing = STATISTICS["regcl-table3-runs-missing"](spread(PRINTED).iloc[42:])
    assert (missing.outcome, missing.statistic) == ("holds", 2118)
    significant = found["regcl-table3-significant-terms"]
    assert significant.outcome == "fails"  # means that do not depend on the number of latents
    assert significant.text.endswith("otherwise: D, D:E")
    assert found["regcl-table3-other-terms"].outcome == "fails"  # A:M:E, without the paper's spread


def test_differences_of_tables_4_and_5_are_the_printed_ones_in_the_printed_order():
    frame = spread(PRINTED, noise=0.1)
    for factors, artefact in ((statistics.TABLE4, "regcl/table4"), (statistics.TABLE5, "regcl/table5")):
        table = tukey_rows(frame, factors, artefact)
        ours = {
            (keys["group1"], keys["group2"]): value
            for keys, value in zip(keys_of(table), table["value"], strict=True)
            if keys["statistic"] == "meandiff"
        }
        assert len(ours) == {"regcl/table4": 153, "regcl/table5": 66}[artefact]
        printed = [target for target in load_targets("regcl").of(artefact) if target.metric == "meandiff"]
        for target in printed:
            assert ours[target.keys["group1"], target.keys["group2"]] == pytest.approx(target.value, abs=0.4)
        shown = {(target.keys["group1"], target.keys["group2"]) for target in printed}
        assert all(value >= 0 for pair, value in ours.items() if pair not in shown)


def test_claims_of_tables_4_and_5_hold_on_the_papers_means_and_fail_on_others():
    names = {"regcl-table4-inverse-hybrid-best", "regcl-table5-inverse-regularised-best"}
    assert {name: STATISTICS[name](spread(PRINTED)).outcome for name in names} == dict.fromkeys(names, "holds")
    above = {
        "regcl-table4-inverse-hybrid-best": (3.6, REGCL[:2], slice(2)),
        "regcl-table5-inverse-regularised-best": (3.1, REGCL[::2], slice(None, None, 2)),
    }
    for name, (lead, group, part) in above.items():  # significant in the table, but not at the level of the text
        finding = STATISTICS[name](spread({entry: 80.0 + lead * (entry[part] == group) for entry in ENTRIES}))
        assert finding.outcome == "fails"
        assert 0.01 < finding.p < 0.05
    alike = spread(dict.fromkeys(ENTRIES, 80.0))
    assert {name: STATISTICS[name](alike).outcome for name in names} == dict.fromkeys(names, "fails")
    count = STATISTICS["regcl-table4-number-of-rejections"](alike)
    assert (count.outcome, count.text) == ("fails", "0 of 153 pairs are significant")


def test_tests_without_enough_rows_are_not_made():
    for frame in (rows_frame([]), rows({REGCL: 98.0}, seeds=1, latents=[4])):
        assert anova_rows(frame).empty
        assert tukey_rows(frame, statistics.TABLE4, "regcl/table4").empty
        for check in STATISTICS.values():
            assert (check(frame).outcome, check(frame).measured) == ("undecided", False)


def test_a_cell_pools_seeds_and_numbers_of_latents():
    values = auc(rows(PRINTED, seeds=2), *REGCL)
    assert len(values) == 12
    assert set(values.index) == {(seed, d) for seed in range(2) for d in LATENTS}


def test_figure_2_has_a_curve_per_method():
    figure = figures.auc_against_latents(rows(PRINTED), [], "small")
    assert [len(axes.lines) for axes in figure.axes] == [len(ATTRIBUTIONS) + 1] * 2  # with RegCL
    regcl = [line for line in figure.axes[0].lines if line.get_color() == "black"]
    np.testing.assert_allclose(regcl[0].get_ydata().mean(), 98.2)


def test_a_run_draws_its_maps_below_the_truth():
    truth = np.zeros((2, 2, 6), bool)
    truth[:, :, 3:] = True
    arrays = {"truth": truth, "map_jf_plus": np.ones((2, 2, 6)), "map_feature_ablation": np.full((2, 2, 6), np.nan)}
    frame = rows(PRINTED, seeds=2)
    (figure,) = figures.run_figures(frame, arrays, "small").values()
    assert len(figure.axes) == 6
    assert [axes.get_title() for axes in figure.axes[:2]] == ["seed 0", "seed 1"]
    assert figures.run_figures(frame, {"truth": truth}, "small") == {}
    del arrays["truth"]
    (figure,) = figures.run_figures(frame, arrays, "small").values()
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["feature ablation", "pseudo-inverse Jacobian"]


def entries_of_table_1(frame):
    return {
        tuple(entry.keys.get(name) for name in ("attribution", "training", "regularisation")): entry.verdict.word
        for entry in entries(ARTEFACTS["regcl/table1"], frame, "paper")
        if entry.metric == "auc" and entry.target is not None
    }


def test_entries_and_claims_over_some_numbers_of_latents_are_incomplete():
    whole = rows(PRINTED).assign(scale="paper")
    few = whole[(key(whole, "training") != "supervised") | (key(whole, "dim") == LATENTS[0])]
    assert set(entries_of_table_1(whole).values()) == {"agrees"}
    words = entries_of_table_1(few)
    assert {name[1] for name, word in words.items() if word == "incomplete"} == {"supervised"}
    assert {word for name, word in words.items() if name[1] != "supervised"} == {"agrees"}

    small = entries(ARTEFACTS["regcl/table1"], rows(PRINTED, latents=[4]), "small")
    assert "incomplete" not in {entry.verdict.word for entry in small}

    table1 = ARTEFACTS["regcl/table1"]
    decided = table1.check_claims(lambda _: whole, "paper")
    assert {result.finding.outcome for result in decided} == {"holds"}
    at_four = whole[key(whole, "dim") == 4]
    undecided = table1.check_claims(lambda _: at_four, "paper")
    assert {result.finding.outcome for result in undecided} == {"undecided"}
    assert (
        "incomplete, not measured: 5 latents, 6 latents, 7 latents, 8 latents, 9 latents; RegCL 98"
        in undecided[0].finding.text
    )
    assert "incomplete" not in table1.check_claims(lambda _: at_four, "small")[0].finding.text


def test_tests_on_the_runs_of_some_numbers_of_latents_are_incomplete():
    few = rows(PRINTED, latents=[4, 5]).assign(scale="paper")
    found = entries(ARTEFACTS["regcl/table4"], few, "paper")
    assert {entry.verdict.word for entry in found if entry.target is not None} == {"incomplete"}
