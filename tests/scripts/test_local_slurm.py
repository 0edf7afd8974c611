"""The private SLURM starts, runs a job, says why it does not start, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "local_slurm.py"


@pytest.fixture
def folder(require_program):
    require_program("sbatch")
    with tempfile.TemporaryDirectory(prefix="slurm") as path:  # pytest's own folders are too long for sockets
        yield Path(path)


def local_slurm(action, folder):
    return subprocess.run([sys.executable, SCRIPT, action, folder], capture_output=True, text=True, timeout=120)


def processes(folder):
    """Every process that knows this cluster's configuration, by its number and command."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (path / "environ").read_bytes():
                found.append((path.name, (path / "cmdline").read_bytes()))
        except OSError:
            continue
    return found


def test_it_runs_a_job_and_stop_ends_a_running_one_with_all_daemons(folder):
    started = local_slurm("start", folder)
    assert started.returncode == 0, started.stderr
    exported = re.fullmatch(r"export SLURM_CONF=(.+)\n", started.stdout)
    environment = os.environ | {"SLURM_CONF": exported[1]}
    run = ["srun", "--ntasks=3", "sh", "-c", "echo $SLURM_PROCID"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=60)
    assert sorted(done.stdout.split()) == ["0", "1", "2"], done.stderr
    submit = ["sbatch", f"--output={folder}/out", "--wrap", f"echo > {folder}/runs; srun sleep 600"]
    subprocess.run(submit, env=environment, check=True, timeout=60, capture_output=True)
    end = time.monotonic() + 60
    while not (folder / "runs").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    assert len(processes(folder)) > 3
    shell = ["sh", "-c", "sleep 600 & echo; wait"]  # a user's, in which the cluster's variable is set
    other = subprocess.Popen(shell, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert other.stdout.readline() == b"\n"
    try:
        assert local_slurm("stop", folder).returncode == 0
        assert other.poll() is None
        left = {command.split(b"\0")[0] for _, command in processes(folder)}
        assert left == {b"sh", b"sleep"}
    finally:
        os.killpg(other.pid, signal.SIGKILL)
        other.communicate()


def test_it_goes_when_whoever_holds_it_is_killed(folder):
    holder = (
        "import subprocess, sys\n"
        f"held = subprocess.Popen([sys.executable, {str(SCRIPT)!r}, 'hold', {str(folder)!r}], stdin=subprocess.PIPE,\n"
        "                        start_new_session=True)\n"
        "held.wait()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("export SLURM_CONF=")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)  # the pipe closes with the last process that has it
    assert processes(folder) == []


def test_a_daemon_that_does_not_start_shows_its_log_and_nothing_stays(folder):
    (folder / "munge.socket").mkdir()
    started = local_slurm("start", folder)
    assert started.returncode == 1
    assert "munged did not start" in started.stderr
    assert "munge.socket" in started.stderr
    assert processes(folder) == []
