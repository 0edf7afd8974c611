"""A private SLURM for these tests, and the command as a user types it on it."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sparseid.config.compose import compose
from sparseid.config.identity import run_directory
from sparseid.training.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]

TINY = (
    *("scale=smoke", "trainer.threads=1", "trainer.max_samples=256"),
    *("method.schedule.check_items=8", "method.evaluation.items=8", "method.evaluation.curve_items=8"),
)
"""A trial whose training takes less than loading torch does."""


class Cluster:
    """The cluster: its answers, and a node that can be told to wait."""

    def __init__(self, environment):
        self.environment = environment

    def ask(self, *command):
        """Run one of SLURM's commands; return what it prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def jobs(self):
        """State by id of every job that has not ended."""
        return dict(line.split() for line in self.ask("squeue", "-h", "-r", "--format=%i %T").splitlines())

    def told(self, job, key):
        """One entry of ``scontrol show job``."""
        return re.search(rf"\b{key}=(\S*)", self.ask("scontrol", "--oneliner", "show", "job", job))[1]

    @contextlib.contextmanager
    def paused(self):
        """Within, jobs that are submitted wait."""
        node = self.ask("sinfo", "-h", "--format=%n").strip()
        self.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
        try:
            yield
        finally:
            self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")


@pytest.fixture(scope="session")
def running_cluster(require_program):
    require_program("sbatch")
    folder = Path(tempfile.mkdtemp(prefix="slurm"))  # pytest's own folders are too long for sockets
    command = [sys.executable, ROOT / "scripts" / "local_slurm.py", "hold", folder]
    # it ends when its standard input closes: also when these tests are killed
    held = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    exported = re.fullmatch(r"export (SLURM_CONF)=(.+)\n", held.stdout.readline())
    try:
        assert exported, "the cluster did not start; its log is above"
        yield Cluster({**os.environ, exported[1]: exported[2], "OMP_NUM_THREADS": "1"})
    finally:
        held.stdin.close()
        held.wait(timeout=900)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def cluster(running_cluster):
    """The cluster with no job of an earlier test."""
    yield running_cluster
    running_cluster.ask("scancel", f"--user={os.getuid()}")
    until(lambda: not running_cluster.jobs())


class Command:
    """``python run.py ... hydra/launcher=slurm``, all of it below one folder.

    Parameters
    ----------
    environment
        That of the cluster.
    outputs
        Folder of runs.
    settings
        What every command of the test has in common.
    """

    def __init__(self, environment, outputs, settings=TINY):
        self.environment, self.outputs = environment, outputs
        self.settings = [*settings, f"outputs={outputs}"]
        self.program = [sys.executable, str(ROOT / "run.py")]

    def start(self, *overrides):
        """Start it; its output is piped, errors among it."""
        return subprocess.Popen(
            [*self.program, *self.settings, "hydra/launcher=slurm", *overrides],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may let us ignore Ctrl-C
        )

    def run(self, *overrides):
        """Run it to its end; return exit code and output."""
        process = self.start(*overrides)
        said, _ = process.communicate(timeout=600)
        return process.returncode, said

    def folder(self, *overrides):
        """The folder of the run that `overrides` ask for."""
        return RunFolder(run_directory(compose([*self.settings, *overrides])))

    def states(self):
        """State of every run that has a status, by seed."""
        found = self.outputs.glob("smoke/sparling/*/status.json")
        return {
            int(re.search(r"-seed(\d+)-", path.parent.name)[1]): json.loads(path.read_text())["state"] for path in found
        }


@pytest.fixture
def command(cluster, tmp_path):
    return Command(cluster.environment, tmp_path / "outputs")


@pytest.fixture
def command_of(cluster):
    """Make a command with other settings."""
    return lambda outputs, *settings: Command(cluster.environment, outputs, settings)


def until(reached, seconds=120.0):
    """Wait for something; fail the test if it does not come."""
    end = time.monotonic() + seconds
    while not (answer := reached()):
        assert time.monotonic() < end, "did not come in time"
        time.sleep(0.1)
    return answer


@pytest.fixture(name="until", scope="session")
def until_fixture():
    return until


def numbers(folder):
    """Return the numbers that must agree bit for bit: rows without time and commit, curves, arrays."""
    rows = json.loads(folder.result.read_text())["rows"]
    passing = ("written", "commit", "dirty")
    kept = [{key: value for key, value in row.items() if key not in passing} for row in rows]
    return {"rows": kept, "metrics": folder.metrics.read_bytes(), "arrays": folder.arrays.read_bytes()}


@pytest.fixture(name="numbers", scope="session")
def numbers_fixture():
    return numbers
