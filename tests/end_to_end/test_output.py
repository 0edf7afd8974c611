"""A terminal that cannot show everything, or has gone, loses text and nothing else."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TINY = (
    *("scale=smoke", "trainer.threads=1", "trainer.max_samples=256"),
    *("method.schedule.check_items=8", "method.evaluation.items=8", "method.evaluation.curve_items=8"),
)
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def shell(line, *words, **environment):
    """Run a line of bash with words as ``"$@"``; return the exit code of its first command, its output and errors."""
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}", "bash", *words],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode("ascii"), done.stderr.decode("ascii")


def results(outputs):
    return len(list(outputs.glob("smoke/*/*/result.json")))


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """The folder of a sweep whose output ended after its first line, in an ASCII locale."""
    outputs = tmp_path_factory.mktemp("outputs")
    overrides = [*TINY, "seed=0,1", "hydra.launcher.jobs=1", f"outputs={outputs}"]
    code, out, err = shell('"$@" | head -n 1', sys.executable, "run.py", *overrides, **ASCII)
    assert (code, out, err) == (0, "2 runs over seed\n", "")
    return outputs


def test_a_sweep_whose_reader_goes_is_made_and_reported(swept):
    assert results(swept) == 2
    assert (swept / "report" / "index.html").exists()
    for output in (swept / "jobs").glob("*.txt"):  # each run's own output was complete
        assert "Figures: " in output.read_text(encoding="ascii")


@pytest.mark.parametrize("script", ["report.py", "plan.py"])
def test_scripts_in_an_ascii_terminal(swept, script):
    code, out, err = shell('"$@"', sys.executable, f"scripts/{script}", "--scale", "smoke", "--outputs", swept, **ASCII)
    assert (code, err) == (0, "")
    assert out


def test_a_single_run_in_an_ascii_terminal_shows_all_numbers(swept):
    """Drawn anew from the finished run: its table, which has dashes and signs that ASCII has not."""
    (folder,) = swept.glob("smoke/sparling/digitcircle-*-seed0-*")
    shutil.rmtree(folder / "figures")
    code, out, err = shell('"$@"', sys.executable, "run.py", *TINY, f"outputs={swept}", **ASCII)
    assert (code, err) == (0, "")
    assert "\\u" not in out
    assert " - " in out  # a number that the paper does not print
    assert any((folder / "figures").iterdir())


def test_a_run_without_any_stream(tmp_path):
    outputs = tmp_path / "outputs"
    code, _, _ = shell('"$@" <&- >&- 2>&-', sys.executable, "run.py", *TINY, f"outputs={outputs}")
    assert code == 0
    assert results(outputs) == 1


def test_the_progress_bar_of_an_ascii_terminal(tmp_path):
    """A terminal that is closed in the middle, too."""
    outputs = tmp_path / "outputs"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "run.py", *TINY, f"outputs={outputs}"],
        cwd=ROOT,
        env={**os.environ, **ASCII, "TERM": "xterm"},
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    said = b""
    while b"it/s" not in said:
        said += os.read(ours, 4096)
    os.close(ours)
    assert process.wait(timeout=120) == 0
    assert said.decode("ascii")
    assert results(outputs) == 1


@pytest.mark.parametrize("options", [["--help"], ["scale=smoke", "--cfg", "job"], ["scal=smoke"]])
def test_an_answer_that_nobody_reads_to_its_end(options):
    code, _, err = shell('"$@" 2>&1 | true', sys.executable, "run.py", *options)
    assert (code, err) == (2 if options == ["scal=smoke"] else 0, "")
