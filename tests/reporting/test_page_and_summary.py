import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from markupsafe import escape

from sparseid.errors import InputError
from sparseid.papers.registry import ARTEFACTS, PAPERS
from sparseid.papers.targets import load_targets
from sparseid.reporting.collect import collect
from sparseid.reporting.page import build_report
from sparseid.reporting.summary import finish_artefact, finish_run
from sparseid.reporting.tables import LEGEND, OLDER_CODE
from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder


@pytest.fixture
def finished(tmp_path, sparling_rows):
    """A folder of runs: three done, one diverged, one unreadable."""
    for seed in range(3):
        folder = tmp_path / "small" / "sparling" / f"digitcircle-seed{seed}"
        folder.mkdir(parents=True)
        write_rows(folder / "result.json", sparling_rows(seed))
        (folder / "status.json").write_text(json.dumps({"state": "done", "message": ""}))
        np.savez_compressed(folder / "arrays.npz", confusion=np.eye(11, dtype=int))
    for name, state in (("bad", "diverged"), ("broken", "done")):
        folder = tmp_path / "small" / "sparling" / name
        folder.mkdir()
        (folder / "status.json").write_text(json.dumps({"state": state, "message": "loss <NaN>"}))
    return tmp_path


def test_a_finished_run_shows_its_table_figures_and_report(tmp_path, sparling_rows, capsys):
    folder = tmp_path / "small" / "sparling" / "only-run"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0))
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    np.savez_compressed(folder / "arrays.npz", confusion=np.eye(11, dtype=int))
    finish_run(folder)
    said = capsys.readouterr().out
    assert "scale=small: not comparable with the paper's numbers" in said.splitlines()
    assert "1.48 [0.07, 4.23]" in said
    assert "cuts above final" in said
    for kind in ("png", "svg"):
        assert (folder / "figures" / f"confusion.{kind}").stat().st_size > 1000
        assert (folder / "figures" / f"density.{kind}").is_file()
    assert f"Figures: {folder / 'figures'}" in said.splitlines()
    assert f"Report:  {tmp_path / 'report' / 'index.html'}" in said.splitlines()
    assert "small/sparling-run/confusion.svg" in (tmp_path / "report" / "sparling.html").read_text()


def test_figures_are_announced_only_if_there_are_any(tmp_path, sparling_rows, capsys):
    folder = tmp_path / "small" / "no_such_paper" / "only-run"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0))
    finish_run(folder, page=False)
    assert (folder / "figures").is_dir()
    assert "Figures:" not in capsys.readouterr().out


def test_a_run_that_stopped_above_the_last_density_says_so(tmp_path, sparling_rows, capsys):
    folder = tmp_path / "small" / "sparling" / "only-run"
    folder.mkdir(parents=True)
    rows = sparling_rows(0)
    ratios = {row.keys["steps_above"]: 1.6 / 0.75 ** row.keys["steps_above"] for row in rows}
    ratio = next(row for row in rows if row.metric == "e2ee")
    told = [replace(ratio, metric="density_over_minimum", unit="ratio", value=of, keys=ratio.keys | {"steps_above": at})
            for at, of in ratios.items()]  # fmt: skip
    write_rows(folder / "result.json", [*rows, *told])
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    finish_run(folder, page=False)
    said = capsys.readouterr().out
    assert re.search(r"density / lowest possible.* 1\.60 ", said)
    assert "0 of 1" in said
    assert "ended early" in said
    by_density = said[said.index("cuts above final") :]
    assert re.search(r"\n\W*1\W", by_density)
    assert not re.search(r"\n\W*0\W", by_density)


def test_at_paper_scale_numbers_are_compared(tmp_path, sparling_rows, capsys):
    folder = tmp_path / "paper" / "sparling" / "only-run"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0, scale="paper"))
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    finish_run(folder)
    said = capsys.readouterr().out
    assert "not comparable" not in said
    assert "agrees" in said
    assert "differs by" in said


def test_a_finished_sweep_shows_seeds_claims_and_what_is_not_there(finished, capsys):
    finish_artefact("sparling/fig4", finished, "small")
    said = capsys.readouterr().out
    assert "undecided  As the density falls, FPE falls." in said
    assert "2.10 [2.00, 2.20]" in said
    assert "diverged" not in said  # by another command, whose end said so; the report lists it
    assert "not used: " in said
    assert (finished / "report" / "small" / "sparling-fig4.svg").is_file()
    assert f"Figures: {finished / 'report' / 'small'}" in said.splitlines()
    with pytest.raises(InputError):
        finish_artefact("sparling/fig99", finished, "small")


def test_a_sweep_with_other_settings_shows_its_own_runs_and_compares_nothing(
    tmp_path, sparling_rows, capsys, monkeypatch
):
    page = tmp_path / "report" / "index.html"
    monkeypatch.setattr("sparseid.reporting.summary.build_report", lambda *given, **named: page)
    for number, recipe in enumerate(("of the preset", "other")):
        folder = tmp_path / "paper" / "sparling" / f"run{number}"
        folder.mkdir(parents=True)
        rows = sparling_rows(number, scale="paper")
        write_rows(folder / "result.json", rows if number == 0 else [replace(row, recipe=recipe) for row in rows])
        (folder / "status.json").write_text(json.dumps({"state": "done"}))
    finish_artefact("sparling/fig3", tmp_path, "paper", frozenset({rows[0].recipe}))
    assert "with other settings" not in capsys.readouterr().out
    finish_artefact("sparling/fig3", tmp_path, "paper", frozenset({"other"}))
    said = capsys.readouterr().out
    assert "with other settings than the preset's" in said
    assert "not comparable" in said
    assert not {"agrees", "differs", "missing"} & set(said.split())
    kept = tmp_path / "report" / "paper" / "sparling-fig3-other-settings.md"
    assert f"Table:   {kept}" in said.splitlines()
    assert "not comparable" in kept.read_text()
    assert "with other settings than the preset's: DigitCircle, Sparling MT" in kept.read_text()


def test_a_sweep_outside_of_the_tables_shows_what_its_runs_measured_or_nothing(
    tmp_path, sparling_rows, capsys, monkeypatch
):
    page = tmp_path / "report" / "index.html"
    monkeypatch.setattr("sparseid.reporting.summary.build_report", lambda *given, **named: page)
    folder = tmp_path / "small" / "sparling" / "run"
    folder.mkdir(parents=True)
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    write_rows(folder / "result.json", [])
    finish_artefact("sparling/fig3", tmp_path, "small", frozenset({"other"}))
    said = capsys.readouterr().out
    assert "Table:" not in said
    assert "undecided" not in said
    assert "updating the report" in said
    own = {"domain": "mlpmixture", "method": "ours", "alpha": 0.05, "dim": 3, "structure": "other", "mask": "mine"}
    [row, *_] = sparling_rows(0)
    ours = replace(row, paper="ddl", recipe="other", keys=own, metric="mcc", value=0.4426, unit="correlation")
    write_rows(folder / "result.json", [ours])
    finish_artefact("ddl/table5", tmp_path, "small", frozenset({"other"}))  # none of its cells
    said = capsys.readouterr().out
    assert "0.443" in said
    assert "mine" in said
    assert "undecided" not in said
    assert "0.443" in (tmp_path / "report" / "small" / "ddl-table5-other-settings.md").read_text()


def test_a_cell_of_a_sweep_leaves_the_report_alone(tmp_path, sparling_rows, capsys):
    folder = tmp_path / "small" / "sparling" / "one-of-many"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0))
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    finish_run(folder, page=False)
    said = capsys.readouterr().out
    assert "1.48 [0.07, 4.23]" in said
    assert "Report:" not in said
    assert (folder / "figures" / "density.svg").is_file()
    assert not (tmp_path / "report").exists()


def test_the_report_removes_its_pages_of_papers_that_are_gone_and_no_other_file(finished):
    report = build_report(finished, papers=["sparling"]).parent
    before = {path.name for path in report.glob("*.html")}
    page = (report / "sparling.html").read_text()
    (report / "toy.html").write_text(page.replace("sparseid, sparling.html", "sparseid, toy.html"))
    mine = {"copy of sparling.html": page, "notes.html": "<p>toy.html</p>", "empty.html": ""}
    for name, text in mine.items():
        (report / name).write_text(text)
    build_report(finished, papers=["sparling"])
    assert {path.name for path in report.glob("*.html")} == before | set(mine)
    assert all((report / name).read_text() == text for name, text in mine.items())


def test_a_page_is_written_alone_and_the_start_page_has_what_was_last_written_of_the_others(tmp_path):
    report = build_report(tmp_path, "smoke", papers=["tbr"]).parent
    assert sorted(path.name for path in report.glob("*.html")) == ["index.html", "tbr.html"]
    start = (report / "index.html").read_text()
    assert "Sparling" in start
    assert "<code>make report</code> writes these pages" in start
    assert 'href="sparling.html"' not in start
    build_report(tmp_path, "smoke")
    whole, page = (report / "index.html").read_text(), (report / "sparling.html").read_bytes()
    assert "<code>make report</code>" not in whole
    build_report(tmp_path, "smoke", papers=["tbr"])
    assert (report / "sparling.html").read_bytes() == page
    lines = [text.partition("<tbody>")[2] for text in (whole, (report / "index.html").read_text())]
    assert lines[0].partition("Generated")[0] == lines[1].partition("Generated")[0] != ""
    (report / "sparling.json").write_text('{"paper": "sparling"}')  # of another version of the code
    build_report(tmp_path, "smoke", papers=["tbr"])
    assert 'href="sparling.html"' not in (report / "index.html").read_text()


def test_figures_that_were_not_all_drawn_are_drawn_again(tmp_path, sparling_rows, monkeypatch):
    """A process that is killed while it draws leaves no folder of figures, which would mean that all are drawn."""
    folder = tmp_path / "small" / "sparling" / "killed"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0))
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    np.savez_compressed(folder / "arrays.npz", confusion=np.eye(11, dtype=int))
    script = (
        "import os, sys, pathlib, matplotlib.figure as figure\n"
        "from sparseid.reporting.summary import finish_run\n"
        "save, calls = figure.Figure.savefig, []\n"
        "def savefig(*arguments, **options):\n"
        "    save(*arguments, **options)\n"
        "    calls.append(1)\n"
        "    if len(calls) == 2:\n"
        "        os.kill(os.getpid(), 9)\n"
        "figure.Figure.savefig = savefig\n"
        "finish_run(pathlib.Path(sys.argv[1]), page=False)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, folder]).returncode == -signal.SIGKILL
    assert not (folder / "figures").exists()
    for _ in range(2):  # the second time over complete ones
        finish_run(folder, page=False)
        names = {f"{name}.{kind}" for name in ("confusion", "density") for kind in ("png", "svg")}
        assert names <= {path.name for path in (folder / "figures").iterdir()}
        assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


def test_incomplete_files_of_a_killed_report_are_removed_when_they_are_old(finished):
    report = finished / "report" / "small"
    report.mkdir(parents=True)
    for name in (".old.md.abc.tmp", ".new.md.abc.tmp"):
        (report / name).touch()
    os.utime(report / ".old.md.abc.tmp", (0, 0))
    build_report(finished, papers=["sparling"])
    assert [path.name for path in report.glob(".*.tmp")] == [".new.md.abc.tmp"]


@pytest.mark.parametrize("killed_after", ["old aside", "moved out"])
def test_a_replacement_that_was_killed_hides_no_result(finished, killed_after):
    folder = finished / "small" / "sparling" / "digitcircle-seed0"
    remake = RunFolder(folder).remake.path
    shutil.copytree(folder, remake)
    remake.rename(folder.with_name(f".{folder.name}.remade"))
    if killed_after == "old aside":
        folder.rename(folder.with_name(f".{folder.name}.replaced"))
    assert [run.state for run in collect(finished).runs if run.path == folder] == ["done"]
    assert RunFolder(folder).state == "done"


def test_the_pages_name_what_failed_and_what_is_missing_and_need_no_network(finished):
    start = build_report(finished).read_text()
    page = (finished / "report" / "sparling.html").read_text()
    for html in (start, page):
        assert "1 diverged" in html
        assert "1 unreadable" in html
        assert "Could not be used" in html
    assert "loss &lt;NaN&gt;" in page
    assert "missing" in page
    for path in (finished / "report").glob("*.html"):
        html = path.read_text()
        for paper in PAPERS.values():  # a link loads nothing
            html = html.replace(f'<a href="{paper.targets.url}">', "")
        assert "://" not in html, path.name
    tables = sorted(path.name for path in (finished / "report" / "small").glob("*.tex"))
    assert tables == sorted(f"{name.replace('/', '-')}.tex" for name in ARTEFACTS)
    for kind in ("md", "svg"):
        assert (finished / "report" / "small" / f"sparling-fig3.{kind}").is_file()


def test_every_artefact_of_every_paper_has_a_line_on_the_start_page(finished):
    start = build_report(finished).read_text()
    for paper in PAPERS:
        for name in load_targets(paper).titles:
            assert f">{name}</a>" in start
    assert "3 / 5" in start  # three of the five seeds of figure 10 are there
    assert "3 / 23" in start  # figure 3 reads 18 runs of the other two domains, too


def test_the_start_page_names_open_claims_and_scales_without_runs_are_folded_last(finished):
    stopped = finished / "paper" / "sparling" / "stopped"
    stopped.mkdir(parents=True)
    (stopped / "status.json").write_text(json.dumps({"state": "preempted", "message": ""}))
    start = build_report(finished, papers=["sparling"])
    page, html = (start.parent / "sparling.html").read_text(), start.read_text()
    assert f'<a href="{PAPERS["sparling"].targets.url}">' in html
    named = re.findall(r'<a href="sparling.html#(small-sparling-\w+-[\w-]+)">([^<]+)</a>', html)
    assert len(named) == len(set(named)) > 20
    assert all(f'<li id="{anchor}">' in page for anchor, _ in named)
    assert page.index('<h2 id="small">') < page.index('<h2 id="paper">') < page.index("No finished run at this scale")


def test_what_is_not_built_yet_shows_what_the_paper_reports(finished, monkeypatch):
    ddl = PAPERS["ddl"]
    built = tuple(artefact for artefact in ddl.artefacts if artefact.id != "ddl/table1")
    monkeypatch.setitem(PAPERS, "ddl", replace(ddl, artefacts=built))
    build_report(finished, papers=["ddl"])
    page = (finished / "report" / "ddl.html").read_text()
    assert "0.833 ± 0.025" in page
    assert "Not built yet" in page
    assert "not checked yet" in page


def test_rows_of_older_code_are_marked_and_their_commit_is_named(tmp_path, sparling_rows):
    for seed, commit in enumerate("ab"):
        folder = tmp_path / "small" / "sparling" / f"seed{seed}"
        folder.mkdir(parents=True)
        dirty = seed == 1
        written = f"2026-05-0{seed + 1}T10:00:00+00:00"
        write_rows(folder / "result.json", sparling_rows(seed, commit=commit * 40, written=written, dirty=dirty))
        (folder / "status.json").write_text(json.dumps({"state": "done"}))
    build_report(tmp_path, papers=["sparling"])
    page = (tmp_path / "report" / "sparling.html").read_text()
    assert f"{escape(LEGEND[OLDER_CODE])}: <code>aaaaaaaaa</code>" in page
    assert page.count("uncommitted changes") == 1
    assert "2.05 [2.00, 2.10]\N{DAGGER}" in page


def test_verdicts_are_explained_beside_the_tables(finished):
    start = build_report(finished, papers=["sparling"])
    for path in (start, start.parent / "sparling.html"):
        page = path.read_text()
        for word, meaning in LEGEND.items():
            assert page.count(f">{word}</dt><dd>{escape(meaning)}</dd>") == 1
    text = (start.parent / "small" / "sparling-fig3.md").read_text()
    assert text.endswith(f"* not comparable: {LEGEND['not comparable']}\n* missing: {LEGEND['missing']}\n")
    assert "* agrees" not in text


def test_runs_with_other_settings_are_named_and_in_no_table(tmp_path, sparling_rows):
    folder = tmp_path / "small" / "sparling" / "wider"
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", sparling_rows(0, recipe="0" * 8, run="wider"))
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    build_report(tmp_path, papers=["sparling"])
    page = (tmp_path / "report" / "sparling.html").read_text()
    assert "Runs with other settings" in page
    assert "0 of 5 runs done" in page


def test_the_report_renders_from_nothing(tmp_path):
    assert "This folder has no runs yet" in build_report(tmp_path / "outputs").read_text()
    page = (tmp_path / "outputs" / "report" / "sparling.html").read_text()
    assert "scale=small: not comparable" in page
    assert "This folder has no run of this paper yet" in page
    page = (tmp_path / "outputs" / "report" / "sparse_vae.html").read_text()
    assert page.count("<code>python run.py experiment=sparse_vae/fig4 scale=small</code> starts the runs") == 1


def test_reporting_imports_quickly_and_without_torch_or_hydra():
    code = (
        "import sys, sparseid.reporting.summary; "
        "print([name for name in ('torch', 'hydra', 'pytorch_lightning', 'matplotlib.pyplot') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_saved_arrays_are_those_of_finished_runs_of_the_scale(finished):
    small = collect(finished).arrays("small")
    assert small("digitcircle-seed1")["confusion"].shape == (11, 11)
    assert small("bad") == small("unknown") == {}
    assert collect(finished).arrays("paper")("digitcircle-seed1") == {}
