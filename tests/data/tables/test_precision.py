"""Numbers in single precision: what rounding may take, and what is refused."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from sparseid.data.tables import Scale, Table, double_precision, single_precision, table_of_frame
from sparseid.errors import InputError

RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=400)
SECONDS = 1.7e9 + np.arange(400)  # since 1970
LATE = np.where(np.arange(400) == 7, 0, SECONDS + 0.25)  # one is missing


def test_numbers_that_single_precision_cannot_hold_are_refused_by_name():
    with pytest.raises(InputError, match=r"row 2, column 'big': 1e\+39 is beyond single precision"):
        Table.of([[1, 1], [1, 1e39]], names=["small", "big"]).singles()
    with pytest.raises(InputError, match=r"rescale them \(the 60 values of column 'time' become 1\)"):
        Table.of(1.7e9 + np.arange(60.0)[:, None], names=["time"]).singles()


@pytest.mark.parametrize(
    "column",
    [
        LATE,
        np.where(np.arange(400) % 2 == 0, 0, SECONDS),  # half of them
        1.7e9 + RNG.integers(120, 240, 400).cumsum(),  # all of them differ, and steps are wrong by up to 88 %
        1.7e9 + RNG.integers(120, 240, 4000).cumsum() + 0.25,
        1.7e9 + RNG.integers(1, 20, 100_000).cumsum(),
        RNG.permutation(SECONDS),
        SECONDS.astype(np.int64),
        1_700_000_000_000_000_000 + np.arange(400),  # nanoseconds
        1.7e9 + 1e-3 * np.arange(400),
        1e9 + NOISE,
        np.resize([2**24, 2**24 + 1], 400),
        1e-50 * NOISE,
        np.r_[NOISE[:100], 1e12 + NOISE[:8], 5e9 + np.arange(4000) / 7],
    ],
)
def test_differences_that_rounding_takes_are_refused_whatever_else_a_column_holds(column):
    with pytest.raises(InputError, match=r"values differ by less than single .*: subtract an offset.* column 'time'"):
        single_precision("values", column[:, None], ["time"])


@pytest.mark.parametrize(
    "column",
    [
        NOISE,
        1e5 + NOISE,  # metres
        np.sort(RNG.normal(size=300_000)),
        np.floor(np.exp(6 * NOISE)),  # counts with a heavy tail, beyond 2^24
        RNG.pareto(0.5, 5000),
        np.r_[np.zeros(5000), 1e9 * np.exp(NOISE)],
        np.arange(400) * 2**15,
        np.round(101325 + 50 * np.sin(np.arange(10_000) / 500) + RNG.normal(size=10_000), 1),  # pascals, by the second
        2010 + np.arange(3650) / 365,  # years
        1 / (1 + np.exp(-10 - 5 * NOISE)),  # nearly all are nearly 1
        np.full(400, 1.7e9 + 0.25),
        np.where(NOISE > 1, 0.7, 0.5) + 1e-12 * NOISE,  # rounding errors of a computation
        np.resize([0.3, 0.1 + 0.2, 0.3 - 5e-17], 400),
        np.r_[1.7e9 + 128 * np.arange(400), 1.7e9 + 1],  # stored in single precision before, but one
        np.array([0.1, 0.3]),
    ],
)
def test_ordinary_columns_are_held(column):
    values = single_precision("values", column[:, None])[:, 0]
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, column, rtol=6e-8)


def test_columns_are_scaled_before_they_are_rounded():
    for column in (SECONDS + 0.25, 1.7e9 + RNG.integers(120, 240, 400).cumsum()):
        scale = Scale.of(column[:, None], np.arange(300))
        found = single_precision("values", column[:, None], scale=scale)[:, 0]
        np.testing.assert_allclose(found, (column - column[:300].mean()) / column[:300].std(), rtol=1e-6, atol=1e-7)


def test_a_scale_that_an_outlier_decides_is_refused_if_it_takes_the_others():
    scale = Scale.of(LATE[:, None], np.arange(400))
    with pytest.raises(InputError, match="an outlier decides the scale: correct or drop it"):
        single_precision("values", LATE[:, None], scale=scale)


@pytest.mark.parametrize("outlier", [1e10, 1e15, 1e20, 9.969209968386869e36, -1e30, 1e300])
@pytest.mark.parametrize("name", ["labels", "values"])
def test_an_outlier_for_which_scaling_itself_takes_the_others_is_refused(name, outlier):
    """From 1e15 on, they become equal when the mean is subtracted, in double precision: nothing is left to round."""
    column = np.where(np.arange(400) == 7, outlier, NOISE)[:, None]
    scale = Scale.of(column, np.arange(400))
    with pytest.raises(InputError, match=r"an outlier decides the scale: .* \(the 400 values of column 'a' become"):
        single_precision(name, column, ["a"], scale=scale)
    integers = np.where(column == outlier, 10**18, 100 * column).astype(np.int64)
    with pytest.raises(InputError, match="an outlier decides the scale"):
        single_precision(name, integers, scale=Scale.of(integers.astype(np.float64), np.arange(400)))


def test_whole_labels_are_refused_if_two_become_equal():
    labels = np.r_[np.arange(2000) * 1e6, 1e9 + 1]
    with pytest.raises(InputError, match="rounded to multiples of 128"):
        single_precision("labels", labels[:, None])
    single_precision("values", labels[:, None])
    single_precision("labels", labels[:-1, None])


def test_integers_that_double_precision_merges_are_refused():
    counted, far = np.arange(400)[:, None], 1_700_000_000_000_000_000
    for values in (far + counted, 2**53 + counted, np.uint64(2**63) + counted.astype(np.uint64)):
        with pytest.raises(InputError, match="differ by less than double precision can represent"):
            Table.of(values)
        with pytest.raises(InputError, match=r"differ by less than double precision .* column 'time'"):
            table_of_frame(pd.DataFrame(values, columns=["time"]))
    seconds = 10**9 * counted + far
    np.testing.assert_array_equal(double_precision("values", seconds), seconds)
    nullable = pd.DataFrame({"a": pd.array([1, 2], "Int64"), "b": pd.array([0.5, 1], "Float32"), "c": [True, False]})
    assert table_of_frame(nullable).values.tolist() == [[1, 0.5, 1], [2, 1, 0]]


def test_complex_numbers_are_refused():
    for made in (lambda: Table.of([[1 + 2j]]), lambda: table_of_frame(pd.DataFrame({"a": [1 + 2j]}))):
        with pytest.raises(InputError, match="the values are complex numbers"):
            made()


BIG = [2**60 + number for number in range(60)]
MERGED = r"differ by less than double precision can represent: .* \(the 60 values of column '.*' become 1\)"


@pytest.mark.parametrize(
    "values",
    [
        [[value] for value in BIG],
        [(value,) for value in BIG],
        [[str(value)] for value in BIG],
        np.array(BIG)[:, None],
        np.array(BIG, object)[:, None],
        np.array(BIG).astype(str)[:, None],
        np.array(BIG).astype("S")[:, None],
        [[Decimal(value)] for value in BIG],
        [[Fraction(value)] for value in BIG],
        [[2**70 + value] for value in range(60)],
        [[2**120 + (2**61 - 1) * value] for value in range(60)],  # whose hashes are the same in Python
        np.longdouble(2**60) + np.arange(60, dtype=np.longdouble)[:, None],
        sparse.csr_array(np.array(BIG)[:, None]),
        [[f"1.{value:025}"] for value in range(60)],
        [[f"{value}e-400"] for value in range(1, 61)],
    ],
    ids=lambda values: f"{type(values).__name__}",
)
def test_numbers_of_any_type_that_double_precision_merges_are_refused(values):
    with pytest.raises(InputError, match=MERGED):
        Table.of(values)


@pytest.mark.parametrize(
    "column",
    [
        np.array(BIG, object),
        pd.arrays.SparseArray(BIG, dtype=pd.SparseDtype("int64")),
        pd.array(BIG, dtype="Int64"),
        pd.array(BIG, dtype=pd.ArrowDtype(pa.int64())),
        pd.array([Decimal(value) for value in BIG], dtype=pd.ArrowDtype(pa.decimal128(38, 0))),
    ],
)
def test_columns_of_frames_of_any_type_are_checked(column):
    with pytest.raises(InputError, match=MERGED):
        table_of_frame(pd.DataFrame({"a": column}))
    assert table_of_frame(pd.DataFrame({"a": column[:1]})).values.item() == 2**60


def test_one_type_is_not_made_of_numbers_of_a_list_before_they_are_checked():
    """NumPy makes doubles of whole numbers of both signs beyond 63 bits, and of any with a fraction among them."""
    for rest in ([0.5], [0.1], [-1], [Decimal("0.1")]):
        with pytest.raises(InputError, match="the 61 values of column '1' become 2"):
            Table.of([[value] for value in [*(2**63 + number for number in range(60)), *rest]])
    held = [[2**70], [Decimal("0.5")], [Fraction(1, 3)], [True], ["-2.5"], [np.float32(0.1)], [-(2**53)]]
    expected = [2.0**70, 0.5, 1 / 3, 1, -2.5, float(np.float32(0.1)), -(2.0**53)]
    assert Table.of(held).values[:, 0].tolist() == expected


NS = np.array(["2020-01-01", "NaT"], "M8[ns]")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[1, 2], [None, 4]], "row 2, column '1': the value is missing: fill it"),
        ([[1], [pd.NA]], "row 2, column '1': the value is missing"),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]), "row 2, column '2': the value is missing"),
        ([np.ma.array([1, 2]), np.ma.array([3, 4], mask=[0, 1])], "row 2, column '2': the value is missing"),
        (NS[:, None], r"the values are datetime64\[ns\]: convert dates and durations to numbers"),
        (np.diff(NS)[:, None], r"the values are timedelta64\[ns\]"),
        ([[date(2020, 1, 2)]], "row 1, column '1': 2020-01-02 is a date: convert dates"),
        ([[pd.Timestamp("2020-01-02")]], "2020-01-02 00:00:00 is a Timestamp"),
        ([[1, 10**5000]], "row 1, column '2': a number of thousands of digits is beyond double precision"),
        ([[-(10**400)]], r"row 1, column '1': -1000.*\.\.\. is beyond double precision \(1.8e\+308\)"),
        ([[{}]], r"row 1, column '1': it is no number \(float\(\) argument must be"),
        ([["nan"]], "row 1, column '1': 'nan' is missing"),
    ],
)
def test_values_that_are_no_numbers_or_missing_are_refused_with_their_place(values, said):
    with pytest.raises(InputError, match=said):
        Table.of(values)


def test_masked_arrays_without_masked_values_are_read():
    assert Table.of(np.ma.array([[1, 2]])).values.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.array(["1", "2"], object), "row 1, column 'a': '1' is a number as text: convert the column with pandas"),
        (np.array([1, "many"], object), "row 2, column 'a': 'many' is not a number"),
        (np.array([1, None], object), "row 2, column 'a': the value is missing"),
        (pd.array([1, None], "Int64"), "row 2, column 'a': the value is missing"),
        (pd.Categorical([1, 2]), "column 'a' is categorical: convert it to numbers"),
        (NS, r"the values are datetime64\[ns\]"),
    ],
)
def test_columns_of_frames_that_are_no_numbers_are_refused_with_the_reason(column, said):
    with pytest.raises(InputError, match=said):
        table_of_frame(pd.DataFrame({"a": column}))
    assert table_of_frame(pd.DataFrame({"a": np.array([1, 2.5], object)})).values[:, 0].tolist() == [1, 2.5]


def test_repeated_entries_of_a_sparse_matrix_are_added_without_overflow():
    def of(kind, *values):
        return sparse.coo_array((np.array(values, kind), ([0, 0], [0, 0])), shape=(1, 1))

    assert Table.of(of(np.uint8, 200, 100)).values.item() == 300
    for made in (sparse.csr_array, sparse.csc_matrix):
        repeated = made((np.array([200, 100], np.uint8), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
        assert Table.of(repeated).values.item() == 300
    assert Table.of(of(np.int8, -128, -128)).values.item() == -256
    assert Table.of(of(np.float32, 2**24, 1)).values.item() == 2**24 + 1
    assert Table.of(of(bool, True, True)).values.item() == 1
    with pytest.raises(InputError, match="add up to more than 64 bits hold"):
        Table.of(of(np.int64, 2**62, 2**62))


@pytest.mark.parametrize(
    "labels",
    [
        np.r_[NOISE[:200], 1.7e9 + NOISE[200:]],
        np.r_[NOISE[:200], 1.7e9 + NOISE[200:]].reshape(2, 200).T.ravel(),  # by turns
        np.r_[-1.7e9 + NOISE[:200], 1.7e9 + NOISE[200:]],
        np.r_[1.2e9 + NOISE[:200], 1.9e9 + NOISE[200:]],
        np.r_[NOISE[:130], 1e3 + NOISE[130:260], 1.7e9 + NOISE[260:]],
        1e7 * RNG.integers(1, 4, 400) + NOISE,  # three at equal distances
        1e7 * RNG.integers(0, 20, 400) + NOISE,
        1e7 * RNG.integers(0, 20, 400) + np.round(100 * NOISE),
        10.0 ** RNG.integers(6, 10, 400) + NOISE,
        np.r_[RNG.uniform(0, 2e9, 200), 1e9 + NOISE[200:]],  # a peak
    ],
)
@pytest.mark.parametrize("name", ["labels", "values"])
def test_differences_within_a_regime_are_not_lost_for_its_distance_from_others(labels, name):
    with pytest.raises(InputError, match="differ by less than single precision can represent"):
        single_precision(name, labels[:, None])


def test_regimes_that_single_precision_holds_are_read():
    for values in (np.r_[NOISE, 1000 + NOISE], np.r_[NOISE, 1e12], np.repeat([0, 1.7e9], 200) + 1e-9 * NOISE.round()):
        single_precision("values", values[:, None])


@pytest.mark.parametrize("name", ["labels", "values"])
@pytest.mark.parametrize("groups", [3, 20])
def test_differences_within_scaled_regimes_are_not_lost_for_their_distance(name, groups):
    column = (1e7 * RNG.integers(0, groups, 2000) + RNG.normal(size=2000))[:, None]
    with pytest.raises(InputError, match="an outlier decides the scale"):
        single_precision(name, column, scale=Scale.of(column, np.arange(2000)))


@pytest.mark.parametrize(
    "column",
    [
        NOISE,
        1e3 + NOISE,
        RNG.uniform(size=20_000),
        np.exp(2 * NOISE),
        RNG.standard_cauchy(400),
        RNG.poisson(1e6, 400),
        RNG.integers(0, 3, 400),
        np.exp(14 + NOISE).astype(np.int64),  # counts around 1e6
        np.floor(1.7e9 + RNG.uniform(0, 3e7, 400)),  # seconds of a year
        RNG.integers(1950, 2025, 400),  # years
        50 * RNG.integers(0, 3, 400) + NOISE,
        1e3 * RNG.integers(0, 20, 2000) + RNG.normal(size=2000),
        np.round(20 + 5 * NOISE, 1),  # a sensor
        np.where(NOISE > 1, -999, NOISE),
        np.where(NOISE > 0, 1 + 1e-16, 1e-17 * NOISE) + 1e-15 * NOISE,  # zeros and ones, up to rounding errors
        np.cumsum(NOISE),
    ],
)
@pytest.mark.parametrize("name", ["labels", "values"])
def test_ordinary_numbers_are_held_as_labels_and_as_values_scaled_or_not(name, column):
    column = column[:, None]
    np.testing.assert_allclose(single_precision(name, column), column, rtol=6e-8)
    scale = Scale.of(column.astype(np.float64), np.arange(300))
    np.testing.assert_allclose(single_precision(name, column, scale=scale), scale.apply(column), rtol=6e-8)
