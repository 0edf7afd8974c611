"""The command as a user types it, and one smoke run that nothing disturbed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sparseid.launching.main import main

ROOT = Path(__file__).resolve().parents[2]


class Smoke:
    """The smoke run with its runs and report below `outputs`."""

    def __init__(self, outputs: Path):
        self.outputs = outputs

    def start(self, *overrides: str, **popen) -> subprocess.Popen:
        """Start the command; its output is piped, errors among it."""
        command = [sys.executable, str(ROOT / "run.py"), "scale=smoke", f"outputs={self.outputs}", *overrides]
        # a shell lets what it starts in the background ignore Ctrl-C, and that would be inherited
        popen.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **popen)

    def run(self, *overrides: str, **popen) -> tuple[int, str]:
        """Run the command to its end; return exit code and output."""
        process = self.start(*overrides, **popen)
        said, _ = process.communicate()
        return process.returncode, said

    def run_here(self, capfd: pytest.CaptureFixture[str], *overrides: str) -> tuple[int, str]:
        """Run the command, and all runs of a sweep, in this process, which has imported torch; as :meth:`run`."""
        code = main(["scale=smoke", f"outputs={self.outputs}", "hydra/launcher=basic", *overrides])
        return code, "".join(capfd.readouterr())

    @property
    def folder(self) -> Path:
        """The run's folder; one that is never there before the run has begun."""
        found = [path for path in self.outputs.glob("smoke/sparling/*") if not path.name.startswith(".")]
        return found[0] if found else self.outputs / "not yet"

    def numbers(self) -> dict:
        """Return the numbers that must agree bit for bit: rows without time and commit, curves, arrays."""
        rows = json.loads((self.folder / "result.json").read_text())["rows"]
        passing = ("written", "commit", "dirty")
        return {
            "rows": [{key: value for key, value in row.items() if key not in passing} for row in rows],
            "metrics.csv": (self.folder / "metrics.csv").read_bytes(),
            "arrays.npz": (self.folder / "arrays.npz").read_bytes(),
        }

    def files(self) -> set[str]:
        """Names of all files of the run."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="session")
def smoke_at() -> type[Smoke]:
    """Make a smoke run of a folder of runs."""
    return Smoke


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Smoke:
    """A smoke run that nothing disturbed."""
    smoke = Smoke(tmp_path_factory.mktemp("undisturbed"))
    code, said = smoke.run()
    assert code == 0, said
    return smoke


@pytest.fixture
def smoke(tmp_path) -> Smoke:
    """A smoke run to disturb."""
    return Smoke(tmp_path / "outputs")
