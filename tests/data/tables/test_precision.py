"""Numbers in single precision: what rounding may take, and what is refused."""

import numpy as np
import pandas as pd
import pytest

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
