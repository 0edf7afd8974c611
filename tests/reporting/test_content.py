"""A report makes again only what is out of date, and shows the same as one made from nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pytest

from sparseid.papers.claims import ClaimResult, Finding
from sparseid.papers.presets import preset_recipes
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import no_rows
from sparseid.reporting import content, sections
from sparseid.reporting.collect import Collection, newest, rows_frame
from sparseid.reporting.content import Content, keep_content, made_from, read_content
from sparseid.reporting.page import build_report
from sparseid.reporting.sections import write_artefact
from sparseid.reporting.tables import Line
from sparseid.training.rows import write_rows

STUB = '<svg viewBox="0 0 72 36"/>'
KEPT = Content(
    table=[Line(("FPE", "%", "1.48", "2.10", "3", "agrees"), "agrees")],
    claims=[
        ClaimResult("a", "FPE falls.", Finding("undecided", "FPE not measured", measured=False)),
        ClaimResult("b", "FNE rises.", Finding("holds", "FNE", 0.1 + 0.2, 1e-17)),
    ],
    verdicts={"agrees": 2, "missing": 1},
    older_commits=["b" * 40],
)


@pytest.fixture(autouse=True)
def stored(tmp_path, monkeypatch):
    """Give each test a store of its own."""
    monkeypatch.setattr(sections, "store", lambda scale: tmp_path / "store" / scale)
    return tmp_path / "store"


@pytest.fixture
def drawn(monkeypatch):
    """List the figures that are drawn; their files hold next to nothing."""
    names = []

    def save(figure, folder, name):
        names.append(f"{folder.name}/{name}")
        for kind in ("png", "svg"):
            (folder / f"{name}.{kind}").write_text(STUB)

    monkeypatch.setattr(sections, "save_figure", save)
    return names


@pytest.fixture
def run(tmp_path, sparling_rows):
    """Make a finished run."""

    def make(seed, scale="small", **fields):
        folder = tmp_path / scale / "sparling" / f"seed{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        write_rows(folder / "result.json", sparling_rows(seed, scale=scale, **fields))
        (folder / "status.json").write_text(json.dumps({"state": "done"}))

    return make


def _files(outputs):
    """Return the content of every file of a report, pages without the time of making."""
    made = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    files = {path.relative_to(outputs): path.read_bytes() for path in (outputs / "report").rglob("*") if path.is_file()}
    return {path: made.sub(b"", text) if path.suffix == ".html" else text for path, text in files.items()}


def _collection(rows):
    return Collection(newest(rows_frame(rows)), [], [])


def _write(collection, report, artefact="sparling/fig4", scale="small"):
    return write_artefact(ARTEFACTS[artefact], collection, report, scale)


def test_a_report_from_what_is_kept_is_the_one_from_nothing(tmp_path, run, drawn, stored):
    for seed in range(2):
        run(seed)
    build_report(tmp_path)
    first, figures = _files(tmp_path), sorted(drawn)
    rows_or_numbers = ["small/sparling-fig10"]  # its numbers are those of runs
    rows_or_numbers += [
        f"small/{name.replace('/', '-')}"
        for name, entry in ARTEFACTS.items()
        if entry.drawn(no_rows()) and entry.draw_arrays is None
    ]
    assert figures == sorted(rows_or_numbers)
    drawn.clear()
    build_report(tmp_path)
    assert drawn == []
    assert _files(tmp_path) == first
    shutil.rmtree(tmp_path / "report")
    shutil.rmtree(stored)
    build_report(tmp_path)
    assert sorted(drawn) == figures
    assert _files(tmp_path) == first


def test_a_further_run_draws_again_what_reads_it(tmp_path, run, drawn):
    run(0)
    run(0, scale="smoke")
    build_report(tmp_path)
    drawn.clear()
    run(1)
    build_report(tmp_path)
    of_digitcircle = [f"small/sparling-fig{number}" for number in (3, 4, 5, 6, 9, 10, 11)]
    assert sorted(drawn) == sorted(of_digitcircle)


def test_another_folder_draws_nothing_again(tmp_path, run, drawn):
    run(0)
    build_report(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(tmp_path / "small", other / "small")
    drawn.clear()
    build_report(other)
    assert drawn == []
    again = _files(other)
    assert {path for path in _files(tmp_path) if path.parts[0] == "report"} == set(again)
    drawn.clear()
    build_report(other)
    assert drawn == []


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("half")])
def test_a_store_with_a_file_that_is_not_whole_is_not_used(tmp_path, sparling_rows, drawn, stored, spoil):
    collection = _collection(sparling_rows(0))
    section = _write(collection, tmp_path / "one")
    spoil(stored / "small" / "sparling-fig4.png")
    assert _write(collection, tmp_path / "two") == replace(section, figure=ANY)
    assert len(drawn) == 2
    assert _write(collection, tmp_path / "three") == replace(section, figure=ANY)
    assert len(drawn) == 2


def test_a_store_that_cannot_be_written_is_done_without(tmp_path, sparling_rows, drawn, stored):
    stored.write_text("a file in its place")
    _write(_collection(sparling_rows(0)), tmp_path / "one")
    assert len(drawn) == 1


def test_a_picture_of_saved_arrays_waits_for_a_run_that_has_them(tmp_path, drawn):
    saved = []
    entry = replace(ARTEFACTS["sparse_vae/fig4"], draw_arrays=lambda *_: "a figure" if saved else None)
    section = write_artefact(entry, _collection([]), tmp_path, "small")
    assert (drawn, section.figure) == ([], None)
    assert section.draw_with == "python run.py experiment=sparse_vae/fig4 scale=small"
    saved.append("plane")
    for _ in range(2):
        section = write_artefact(entry, _collection([]), tmp_path, "small")
        assert drawn == ["small/sparse_vae-fig4"]
        assert (section.figure.name, section.draw_with) == ("sparse_vae-fig4", "")
    elsewhere = write_artefact(entry, _collection([]), tmp_path / "other", "small")
    assert elsewhere.figure is not None
    assert len(drawn) == 2  # what is not in the rows may be another there


def test_without_rows_and_printed_numbers_there_is_no_picture(tmp_path, run, drawn):
    figure = tmp_path / "small" / "regcl-fig2.png"  # the paper prints none of its numbers
    figure.parent.mkdir(parents=True)
    figure.write_bytes(b"of rows that are gone")
    section = _write(_collection([]), tmp_path, "regcl/fig2")
    assert (drawn, section.figure, figure.exists()) == ([], None, False)
    assert (tmp_path / "small" / "regcl-fig2.md").exists()


@pytest.mark.parametrize("kind", ["md", "tex", "png", "svg"])
def test_a_file_that_is_gone_or_altered_is_made_again(tmp_path, sparling_rows, drawn, stored, kind):
    collection = _collection(sparling_rows(0))
    section = _write(collection, tmp_path)
    path = tmp_path / "small" / f"sparling-fig4.{kind}"
    whole = path.read_bytes()
    for spoil in (path.unlink, lambda: path.write_bytes(whole[:-1])):
        spoil()
        shutil.rmtree(stored)
        assert _write(collection, tmp_path) == section
        assert path.read_bytes() == whole
    assert len(drawn) == 3


def test_what_is_read_back_is_what_was_made(tmp_path):
    written = tmp_path / "table.md"
    written.write_text("a table")
    kept = tmp_path / ".table.json"
    keep_content(kept, "inputs", [written], KEPT)
    assert read_content(kept, "inputs", [written]) == KEPT
    assert read_content(kept, "other inputs", [written]) is None
    assert read_content(kept, "inputs", []) is None
    written.write_text("another")
    assert read_content(kept, "inputs", [written]) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"made_from": "inputs", "files": {}}', '{"made_from": "inputs"}'])
def test_what_cannot_be_read_was_not_kept(tmp_path, text):
    kept = tmp_path / ".table.json"
    assert read_content(kept, "inputs", []) is None
    kept.write_text(text)
    assert read_content(kept, "inputs", []) is None


def test_any_change_of_rows_their_order_or_the_artefact_is_another_input(sparling_rows):
    frame = _collection(sparling_rows(0)).rows
    first = made_from("sparling/fig4", "small", [frame])
    assert made_from("sparling/fig4", "small", [frame.copy()]) == first
    others = [
        made_from("sparling/fig3", "small", [frame]),
        made_from("sparling/fig4", "paper", [frame]),
        made_from("sparling/fig4", "small", [frame, frame]),
        made_from("sparling/fig4", "small", [frame.iloc[::-1]]),
        made_from("sparling/fig4", "small", [frame.assign(commit="c" * 40)]),
        made_from("sparling/fig4", "small", [frame.assign(value=frame["value"] + 1e-15)]),
    ]
    assert len({first, *others}) == 7


def test_other_code_or_targets_make_all_again(tmp_path, sparling_rows, drawn, monkeypatch):
    collection = _collection(sparling_rows(0))
    _write(collection, tmp_path)
    asked = []
    monkeypatch.setattr(content, "of_code", lambda *code: asked.append(code) or "another")
    _write(collection, tmp_path)
    assert len(drawn) == 2
    (names, libraries), *_ = asked
    assert {"papers", "reporting", "metrics"} <= set(names)  # the targets are files of papers
    assert "matplotlib" in libraries


def test_rows_that_a_claim_compares_with_count(tmp_path, sparling_rows, drawn):
    """A claim about figure 7 compares it with figure 6."""
    assert ARTEFACTS["tbr/fig7"].compared_with == ["tbr/fig6"]
    own, other = (next(iter(preset_recipes(name, "small"))) for name in ("tbr/fig7", "tbr/fig6"))
    assert own not in preset_recipes("tbr/fig6", "small")
    rows = sparling_rows(0, densities=1, paper="tbr", recipe=own)
    for compared in ([], sparling_rows(0, densities=1, paper="tbr", recipe=other)):
        _write(_collection(rows + compared), tmp_path, "tbr/fig7")
    assert len(drawn) == 2
    _write(_collection(rows + compared + sparling_rows(0, densities=1)), tmp_path, "tbr/fig7")
    assert len(drawn) == 2, "rows of a paper that it does not read"


def test_a_report_with_nothing_to_make_imports_neither_matplotlib_nor_hydra(tmp_path):
    code = f"""if True:
        import sys
        from pathlib import Path
        from sparseid.papers import presets
        from sparseid.reporting import collect, content, page, sections

        presets.of_code = content.of_code = lambda *code: "the same"  # also while somebody edits it
        collect.measured_files = list
        page.ARTEFACTS = {{name: page.ARTEFACTS[name] for name in ("sparling/fig4", "digitcircle")}}
        sections.save_figure = lambda figure, folder, name: [
            (folder / f"{{name}}.{{kind}}").write_text({STUB!r}) for kind in ("png", "svg")
        ]
        page.build_report(Path(sys.argv[1]))
        print([name for name in ("matplotlib", "scipy", "hydra", "torch") if name in sys.modules])
    """
    environment = {**os.environ, "SPARSEID_DATA": str(tmp_path / "data")}
    command = [sys.executable, "-c", code, str(tmp_path)]
    first, second = (subprocess.check_output(command, env=environment, text=True) for _ in range(2))
    assert "matplotlib" in first
    assert "hydra" in first
    assert second.strip() == "[]"
    assert Path(tmp_path, "report", "index.html").is_file()
