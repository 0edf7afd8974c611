"""Training curves of own runs, read and drawn."""

import pytest

from sparseid.reporting.curves import draw_curves, read_curves

HEADER = "step,samples,name,value\n"


@pytest.fixture
def run(tmp_path):
    """Make the folder of a run with curves."""

    def make(name, lines):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "metrics.csv").write_text(HEADER + lines)
        return folder

    return make


def test_values_are_those_of_the_file_and_members_are_told_apart(run):
    found = read_curves(run("a", "1,32,loss,2.5\n2,64,val_r2/seed0,0.5\n2,64,val_r2/seed7,0.25\n3,96,loss,nan\n"))
    assert found[["samples", "name", "seed", "value"]].to_numpy().tolist() == [
        [32, "loss", "", 2.5],
        [64, "val_r2", "0", 0.5],
        [64, "val_r2", "7", 0.25],
    ]


@pytest.mark.parametrize("text", ["", "nothing\n", HEADER, HEADER + '1,2,"a\n', "\0\n1"])
def test_a_file_without_curves_has_none(tmp_path, text):
    (tmp_path / "metrics.csv").write_text(text)
    assert read_curves(tmp_path).empty
    assert draw_curves({"": [tmp_path]}) is None


def test_a_missing_file_has_none(tmp_path):
    assert draw_curves({"": [tmp_path]}) is None


def test_a_panel_for_each_name_and_a_colour_for_each_label(run):
    lines = "".join(
        f"{step},{10 * step},loss,{step}\n{step},{10 * step},val_mse/seed0,{10.0**step}\n" for step in (1, 2, 3)
    )
    figure = draw_curves({"S=1": [run("a", lines), run("b", lines)], "S=2": [run("c", lines)]})
    loss, validation = [axes for axes in figure.axes if axes.axison]
    assert (loss.get_title(), validation.get_title()) == ("loss", "validation mse")
    assert [line.get_xydata().tolist() for line in loss.lines] == [[[10, 1], [20, 2], [30, 3]]] * 3
    first, second, third = (line.get_color() for line in loss.lines)
    assert first == second != third
    assert (loss.get_yscale(), validation.get_yscale()) == ("linear", "log")
    assert [text.get_text() for text in figure.legends[0].texts] == ["S=1", "S=2"]


def test_the_loss_and_validations_come_first_of_more_curves_than_fit(run):
    names = [*(f"part{number}" for number in range(9)), "val_loss", "loss"]
    figure = draw_curves({"": [run("a", "".join(f"1,10,{name},1\n" for name in names))]})
    assert [axes.get_title() for axes in figure.axes[:3]] == ["loss", "validation loss", "part0"]
    assert len(figure.axes) == 6
    assert not figure.legends
