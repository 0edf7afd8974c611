import subprocess
import sys
from pathlib import Path

import pytest

from sparseid.config.sweep import plan
from sparseid.config.validate import missing_files

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "identifiability.py"


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=60)


@pytest.fixture
def mask(tmp_path):
    def write(text):
        path = tmp_path / "mask.csv"
        path.write_text(text)
        return str(path)

    return write


def test_a_mask_is_answered_for(mask):
    done = run(mask("1,0,0\n1,1,0\n1,1,1\n"))
    assert done.returncode == 0
    assert done.stderr == ""
    for line in (
        "z1      yes         the only latent that x1 reads (clause 3)",
        "Blocks: z1 | z2 | z3",
        "    z3   no*   no*   yes",
    ):
        assert line in done.stdout.splitlines()


def test_what_no_theorem_is_about_is_warned_of(mask):
    done = run(mask("1,1,0\n0,0,0\n"))
    assert done.returncode == 0
    warnings = done.stderr.splitlines()
    assert all(line.startswith("warning: ") for line in warnings)
    for number, part in enumerate(("x2 reads no latent", "z1 and z2 are read only by x1", "no observation reads z3")):
        assert part in warnings[number]
    assert "yes" not in done.stdout.split("Blocks")[0]


@pytest.mark.parametrize("text", ["", "1,2\n", "a,b\n1,0\n", "1,0\n1\n"])
def test_what_is_no_mask_is_an_error(mask, text):
    done = run(mask(text))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "mask.csv" in done.stderr


def test_an_absent_file_is_an_error():
    done = run("no such file.csv")
    assert done.returncode == 2
    assert "no such file.csv" in done.stderr


def test_the_help_shows_a_mask_that_its_command_can_train_on_and_needs_no_torch(tmp_path, monkeypatch):
    done = run("--help")
    assert done.returncode == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    (tmp_path / "mask.csv").write_text("".join(f"{line}\n" for line in lines if line in ("1,1,0", "0,1,1", "1,0,1")))
    (command,) = [line for line in lines if "run.py" in line]
    monkeypatch.chdir(tmp_path)
    (cell,) = plan(command.split("run.py ")[1].split()).trials
    assert cell.run.data.mask == "mask.csv"
    assert missing_files(cell.run) == []
    code = "import sys, sparseid.methods.ddl.explain; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
