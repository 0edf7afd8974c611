import math

import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

from sparseid.papers import claims
from sparseid.papers.rows import rows_frame
from sparseid.papers.sparling import claims as sparling

CLAIMS = {
    name: check
    for name, check in claims.claims_in(sparling).items()
    if name.startswith(("sparling-fig3-", "sparling-fig4-"))
}


def seeds(*values):
    return pd.Series(values, index=range(len(values)), dtype=float)


def rising(points):
    return {point: seeds(point, point, point) for point in range(points)}


def test_one_domain_alone_leaves_a_claim_about_all_undecided_but_can_refute_it(sparling_rows):
    frame = rows_frame([row for seed in range(3) for row in sparling_rows(seed)])
    finding = CLAIMS["sparling-fig3-below10"](frame)
    assert finding.outcome == "undecided"
    assert "DigitCircle CE holds" in finding.text
    assert "not measured: LaTeX-OCR FPE" in finding.text
    high = frame.assign(value=frame["value"].where(frame["metric"] != "ce", 50.0))
    assert CLAIMS["sparling-fig3-below10"](high).outcome == "fails"


def test_claims_without_any_row_are_undecided(sparling_rows):
    for check in CLAIMS.values():
        finding = check(rows_frame([]))
        assert (finding.outcome, finding.measured) == ("undecided", False)


def test_one_seed_decides_nothing_but_says_how_it_stands():
    finding = claims.mean_below(seeds(3.0), 10, "FPE")
    assert finding.outcome == "undecided"
    assert "one seed, for the claim so far" in finding.text
    assert claims.mean_below(seeds(3.0, 5.0), 10, "FPE").outcome == "holds"
    assert claims.mean_above(seeds(3.0, 5.0), 10, "FPE").outcome == "fails"


def test_one_seed_decides_where_the_paper_ran_one():
    assert claims.mean_below(seeds(3.0), 10, "FPE", fewest=1).text == "FPE 3, below 10, 1 seed"
    assert claims.mean_above(seeds(3.0), 10, "FPE", fewest=1).outcome == "fails"
    assert claims.mean_not_below(seeds(3.0), seeds(2.0), "FPE", fewest=1).outcome == "holds"
    nothing = claims.mean_above(seeds(), 10, "FPE", fewest=1)
    assert (nothing.outcome, nothing.measured) == ("undecided", False)


def test_test_of_a_difference_is_paired_over_shared_seeds_and_one_sided():
    upper, lower = seeds(5.0, 6.1, 7.3), seeds(4.0, 5.3, 6.0)
    finding = claims.significantly_above(upper, lower, "E2EE")
    assert finding.p == pytest.approx(ttest_rel(upper, lower, alternative="greater").pvalue)
    assert finding.outcome == "holds"
    assert claims.significantly_above(lower, upper, "E2EE").outcome == "fails"
    elsewhere = pd.Series(lower.to_numpy(), index=[7, 8, 9])
    welch = claims.significantly_above(upper, elsewhere, "E2EE")
    assert welch.p == pytest.approx(ttest_ind(upper, lower, equal_var=False, alternative="greater").pvalue)
    assert welch.outcome == "undecided"  # larger on average, not significantly


def test_a_test_of_ranks_is_paired_over_shared_seeds_and_one_sided():
    upper, lower = seeds(50.0, 2.0, 3.0, 4.0, 5.0), seeds(1.0, 1.5, 2.0, 2.5, 3.0)
    finding = claims.significantly_above(upper, lower, "FPE", ranks=True)
    assert finding.p == pytest.approx(wilcoxon(upper, lower, alternative="greater").pvalue)
    assert finding.outcome == "holds"
    assert claims.significantly_above(upper, lower, "FPE").outcome == "undecided"  # one seed dominates the mean
    elsewhere = pd.Series(lower.to_numpy(), index=range(7, 12))
    unpaired = claims.significantly_above(upper, elsewhere, "FPE", ranks=True)
    assert unpaired.p == pytest.approx(mannwhitneyu(upper, lower, alternative="greater").pvalue)
    assert "Mann-Whitney" in unpaired.text
    assert claims.significantly_above(lower, lower, "FPE", ranks=True).outcome == "fails"


@pytest.mark.parametrize(
    ("finding", "outcome"),
    [
        (claims.always_above(seeds(2.0, 3.0), 1, "x"), "holds"),
        (claims.always_above(seeds(2.0, 1.0), 1, "x"), "fails"),
        (claims.always_above(seeds(2.0), 1, "x"), "undecided"),
        (claims.always_above(seeds(1.0), 1, "x"), "fails"),
        (claims.mean_not_below(seeds(1.0, 1.0), seeds(1.0, 1.0), "x", strict=True), "fails"),
        (claims.mean_not_below(seeds(2.0, 1.0), seeds(1.0, 1.0), "x", strict=True), "holds"),
        (claims.significantly_above(seeds(2.0, 2.0), seeds(1.0, 1.0), "x"), "holds"),
        (claims.significantly_above(seeds(2.0), seeds(1.0), "x"), "undecided"),
        (claims.mean_ratio_above(seeds(0.0, 0.0), seeds(0.0, 0.0), 5, "x"), "undecided"),
        (claims.mean_ratio_above(seeds(1.0, 1.0), seeds(0.0, 0.0), 5, "x"), "holds"),
        (claims.mean_not_below(seeds(1.0, 1.0), seeds(1.0, 1.0), "x"), "holds"),
        (claims.always_zero(seeds(0.0, 0.0), "x"), "holds"),
        (claims.always_zero(seeds(0.0), "x"), "undecided"),
        (claims.always_zero(seeds(0.1), "x"), "fails"),
        (claims.rank_trend(rising(4), lambda rho: rho > 0.9, "x"), "holds"),
        (claims.rank_trend(rising(3), lambda rho: rho > 0.9, "x"), "undecided"),
        (claims.rank_trend(dict.fromkeys(range(9), seeds(1.0, 1.0, 1.0)), lambda rho: rho > 0.9, "x"), "undecided"),
    ],
)
def test_corner_cases(finding, outcome):
    assert finding.outcome == outcome
    assert finding.statistic is None or not math.isnan(finding.statistic)


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (claims.mean_above(seeds(0.8, 0.9), 0.9, "MCC"), "MCC 0.85, not above 0.9, 2 seeds"),
        (claims.mean_below(seeds(0.8, 0.9), 0.9, "MCC"), "MCC 0.85, below 0.9, 2 seeds"),
        (claims.mean_within(seeds(-0.2, -0.4), 0.5, "lead"), "lead -0.3, within \N{PLUS-MINUS SIGN} 0.5, 2 seeds"),
        (claims.mean_within(seeds(-0.6, -0.6), 0.5, "lead"), "lead -0.6, not within \N{PLUS-MINUS SIGN} 0.5, 2 seeds"),
        (
            claims.mean_ratio_above(seeds(3.0, 3.0), seeds(2.0, 2.0), 2, "A / B"),
            "A / B: 3 / 2 = 1.5, not above 2, 2 seeds",
        ),
        (claims.mean_ratio_below(seeds(3.0, 3.0), seeds(2.0, 2.0), 2, "A"), "A: 3 / 2 = 1.5, below 2, 2 seeds"),
    ],
)
def test_a_finding_says_which_way_the_number_had_to_be(finding, text):
    assert finding.text == text
    assert finding.outcome == ("fails" if ", not " in text else "holds")


def test_of_many_cases_the_one_furthest_from_holding_is_named():
    def above(upper, lower):
        return claims.mean_not_below(seeds(upper, upper), seeds(lower, lower), "AUC")

    clear, close, lost, absent = above(9.0, 1.0), above(2.0, 1.0), above(1.0, 2.0), claims.not_measured("AUC")
    found = claims.weakest({"a": clear, "b": close})
    assert (found.outcome, found.statistic) == ("holds", 1.0)
    assert found.text == "holds in 2 of 2 cases; least clear: b, AUC: 2 against 1, 2 seeds"
    found = claims.weakest({"a": clear, "b": lost, "c": above(1.0, 9.0), "d": absent})
    assert found.outcome == "fails"
    assert found.text == "holds in 1 of 3 cases (1 more not measured); furthest from it: c, AUC: 1 against 9, 2 seeds"
    found = claims.weakest({"a": clear, "d": absent})
    assert (found.outcome, found.measured) == ("undecided", True)
    assert claims.weakest({"d": absent}) == absent
    significant = {str(p): claims.Finding("holds", "", 1.0, p) for p in (0.001, 0.04, 0.01)}
    assert claims.weakest(significant).p == 0.04
