"""``make reproduce-all SCALE=smoke`` from nothing, again, and stopped on its way."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = [sys.executable, str(ROOT / "scripts" / "reproduce.py"), "--scale", "smoke"]


def start(outputs, *arguments):
    command = [*SCRIPT, "--outputs", str(outputs), "trainer.threads=1", *arguments]
    # a shell lets what it starts in the background ignore Ctrl-C, and that would be inherited
    take = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **take)


def states(outputs):
    found = [json.loads(path.read_text())["state"] for path in outputs.glob("smoke/*/*/status.json")]
    return sorted(found)


def test_everything_is_made_once_and_reported(tmp_path):
    only = [word for name in ("digitcircle", "sparling/fig3", "sparling/fig4") for word in ("--only", name)]
    process = start(tmp_path, *only)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "all 2 runs done" in said
    assert "reads sparling/latex_ocr" in said
    assert said.count("\n=== ") == 3  # one run, the other one of the figures, the report
    assert states(tmp_path) == ["done", "done"]
    pages = "".join(path.read_text() for path in (tmp_path / "report").rglob("*.html"))
    for name in ("digitcircle", "sparling-fig3", "sparling-fig4"):
        assert name in pages
        assert re.search(r"\d", (tmp_path / "report" / "smoke" / f"{name}.md").read_text())

    before = {path: path.stat().st_mtime for path in tmp_path.glob("smoke/*/*/result.json")}
    process = start(tmp_path, *only)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert said.count("\n=== ") == 1  # the report
    assert {path: path.stat().st_mtime for path in tmp_path.glob("smoke/*/*/result.json")} == before


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopped_with_its_run(tmp_path, sent, code):
    process = start(tmp_path, "trainer.max_samples=4000000", "method.schedule.min_target=1.0", "--only", "digitcircle")
    while not any(tmp_path.glob("smoke/*/*/checkpoints/last.ckpt")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(sent)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code, said
    assert states(tmp_path) == ["preempted"]
    assert "the same command continues" in said
    assert "Traceback" not in said


def test_mistake_in_a_setting_is_refused_before_anything_is_run(tmp_path):
    process = start(tmp_path / "outputs", "hydra.launcher.job=2")
    said, _ = process.communicate()
    assert process.returncode == 2, said
    assert "hydra.launcher.job" in said
    assert not (tmp_path / "outputs").exists()


def test_a_name_that_is_neither_paper_nor_artefact_is_refused(tmp_path):
    process = start(tmp_path / "outputs", "--only", "tbr", "--only", "sparling/fig33")
    said, _ = process.communicate()
    assert process.returncode == 2, said
    assert said == "error: unknown paper or artefact sparling/fig33. Did you mean sparling/fig3?\n"
