"""Pictures of a Sparling run: exchanged motifs (figure 6), and confusion where channels outnumber kinds (figure 8)."""

import numpy as np
import pytest

from sparseid.papers.registry import run_figures
from sparseid.papers.rows import rows_frame
from sparseid.papers.sparling.run_pictures import confusion_matrix


def perturbed(items=3, cells=(20, 20), size=(40, 40)):
    """Arrays of a run in whose maps a motif of every item was exchanged, 3 for 5; the second one is decoded wrongly."""
    unmoved = [(item, 2, 0, 7, 7) for item in range(items)]
    moved = [(item, 9, 0, 3, 5) for item in range(items)]
    labels = np.array([[7, 3, -1]] * items)
    expected = np.array([[7, 5, -1]] * items)
    predictions = np.where(np.arange(items)[:, None] == 1, labels, expected)
    return {
        "perturbed_images": np.zeros((items, *size)),
        "perturbed_cells": np.array(cells),
        "perturbed_entries": np.array(unmoved + moved).reshape(-1, 5),
        "perturbed_labels": labels,
        "perturbed_expected": expected,
        "perturbed_predictions": predictions,
        "confusion": np.diag([*range(1, 11), 0]),
    }


def drawn(arrays):
    return run_figures("sparling", rows_frame([]), arrays, "small")


@pytest.mark.parametrize(("cells", "size"), [((20, 20), (40, 40)), ((160, 1), (64, 160))])
def test_exchanges_show_where_a_motif_was_exchanged_and_what_was_decoded(cells, size):
    figure = drawn(perturbed(cells=cells, size=size))["exchanges"]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["73 → 75", "73 → 75\ndecoded 73", "73 → 75"]
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["3→5"]
    kept, moved = (points.get_offsets()[0] for points in axes.collections)
    if cells[1] == 1:
        assert (kept[0], moved[0]) == (2.0, 9.0)  # the frames
    else:
        assert (kept.tolist(), moved.tolist()) == ([0.5, 4.5], [0.5, 18.5])  # the middles of their cells
    figure.draw_without_rendering()


def test_a_run_without_exchanges_draws_none():
    assert "exchanges" not in drawn(perturbed(items=0))
    assert "exchanges" in drawn(perturbed(items=9))
    assert "exchanges" not in drawn({"confusion": np.eye(4, dtype=int)})


def test_channels_of_one_kind_stand_together_where_there_are_more_channels_than_kinds():
    confusion = np.array([[60, 0, 20, 0, 20], [0, 90, 0, 0, 10], [1, 0, 3, 4, 0]])
    axes = confusion_matrix(confusion, ["lparen", "x"]).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["#3", "#0/#2", "#1", "missed"]
    assert [label.get_text().split("  ")[0] for label in axes.get_yticklabels()] == ["(", "x", "no motif"]
    assert {text.get_text() for text in axes.texts} >= {"80", "90"}
    one_each = confusion_matrix(np.eye(4, dtype=int), ["0", "1", "2"]).axes[0]
    assert [label.get_text() for label in one_each.get_xticklabels()] == ["#0", "#1", "#2", "missed"]


def test_shares_of_all_sizes_are_written_plainly():
    confusion = np.array([[4, 0, 0], [0, 0, 0], [99_000, 990, 0]])
    [axes] = confusion_matrix(confusion, ["0", "1"]).axes
    written = [label.get_text() for label in axes.get_yticklabels()]
    assert written == ["0  (0.004 %)", "1  (none)", "no motif  (100.0 %)"]
