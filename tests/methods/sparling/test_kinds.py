import math

import numpy as np

from sparseid.methods.sparling.kinds import kind_measurements


def test_every_kind_has_its_shares_and_pairs_that_are_hardly_mistaken_are_left_out():
    matrix = np.array([[900, 70, 0, 30], [0, 9999, 1, 0], [0, 0, 0, 0], [2, 6, 0, 0]])
    made = {(m.metric, *m.keys.values()): m for m in kind_measurements(matrix, ["0", "x", "bar"])}
    values = {key: round(measurement.value, 6) for key, measurement in made.items() if key[1] != "bar"}
    assert values == {
        ("diagonal_share", "0", "aligned"): 90.0,
        ("none_share", "0", "none"): 3.0,
        ("other_channel_share", "0", "x"): 7.0,
        ("diagonal_share", "x", "aligned"): 100.0,
        ("none_share", "x", "none"): 0.0,
        ("row_share", "none", "all"): round(100 * 8 / 11008, 6),
        ("other_channel_share", "none", "busiest_channel"): 75.0,
    }
    assert made["diagonal_share", "0", "aligned"].n == 1000
    assert {m.keys["symbol"] for m in kind_measurements(matrix, ["(", ")", "+"])} == {
        "lparen",
        "rparen",
        "plus",
        "none",
    }
    assert math.isnan(made["none_share", "bar", "none"].value)
