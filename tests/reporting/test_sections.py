"""The files of one artefact in a report, and its imports."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, no_rows, rows_frame
from sparseid.reporting import figure_source, figures
from sparseid.reporting.collect import Collection, RunState
from sparseid.reporting.sections import write_artefact

STUB = '<svg viewBox="0 0 72 36"/>'
NOTHING = Collection(no_rows(), [], [])


@pytest.fixture
def drawn(monkeypatch):
    """List the figures that are drawn; their files hold next to nothing."""
    names = []

    def save(figure, folder, name, kinds, source):
        names.append(f"{folder.name}/{name}")
        for kind in kinds:
            (folder / f"{name}.{kind}").write_text(STUB + source)
        return [folder / f"{name}.{kind}" for kind in kinds]

    monkeypatch.setattr(figures, "save_figure", save)
    return names


def test_a_picture_of_saved_arrays_waits_for_a_run_that_has_them(tmp_path, drawn):
    saved = []
    entry = replace(ARTEFACTS["sparse_vae/fig4"], draw_arrays=lambda *_: "a figure" if saved else None)
    section = write_artefact(entry, NOTHING, tmp_path, "small")
    assert (drawn, section.figure) == ([], None)
    assert section.draw_with == "python run.py experiment=sparse_vae/fig4 scale=small"
    saved.append("plane")
    section = write_artefact(entry, NOTHING, tmp_path, "small")
    assert drawn == ["small/sparse_vae-fig4"]
    assert (section.figure.name, section.draw_with) == ("sparse_vae-fig4", "")


def test_without_rows_and_printed_numbers_there_is_no_picture(tmp_path, drawn):
    figure = tmp_path / "small" / "regcl-fig2.png"  # the paper prints none of its numbers
    figure.parent.mkdir(parents=True)
    figure.write_bytes(b"of rows that are gone")
    section = write_artefact(ARTEFACTS["regcl/fig2"], NOTHING, tmp_path, "small")
    assert (drawn, section.figure, figure.exists()) == ([], None, False)
    assert (tmp_path / "small" / "regcl-fig2.md").exists()


def test_a_figure_without_our_rows_is_drawn_only_if_no_other_scale_has_any(tmp_path, drawn, sparling_rows):
    entry = ARTEFACTS["sparling/fig4"]
    elsewhere = Collection(newest(rows_frame(sparling_rows(0))), [], [])
    section = write_artefact(entry, elsewhere, tmp_path, "paper")
    assert (drawn, section.figure, section.drawn_at) == ([], None, "small")
    assert write_artefact(entry, elsewhere, tmp_path, "small").drawn_at == ""
    assert drawn == ["small/sparling-fig4"]
    assert write_artefact(entry, NOTHING, tmp_path, "paper").drawn_at == ""
    assert drawn == ["small/sparling-fig4", "paper/sparling-fig4"]


def test_a_figure_of_numbers_that_the_paper_does_not_print_needs_our_rows(tmp_path, drawn):
    assert ARTEFACTS["tbr/fig3"].targets
    section = write_artefact(ARTEFACTS["tbr/fig3"], NOTHING, tmp_path, "paper")
    assert (drawn, section.figure, section.drawn_at) == ([], None, "")


def test_a_figure_is_drawn_again_only_if_its_rows_or_the_code_changed(tmp_path, drawn, sparling_rows, monkeypatch):
    entry = ARTEFACTS["sparling/fig4"]

    def write(rows, kinds=("svg",)):
        drawn.clear()
        section = write_artefact(entry, Collection(newest(rows_frame(rows)), [], []), tmp_path, "small", kinds)
        assert section.figure.width == 96
        return len(drawn)

    rows = sparling_rows(0)
    assert write(rows) == 1
    assert write([replace(row, commit="b" * 40, written="2026-05-02T10:00:00+00:00") for row in rows]) == 0
    assert write(rows, ("svg", "png")) == 1  # the other file is missing
    assert write([replace(rows[0], value=rows[0].value + 1e-9), *rows[1:]]) == 1
    assert write(sparling_rows(1)) == 1
    monkeypatch.setattr(figure_source, "_code", lambda: "changed")
    assert write(sparling_rows(1)) == 1
    assert write(sparling_rows(1)) == 0
    (tmp_path / "small" / "sparling-fig4.svg").write_text(STUB)  # a damaged file, or of an earlier version
    assert write(sparling_rows(1)) == 1


def test_a_picture_of_saved_arrays_is_drawn_again_with_the_file_of_arrays(tmp_path, drawn, sparling_rows):
    entry = replace(ARTEFACTS["sparling/fig4"], draw_arrays=lambda *_: "a figure")
    rows, folder = newest(rows_frame(sparling_rows(0, densities=1))), tmp_path / "run"
    folder.mkdir()
    runs = [RunState(folder.rename(tmp_path / rows["run"][0]), "small", "sparling", "done", "")]
    for values, expected in ((b"one", 1), (b"one", 0), (b"three", 1)):
        drawn.clear()
        if not (file := runs[0].path / "arrays.npz").exists() or file.read_bytes() != values:
            file.write_bytes(values)
        write_artefact(entry, Collection(rows, runs, []), tmp_path, "small")
        assert len(drawn) == expected


@pytest.mark.parametrize("kinds", [("svg",), ("svg", "png")])
def test_a_figure_of_a_kind_that_is_not_asked_for_does_not_stay(tmp_path, drawn, kinds):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "sparling-fig4.png").write_bytes(b"of an earlier report")
    write_artefact(ARTEFACTS["sparling/fig4"], NOTHING, tmp_path, "small", kinds)
    assert {path.suffix[1:] for path in folder.iterdir()} == {"md", "tex", *kinds}
    assert all(path.read_text().startswith(STUB) for path in folder.glob("*.png"))


def test_a_report_composes_no_preset_and_needs_no_torch(tmp_path):
    code = """if True:
        import sys
        from pathlib import Path
        from sparseid.reporting import page

        page.ARTEFACTS = {name: page.ARTEFACTS[name] for name in ("sparling/fig4", "regcl/study")}
        page.build_report(Path(sys.argv[1]))
        print([name for name in ("hydra", "torch") if name in sys.modules])
    """
    said = subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True)
    assert said.strip() == "[]"
    assert Path(tmp_path, "report", "index.html").is_file()
