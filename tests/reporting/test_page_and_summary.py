import json
import subprocess
import sys

import numpy as np
import pytest

from sparseid.errors import InputError
from sparseid.reporting.page import build_report
from sparseid.reporting.summary import finish_artefact, finish_run
from sparseid.training.rows import write_rows


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
    assert f"Report:  {tmp_path / 'report' / 'index.html'}" in said.splitlines()
    assert "small/run/confusion.svg" in (tmp_path / "report" / "index.html").read_text()


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
    assert f"diverged: {finished / 'small' / 'sparling' / 'bad'} loss <NaN>" in said
    assert "not used: " in said
    assert (finished / "report" / "small" / "sparling-fig4.svg").is_file()
    with pytest.raises(InputError):
        finish_artefact("sparling/fig99", finished, "small")


def test_the_page_names_what_failed_and_what_is_missing_and_needs_no_network(finished):
    page = build_report(finished).read_text()
    assert "1 diverged" in page
    assert "1 unreadable" in page
    assert "Could not be used" in page
    assert "loss &lt;NaN&gt;" in page
    assert "missing" in page
    assert "://" not in page
    tables = sorted(path.name for path in (finished / "report" / "small").glob("*.tex"))
    assert tables == ["digitcircle.tex", "sparling-fig3.tex", "sparling-fig4.tex"]
    for kind in ("md", "png", "svg"):
        assert (finished / "report" / "small" / f"sparling-fig3.{kind}").is_file()


def test_the_report_renders_from_nothing(tmp_path):
    page = build_report(tmp_path / "outputs").read_text()
    assert "No run has been made yet" in page
    assert "scale=small: not comparable" in page


def test_reporting_imports_quickly_and_without_torch_or_hydra():
    code = (
        "import sys, sparseid.reporting.summary; "
        "print([name for name in ('torch', 'hydra', 'pytorch_lightning', 'matplotlib.pyplot') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
