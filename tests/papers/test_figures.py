import numpy as np
import pytest

from sparseid.papers.registry import ARTEFACTS, run_figures
from sparseid.papers.rows import rows_frame
from sparseid.papers.sparling.run_pictures import _marks
from sparseid.reporting.figures import save_figure


def example_arrays(digits=10, images=3, canvas=20, stride=2):
    cells = canvas // stride
    maps = np.zeros((images, digits, cells, cells), np.float32)
    maps[0, 3, 2, 2] = 1.0
    return {
        "example_images": np.zeros((images, canvas, canvas), np.float32),
        "example_maps": maps,
        "example_sites": np.array([[0, 3, 2, 9, 2, 9], [1, 5, 4, 11, 6, 12]]),
        "example_labels": np.array([[3, -1], [5, -1], [-1, -1]]),
        "example_predictions": np.array([[3, -1], [-1, -1], [-1, -1]]),
        "confusion": np.diag([*range(1, digits + 1), 0]),
        "density_trace": np.array([[2000, 0.12, 0.99, 0.5], [4000, 0.09, 0.98, 0.99]]),
    }


def texts(figure):
    return " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def test_a_run_draws_every_picture_whose_arrays_it_saved(sparling_rows):
    rows = rows_frame(sparling_rows(0))
    assert set(run_figures("sparling", rows, example_arrays(), "small")) == {
        "motifs",
        "confusion",
        "training",
        "density",
    }
    assert set(run_figures("sparling", rows, {}, "small")) == {"density"}
    assert run_figures("sparling", rows_frame(sparling_rows(0, densities=1)), {}, "small") == {}


def test_motif_picture_shows_label_prediction_and_channel_legend(sparling_rows):
    shown = texts(run_figures("sparling", rows_frame([]), example_arrays(), "small")["motifs"])
    assert "5 → nothing" in shown
    assert "#3: 3" in shown


def sound_arrays():
    """Two channels stand for one kind, one for none; a label's token is no kind."""
    maps = np.zeros((2, 4, 30, 1), np.float32)
    maps[0, 3, 5] = 1.0
    return example_arrays() | {
        "example_images": np.zeros((2, 8, 60), np.float32),
        "example_maps": maps,
        "example_sites": np.array([[0, 1, 8, 14, 0, 1], [1, 0, 40, 60, 0, 1]]),
        "example_labels": np.array([[2], [0]]),
        "example_predictions": np.array([[2], [4]]),
        "confusion": np.array([[3, 2, 0, 0, 0], [0, 0, 0, 5, 1], [0, 0, 1, 0, 0]]),
        "channel_kinds": np.array([0, 0, -1, 1]),
        "kind_names": np.array(["ba", "da"]),
        "token_names": np.array(["x", "y", "z"]),
    }


def test_motifs_of_sounds_are_drawn_over_their_spectrograms_with_the_names_of_kinds_and_tokens():
    figure = run_figures("sparling", rows_frame([]), sound_arrays(), "small")["motifs"]
    shown = texts(figure)
    assert all(text in shown for text in ("z → z", "x → ?", "#1: ba", "#2: none", "#3: da"))
    [dot] = figure.axes[0].collections
    assert dot.get_offsets()[0, 0] == pytest.approx(10.5)  # the middle of cell 5, two frames each
    figure.draw_without_rendering()


def test_the_confusion_matrix_names_the_kinds():
    shown = texts(run_figures("sparling", rows_frame([]), sound_arrays(), "small")["confusion"])
    assert "ba  (" in shown
    assert "no motif" in shown


@pytest.mark.parametrize("digits", [1, 3, 10])
def test_the_confusion_matrix_has_room_for_its_words(digits):
    figure = run_figures("sparling", rows_frame([]), {"confusion": np.eye(digits + 1, dtype=int)}, "small")["confusion"]
    figure.draw_without_rendering()
    [axes] = figure.axes
    for words in (axes.title, axes.xaxis.label, axes.yaxis.label):
        box = words.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_marks_keep_the_strongest_of_a_neighbourhood_and_sit_in_the_middle_of_their_cell():
    maps = np.zeros((2, 10, 10), np.float32)
    maps[0, 2, 2], maps[1, 2, 3], maps[1, 8, 8] = 1.0, 2.0, 0.5
    channels, rows, columns = _marks(maps, stride=2)
    assert channels.tolist() == [1, 1]
    assert rows.tolist() == [4.5, 16.5]
    assert columns.tolist() == [6.5, 16.5]


@pytest.mark.parametrize("n_seeds", [0, 1, 3])
@pytest.mark.parametrize("name", ["sparling/fig3", "sparling/fig4"])
def test_artefact_figures_draw_from_no_one_and_several_seeds(name, n_seeds, sparling_rows):
    entry = ARTEFACTS[name]
    rows = rows_frame([row for seed in range(n_seeds) for row in sparling_rows(seed)])
    shown = texts(entry.draw(rows, entry.targets, "small"))
    assert "paper (other scale)" in shown
    assert ("missing" in shown) == (n_seeds == 0 or name == "sparling/fig3")
    assert "paper (other scale)" not in texts(entry.draw(rows, entry.targets, "paper"))


def test_the_same_rows_give_the_same_files(tmp_path, sparling_rows):
    entry = ARTEFACTS["sparling/fig4"]
    rows = rows_frame(sparling_rows(0))
    first = [path.read_bytes() for path in save_figure(entry.draw(rows, entry.targets, "small"), tmp_path, "a")]
    second = [
        path.read_bytes() for path in save_figure(entry.draw(rows, entry.targets, "small"), tmp_path / "new", "a")
    ]
    assert first == second
