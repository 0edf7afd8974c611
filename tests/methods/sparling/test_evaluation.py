import numpy as np
import pytest
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.motifs import SingleMotifTest
from sparseid.methods.sparling.binned import BinnedLabels, active_values
from sparseid.methods.sparling.evaluation import DecodedLabels
from sparseid.methods.sparling.single_motifs import single_motif_errors, strongest

END = 9


def test_decoded_labels_are_cut_at_the_end_token():
    seen = DecodedLabels(END)
    seen.add(torch.tensor([[1, 2, -1], [3, -1, -1]]), torch.tensor([[1, 2, END, 4], [4, END, END, END]]))
    values = {measured.metric: (measured.value, measured.n) for measured in seen.measurements()}
    assert values == {"e2ee": (50.0, 2), "exact_accuracy": (50.0, 2)}


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


class Named:
    """Single motifs of three kinds; the input is the kind."""

    kinds = 3
    single_motif_tests = (
        SingleMotifTest({"split": "all"}, "test"),
        SingleMotifTest({"split": "without"}, "test", (2,)),
        SingleMotifTest({"split": "other"}, "zeros"),
    )

    def single_motif_set(self, name, items):
        kinds = torch.arange(items) % 3 if name == "test" else torch.zeros(items, dtype=torch.int64)
        yield MotifBatch(kinds.float().view(-1, 1, 1, 1), kinds[:, None], torch.zeros(0, 6))


def test_every_test_of_single_motifs_has_its_row():
    def scores(inputs):
        kinds = inputs.flatten().long()
        kinds[:1] = 2  # the first item is taken for a 2
        return torch.nn.functional.one_hot((kinds + 1) % 4, 4).float()

    measured = {row.keys["split"]: row for row in single_motif_errors(Named(), 30, scores, 4)}
    assert measured["all"].value == pytest.approx(100 / 30)
    assert measured["without"].value == 0
    assert measured["other"].value == 0
    assert {(row.metric, row.unit, row.n) for row in measured.values()} == {("direct_error", "percent", 30)}


def test_logits_are_the_largest_entries():
    maps = torch.from_numpy(np.arange(24.0).reshape(2, 3, 2, 2))
    assert strongest(maps).tolist() == [[3, 7, 11], [15, 19, 23]]
