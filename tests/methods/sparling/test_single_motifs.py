import numpy as np
import pytest
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.motifs import SingleMotifTest
from sparseid.methods.sparling.single_motifs import single_motif_errors, strongest


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
