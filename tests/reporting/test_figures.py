"""Files of figures: the same bytes each time, with the digest of what they were drawn from."""

from matplotlib.figure import Figure

from sparseid.reporting.figures import is_saved, save_figure


def figure():
    made = Figure(figsize=(2, 1))
    made.subplots().plot([0, 1], [1, 0])
    return made


def test_files_name_their_source_and_the_same_figure_has_the_same_bytes(tmp_path):
    first = [path.read_bytes() for path in save_figure(figure(), tmp_path, "a", source="0af3")]
    assert [path.read_bytes() for path in save_figure(figure(), tmp_path, "a", source="0af3")] == first
    assert is_saved(tmp_path, "a", ["svg", "png"], "0af3")
    assert not is_saved(tmp_path, "a", ["svg", "png"], "0af4")
    (tmp_path / "a.png").unlink()
    assert not is_saved(tmp_path, "a", ["svg", "png"], "0af3")
    assert is_saved(tmp_path, "a", ["svg"], "0af3")


def test_files_without_a_source_are_those_of_no_source(tmp_path):
    save_figure(figure(), tmp_path, "a")
    assert not is_saved(tmp_path, "a", ["svg"], "0af3")
