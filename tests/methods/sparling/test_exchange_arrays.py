import numpy as np

from sparseid.methods.sparling.exchange_arrays import exchange_arrays
from sparseid.papers.sparling.run_pictures import exchanged_motifs


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


def test_no_items():
    nothing = exchange_arrays(np.zeros((0, 4, 4)), np.zeros((0, 2, 4, 4)), np.zeros((0, 2, 4, 4)), [], [], [])
    assert nothing["perturbed_entries"].shape == (0, 5)
    assert nothing["perturbed_labels"].shape == (0, 0)
