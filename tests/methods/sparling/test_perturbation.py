import numpy as np
import pytest
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.digit_circle.datamodule import DigitCircleData
from sparseid.data.digit_circle.generator import DigitCircle
from sparseid.data.digit_circle.glyphs import read_glyphs
from sparseid.methods.sparling.perturbation import (
    PICTURED,
    are_marks,
    exchange_arrays,
    identified_kinds,
    moved,
    perturb,
    perturbation_accuracy,
    radius_in_cells,
)
from sparseid.papers.sparling.run_pictures import exchanged_motifs

CHANNELS = {kind: [9 - kind] for kind in range(10)}
DATA = DigitCircleData(DigitCircle(read_glyphs("compact"), 40, 3, 5, 10, 12, 6, 1), 0, 16, 4, 32)


def test_kinds_are_identified_by_three_quarters_of_their_sites_in_a_column_of_the_confusion_matrix():
    joined = np.array([[8, 0, 1, 0, 1], [0, 3, 0, 0, 1], [0, 0, 4, 4, 0], [5, 0, 0, 0, 0]])  # more channels than kinds
    assert identified_kinds(joined) == {0: [0], 2: [2, 3]}
    own = np.vstack([joined[:3], [[9, 1, 0, 0, 0]], [[5, 0, 0, 0, 0]]])  # four of each, two kinds share a channel
    assert identified_kinds(own) == {0: [0], 3: [0]}, "of two channels that share a kind one does not do"


def test_marks_are_the_largest_of_all_channels_in_their_neighbourhood():
    maps = torch.zeros(1, 2, 9, 9)
    maps[0, 0, 2, 2], maps[0, 1, 3, 3], maps[0, 0, 8, 8], maps[0, 1, 4, 6] = 3.0, 2.0, 1.0, 0.5
    assert are_marks(maps, 2).nonzero().tolist() == [[0, 0, 2, 2], [0, 0, 8, 8], [0, 1, 4, 6]]
    assert are_marks(maps, 3).nonzero().tolist() == [[0, 0, 2, 2], [0, 0, 8, 8]]


def test_marks_of_a_sound():
    maps = torch.tensor([0.0, 1.0, 2.0, 0.0, 0.0, 0.5]).view(1, 1, 6, 1)
    assert are_marks(maps, 1).flatten().tolist() == [False, False, True, False, False, True]


def test_local_maxima_move_with_their_values_and_every_other_entry_stays():
    """A map of five entries has five after the exchange, as in the authors' code."""
    entries = torch.zeros(3, 12, 12)
    entries[0, 2, 2], entries[0, 2, 3] = 5.0, 4.0  # a mark of the old kind, and a lesser entry of its channel beside it
    entries[2, 3, 2] = 3.0  # an entry of another channel in the neighbourhood
    entries[1, 9, 9], entries[0, 10, 9] = 7.0, 6.0  # a mark of another kind hides an entry of the old one
    marks = are_marks(entries[None], 5)[0]
    assert marks.nonzero().tolist() == [[0, 2, 2], [1, 9, 9]]
    result = moved(entries, marks, [0], 1)
    expected = entries.clone()
    expected[0, 2, 2], expected[1, 2, 2] = 0.0, 5.0
    assert torch.equal(result, expected)
    assert (result > 0).sum() == 5
    assert entries[0, 2, 2] == 5.0, "the map itself is unchanged"


def test_all_channels_of_a_kind_are_moved_to_one_and_replace_what_is_there():
    entries = torch.zeros(4, 3, 3)
    entries[1, 0, 0], entries[2, 1, 1], entries[3, 2, 2], entries[0, 0, 0] = 5.0, 6.0, 7.0, 1.0
    marks = entries > 2
    result = moved(entries, marks, [1, 2], 0)
    assert result.nonzero().tolist() == [[0, 0, 0], [0, 1, 1], [3, 2, 2]]
    assert (result[0, 0, 0], result[0, 1, 1]) == (5.0, 6.0)
    assert torch.equal(moved(entries, marks, [1], 1), entries), "two kinds that share a channel"


@pytest.mark.parametrize(("stride", "cells"), [(1, 5), (2, 2), (3, 1), (4, 1), (6, 0)])
def test_the_radius_is_rounded_down_so_that_it_joins_no_neighbouring_motifs(stride, cells):
    assert radius_in_cells(stride) == cells


def test_hardly_any_images_have_two_digits_within_the_radius():
    """Rounded up (three positions), one image of twelve of experiment=digitcircle scale=small would."""
    small = DigitCircle(read_glyphs("compact"), 40, 3, 5, 10, 12, 6, 1, min_gap=0.6)
    sites = small.draw_scenes(2000, np.random.default_rng(0)).sites
    middles = (sites[:, 2::2] + sites[:, 3::2] - 1) // 2 // 2
    close = dict.fromkeys((radius_in_cells(2), 3), 0)
    for item in range(2000):
        own = middles[sites[:, 0] == item]
        apart = np.abs(own[:, None] - own).max(axis=2)[np.triu_indices(len(own), 1)]
        for radius in close:
            close[radius] += bool((apart <= radius).any())
    assert close[2] < 0.01 * 2000
    assert close[3] > 0.06 * 2000


def true_maps(batch):
    """Each digit's channel is active in the middle of its glyph."""
    maps = torch.zeros(len(batch.labels), 10, 40, 40)
    for item, kind, top, bottom, left, right in batch.sites.tolist():
        maps[item, CHANNELS[kind][0], (top + bottom) // 2, (left + right) // 2] = 1 + kind
    return maps


def read(maps):
    """The label of a map by its geometry: counter-clockwise around the middle of all marks."""
    labels = []
    for item in maps:
        channel, row, column = (item > 0).nonzero().double().T
        angle = torch.atan2(column - column.mean(), row - row.mean())
        digits = (9 - channel)[angle.argsort()].long().tolist()
        first = digits.index(min(digits))
        labels.append(digits[first:] + digits[:first])
    return labels


@pytest.fixture
def batch():
    whole = DATA.training_batch(0)
    labels = [[digit for digit in row if digit >= 0] for row in whole.labels.tolist()]
    easy = [item for item, label in enumerate(read(true_maps(whole))) if label == labels[item]]
    assert len(easy) >= 12, "the geometry alone tells the label"
    return whole


def change(rng=0, radius=2, channels=CHANNELS):
    generator = np.random.default_rng(rng)
    return lambda *given: perturb(*given, channels=channels, exchanges=DATA, radius=radius, rng=generator)


def test_a_decoder_that_reads_the_map_follows_every_exchange(batch):
    maps = true_maps(batch)
    decoded = read(maps)
    perturbed = change()(batch, maps, decoded)
    labels = [[digit for digit in row if digit >= 0] for row in batch.labels.tolist()]
    right = [item for item in range(16) if decoded[item] == labels[item]]
    assert len(perturbed.labels) == len(right)
    for new, item in zip(perturbed.labels, right, strict=True):
        assert len(set(new) - set(labels[item])) == 1
        assert len(set(labels[item]) - set(new)) == 1
        assert new[0] == min(new)
    accuracy, number, examples = perturbation_accuracy([batch], lambda inputs: maps, read, change(), most=10)
    assert (accuracy, number) == (1.0, 10)
    assert len(examples.inputs) == len(examples.before) == len(examples.after) == PICTURED
    assert examples.decoded == examples.expected == perturbed.labels[:PICTURED]
    assert examples.labels == [labels[item] for item in right[:PICTURED]]
    assert all((before != after).any() for before, after in zip(examples.before, examples.after, strict=True))


def test_a_decoder_that_ignores_the_map_follows_none(batch):
    maps = true_maps(batch)
    labels = [[digit for digit in row if digit >= 0] for row in batch.labels.tolist()]
    accuracy, number, _ = perturbation_accuracy(
        [batch, batch], lambda inputs: maps, lambda maps: labels[: len(maps)], change(), most=100
    )
    assert (accuracy, number) == (0.0, 32)


def test_nothing_is_exchanged_where_no_kind_is_identified(batch):
    accuracy, number, examples = perturbation_accuracy(
        [batch], lambda inputs: true_maps(batch), read, change(channels={3: [6]}), most=10
    )
    assert np.isnan(accuracy)
    assert number == 0
    assert examples is None


def test_wrongly_decoded_items_are_left_out(batch):
    empty = [[] for _ in batch.labels]
    assert change()(batch, true_maps(batch), empty).labels == []


def test_the_draws_are_those_of_the_generator(batch):
    maps = true_maps(batch)
    one, two, other = (change(seed)(batch, maps, read(maps)) for seed in (1, 1, 2))
    assert one.labels == two.labels
    assert one.labels != other.labels
    assert isinstance(batch, MotifBatch)


def test_entries_name_the_channel_they_were_taken_from_and_the_arrays_can_be_drawn():
    before = np.zeros((2, 4, 5, 6))
    before[0, 1, 2, 3] = before[0, 2, 0, 0] = before[1, 0, 4, 5] = 1.0
    after = before.copy()
    after[0, 1, 2, 3], after[0, 3, 2, 3] = 0.0, 1.0
    labels, expected = [[1, 2], [0]], [[3, 2], [0]]
    arrays = exchange_arrays(np.zeros((2, 10, 12)), before, after, labels, expected, [[3, 2, 1], []])
    assert sorted(arrays["perturbed_entries"].tolist()) == [[0, 0, 0, 2, 2], [0, 2, 3, 1, 3], [1, 4, 5, 0, 0]]
    assert arrays["perturbed_cells"].tolist() == [5, 6]
    assert arrays["perturbed_labels"].tolist() == [[1, 2], [0, -1]]
    assert arrays["perturbed_predictions"].tolist() == [[3, 2, 1], [-1, -1, -1]]
    figure = exchanged_motifs(arrays | {"confusion": np.diag([1, 2, 3, 4, 0])})
    assert figure.axes[0].get_title() == "12 → 32\ndecoded 321"


def test_arrays_of_no_items():
    nothing = exchange_arrays(np.zeros((0, 4, 4)), np.zeros((0, 2, 4, 4)), np.zeros((0, 2, 4, 4)), [], [], [])
    assert nothing["perturbed_entries"].shape == (0, 5)
    assert nothing["perturbed_labels"].shape == (0, 0)
