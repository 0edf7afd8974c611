import math

import numpy as np
import pytest
import torch

from sparseid.methods.sparling.evaluation import (
    BinnedLabels,
    CountedTokens,
    DecodedLabels,
    MatchedMotifs,
    active_values,
    kind_measurements,
)
from sparseid.methods.sparling.networks import Domain

END = 9


def test_decoded_labels_are_cut_at_the_end_token():
    seen = DecodedLabels(END)
    seen.add(torch.tensor([[1, 2, -1], [3, -1, -1]]), torch.tensor([[1, 2, END, 4], [4, END, END, END]]))
    values = {measured.metric: (measured.value, measured.n) for measured in seen.measurements()}
    assert values == {"e2ee": (50.0, 2), "exact_accuracy": (50.0, 2)}


def test_items_with_unknown_sites_enter_the_density_only():
    maps = torch.zeros(4, 2, 4, 4)
    maps[:, 0, 1, 1] = 1.0  # in every item: a hit, two unknown, an activation outside
    maps[3, 0, 0, 3] = 2.0
    sites = torch.tensor([[0, 0, 0, 2, 0, 2], [3, 0, 2, 4, 2, 4]])
    domain = Domain(2, 4, (4, 4), 1, ("a", "b"), ("a", "b"), partly_located=True)
    matched = MatchedMotifs(domain, 2, 1, "one_to_one")
    matched.add(maps, sites)
    values = {measured.metric: (measured.value, measured.n) for measured in matched.measurements(4)}
    assert values["fne"] == (50.0, 2)
    assert values["fpe"] == (pytest.approx(200 / 3), 2)
    assert values["density"] == (pytest.approx(100 * 5 / 128), 4)
    unknown = MatchedMotifs(domain, 2, 1, "one_to_one")
    unknown.add(maps, sites[:0])
    assert [measured.metric for measured in unknown.measurements(4)] == ["density", "sparsity"]
    assert set(unknown.arrays()) == {"kind_names", "token_names"}


def test_channels_go_with_the_tokens_that_rise_and_fall_with_them():
    labels = torch.tensor([[0, 0, 1], [1, -1, -1], [0, -1, -1], [1, 1, -1]])
    maps = torch.zeros(4, 3, 3, 1)
    for item, label in enumerate(labels):
        maps[item, 2, : int((label == 0).sum())] = 1.0
        maps[item, 0, : int((label == 1).sum())] = 0.5
    counted = CountedTokens(2)
    counted.add(maps[:2], labels[:2])
    counted.add(maps[2:], labels[2:])
    assert counted.channel_kinds("one_to_one").tolist() == [1, -1, 0]
    assert counted.channel_kinds("many_to_one").tolist() == [1, -1, 0]


def test_one_answer_for_every_item_is_measured_on_the_same_labels():
    seen = DecodedLabels(END)
    seen.add(torch.tensor([[1, 2, -1], [3, -1, -1]]), torch.tensor([[1, END, 4], [3, END, END]]))
    values = {measured.metric: measured.value for measured in seen.of_constant([3]).measurements()}
    assert values == {"e2ee": 50.0, "exact_accuracy": 50.0}


def test_active_values_by_channel():
    maps = torch.tensor([[[0.0, 2.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 3.0]]])[..., None]
    assert [sorted(values.tolist()) for values in active_values(maps)] == [[1.0, 2.0], [3.0]]


def test_bins_cost_what_a_decoder_that_reads_values_loses():
    """The label is the value of the one active entry: sixteen values, one digit each."""
    values = torch.arange(1.0, 17.0)
    maps = values.view(16, 1, 1, 1)
    labels = (values.long() - 1)[:, None]

    def decode(shown):
        token = shown.flatten().round().long() - 1
        return torch.stack([token, torch.full_like(token, 99)], 1)

    exact = DecodedLabels(99)
    exact.add(labels, decode(maps))
    binned = BinnedLabels([maps[:5], maps[5:]], end=99, items=12)
    for start in (0, 8):
        binned.add(labels[start : start + 8], maps[start : start + 8], decode)
    measured = {measurement.keys["bins"]: measurement for measurement in binned.measurements(exact)}
    assert {measurement.n for measurement in measured.values()} == {12}
    # of two values in a bin one is its rounded mean
    assert measured[16].value == 0
    assert measured[8].value == pytest.approx(50)
    assert measured[8].value < measured[4].value < measured[2].value


def test_every_kind_has_its_shares_and_pairs_that_are_hardly_mistaken_are_left_out():
    matrix = np.array([[900, 70, 0, 30], [0, 9999, 1, 0], [0, 0, 0, 0], [2, 6, 0, 0]])
    made = {(m.metric, *m.keys.values()): m for m in kind_measurements(matrix, ["0", "x", "bar"])}
    values = {key: round(measurement.value, 6) for key, measurement in made.items() if key[1] != "bar"}
    assert values == {
        ("diagonal_share", "0", "aligned"): 90.0,
        ("none_share", "0", "none"): 3.0,
        ("other_channel_share", "0", "x"): 7.0,
        ("diagonal_share", "x", "aligned"): 99.99,  # a channel each: that of the third kind is not added
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
