"""The files of one artefact in a report, and its imports."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, no_rows, rows_frame
from sparseid.reporting import sections
from sparseid.reporting.collect import Collection
from sparseid.reporting.sections import write_artefact

STUB = '<svg viewBox="0 0 72 36"/>'
NOTHING = Collection(no_rows(), [], [])


@pytest.fixture
def drawn(monkeypatch):
    """List the figures that are drawn; their files hold next to nothing."""
    names = []

    def save(figure, folder, name, kinds):
        names.append(f"{folder.name}/{name}")
        for kind in kinds:
            (folder / f"{name}.{kind}").write_text(STUB)
        return [folder / f"{name}.{kind}" for kind in kinds]

    monkeypatch.setattr(sections, "save_figure", save)
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


@pytest.mark.parametrize("kinds", [("svg",), ("svg", "png")])
def test_a_figure_of_a_kind_that_is_not_asked_for_does_not_stay(tmp_path, drawn, kinds):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "sparling-fig4.png").write_bytes(b"of an earlier report")
    write_artefact(ARTEFACTS["sparling/fig4"], NOTHING, tmp_path, "small", kinds)
    assert {path.suffix[1:] for path in folder.iterdir()} == {"md", "tex", *kinds}
    assert all(path.read_text() == STUB for path in folder.glob("*.png"))


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
