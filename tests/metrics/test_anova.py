"""Analysis of variance and Tukey's test against statsmodels, on incomplete designs, and in closed form."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import studentized_range, t

from sparseid.metrics.anova import anova, studentized_range_sf, tukey_hsd


def made(levels=(4, 3, 2), repeats=3, seed=0):
    names = list("abc")[: len(levels)]
    frame = pd.DataFrame(list(product(*map(range, levels), range(repeats))), columns=[*names, "repeat"])
    rng = np.random.default_rng(seed)
    frame["y"] = 80 + rng.normal(size=len(frame)) + 0.3 * frame["a"] + frame["b"] * (frame["a"] % 2)
    return frame, names


@pytest.mark.parametrize("case", ["full3", "full4"])
def test_balanced_tables_are_those_of_statsmodels(fixture_arrays, case):
    arrays = fixture_arrays("regcl_anova")
    factors = [f"f{place}" for place in range(arrays[f"{case}_codes"].shape[1])]
    frame = pd.DataFrame(arrays[f"{case}_codes"], columns=factors).assign(y=arrays[f"{case}_y"])
    stored = pd.DataFrame({name: arrays[f"{case}_{name}"] for name in ("sum_sq", "df", "F", "p")})
    stored.index = [str(term).replace("C(", "").replace(")", "").lower() for term in arrays[f"{case}_terms"]]
    for kind in (1, 2, 3):  # the same where the design is balanced
        found = anova(frame, "y", factors, kind)
        assert found.table.index.tolist() == stored.index.tolist()
        np.testing.assert_allclose(found.table[["sum_sq", "df", "F"]], stored[["sum_sq", "df", "F"]], rtol=1e-8)
        np.testing.assert_allclose(found.table["p"], stored["p"], rtol=1e-6)
        for name, key in (("F", "overall_F"), ("p", "overall_p"), ("r_squared", "rsquared"), ("df_model", "df_model")):
            assert getattr(found, name) == pytest.approx(float(arrays[f"{case}_{key}"]), rel=1e-6)
        assert found.n == int(arrays[f"{case}_nobs"])


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_unbalanced_tables_are_those_of_statsmodels(kind):
    pytest.importorskip("statsmodels")
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame, factors = made()
    frame.loc[frame.sample(15, random_state=1).index, "y"] = np.nan
    assert frame.dropna().groupby(factors).size().agg(["size", "min"]).tolist() == [24, 1]  # no combination is missing
    coding = ", Sum" if kind == 3 else ""  # its default coding gives type 3 tables that depend on the order of levels
    fit = ols("y ~ " + " * ".join(f"C({name}{coding})" for name in factors), frame).fit()
    expected = anova_lm(fit, typ=kind).drop(index="Intercept", errors="ignore")
    found = anova(frame, "y", factors, kind)
    np.testing.assert_allclose(found.table[["sum_sq", "df", "F"]], expected[["sum_sq", "df", "F"]], rtol=1e-8)
    np.testing.assert_allclose(found.table["p"], expected["PR(>F)"], rtol=1e-6)
    assert (found.F, found.p) == pytest.approx((fit.fvalue, fit.f_pvalue))
    assert (found.df_model, found.df_residual) == (fit.df_model, fit.df_resid)


def test_a_missing_combination_costs_degrees_of_freedom():
    frame, factors = made()
    incomplete = frame[~((frame["a"] == 3) & (frame["b"] == 2))]  # two of 24 combinations
    found = anova(incomplete, "y", factors)
    assert found.table["df"].to_dict() == {
        "a": 3, "b": 2, "c": 1, "a:b": 5, "a:c": 3, "b:c": 2, "a:b:c": 5, "residual": 44
    }  # fmt: skip
    assert found.df_model == 21
    assert found.table[["F", "p"]].iloc[:-1].notna().all(axis=None)

    def residual(terms):
        columns = pd.concat(
            [pd.get_dummies(incomplete[term].astype(str).agg("-".join, axis=1)) for term in terms], axis=1
        ).to_numpy(float)
        design = np.column_stack([np.ones(len(columns)), columns])
        rest = incomplete["y"] - design @ np.linalg.lstsq(design, incomplete["y"], rcond=None)[0]
        return float(rest @ rest)

    # by hand: c is adjusted for a, b and their interaction; a:b for all terms of at most two factors
    expected = {
        "c": residual([["a", "b"]]) - residual([["a", "b"], ["c"]]),
        "a:b": residual([["a", "c"], ["b", "c"]]) - residual([["a", "b"], ["a", "c"], ["b", "c"]]),
        "residual": residual([["a", "b", "c"]]),
    }
    for term, value in expected.items():
        assert found.table.loc[term, "sum_sq"] == pytest.approx(value, rel=1e-8)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 100), st.floats(-100, 100))
@settings(max_examples=20)
def test_scale_shift_and_names_of_levels_do_not_count(seed, scale, shift):
    rng = np.random.default_rng(seed)
    frame, factors = made((3, 2), 2, seed)
    frame = frame.sample(9, random_state=int(rng.integers(1000)))
    renamed = frame.assign(a=frame["a"].map({0: "z", 1: "k", 2: "m"}), y=scale * frame["y"] + shift)
    before, after = anova(frame, "y", factors).table, anova(renamed, "y", factors).table
    assert before["df"].equals(after["df"])
    np.testing.assert_allclose(after["sum_sq"], scale**2 * before["sum_sq"], atol=1e-7 * scale**2)


def test_degenerate_designs():
    frame, factors = made()
    constant = anova(frame[frame["c"] == 1], "y", factors).table
    assert constant.loc["a:c", ["sum_sq", "df"]].tolist() == [0, 0]
    assert np.isnan(constant.loc["c", "F"])
    expected = anova(frame[frame["c"] == 1], "y", ["a", "b"]).table
    pd.testing.assert_frame_equal(constant.loc[["a", "b", "a:b", "residual"]], expected)
    single = anova(frame[frame["repeat"] == 0], "y", factors)
    assert single.df_residual == 0
    assert single.table[["F", "p"]].isna().all(axis=None)
    assert np.isnan(single.F)
    assert single.r_squared == pytest.approx(1)
    for arguments, match in (
        ((frame, "y", []), "one or more factors"),
        ((frame, "y", factors, 4), "kind 1, 2 or 3"),
        ((frame.assign(y=np.nan), "y", factors), "no value"),
    ):
        with pytest.raises(ValueError, match=match):
            anova(*arguments)


@pytest.mark.parametrize("case", ["a_by_m", "a_by_e"])
def test_pairs_are_those_of_statsmodels(fixture_arrays, case):
    stored = {name.removeprefix(f"{case}_"): values for name, values in fixture_arrays("regcl_tukey").items()}
    found = tukey_hsd(stored["y"], stored["group_code"], float(stored["alpha"]))
    for name, key, tolerance in (
        ("group1", "g1", 0),
        ("group2", "g2", 0),
        ("meandiff", "meandiff", 1e-10),
        ("p_adj", "p", 1e-6),
        ("lower", "lower", 1e-6),
        ("upper", "upper", 1e-6),
        ("reject", "reject", 0),
    ):
        np.testing.assert_allclose(found[name].astype(float), stored[key].astype(float), rtol=0, atol=tolerance)


def test_groups_of_different_sizes_are_compared_as_in_statsmodels():
    pytest.importorskip("statsmodels")
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    frame, _ = made()
    frame["group"] = "g" + frame["a"].astype(str)
    frame = frame.drop(frame.sample(20, random_state=0).index)
    expected = pairwise_tukeyhsd(frame["y"], frame["group"], 0.1)
    found = tukey_hsd([*frame["y"], np.nan], [*frame["group"], "g0"], 0.1)
    assert found["group2"].tolist() == ["g1", "g2", "g3", "g2", "g3", "g3"]
    np.testing.assert_allclose(found["meandiff"], expected.meandiffs, atol=1e-10)
    np.testing.assert_allclose(found["p_adj"], expected.pvalues, atol=1e-6)
    np.testing.assert_allclose(found[["lower", "upper"]], expected.confint, atol=1e-6)


@pytest.mark.parametrize(("groups", "df"), [(2, 1), (3, 2), (4, 6), (18, 552), (12, 6000)])
def test_tails_of_the_studentized_range_are_those_of_scipy(groups, df):
    q = np.array([0.0, 0.01, 0.5, 1, 2, 3, 4, 5, 6.5, 8, 12, 30])
    found = studentized_range_sf(q, groups, df)
    np.testing.assert_allclose(found, studentized_range.sf(q, groups, df), rtol=0, atol=2e-9 if df < 3 else 1e-10)
    assert found[0] == 1
    assert np.isnan(studentized_range_sf([np.nan], groups, df)).all()


def test_a_studentized_range_of_two_groups_is_students_t():
    values = np.array([0.3, 1.0, 2.5, 4.0, 9.0])
    np.testing.assert_allclose(studentized_range_sf(values * 2**0.5, 2, 7), 2 * t.sf(values, 7), rtol=1e-9, atol=1e-13)


def test_too_few_values_for_a_test():
    assert len(tukey_hsd([1.0, 2.0], ["a", "a"])) == 0
    single = tukey_hsd([1.0, 2.0, 4.0], ["a", "b", "c"])
    assert single["meandiff"].tolist() == [1, 3, 2]
    assert single[["p_adj", "lower", "upper"]].isna().all(axis=None)
    assert not single["reject"].any()
