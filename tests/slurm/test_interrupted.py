"""Requeued, at the time limit, cancelled: a run goes on and ends with the numbers of an undisturbed one."""

import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta

import pytest

from sparseid.training.run_folder import RunFolder

pytestmark = pytest.mark.slow

LONGER = (
    *("scale=smoke", "trainer.threads=1", "trainer.save_every_s=1"),
    *("trainer.max_samples=16384", "method.schedule.min_target=1.0"),
)
"""A trial that trains for ten seconds or more (no target is reached), long enough to be met in the middle."""


@pytest.fixture
def longer(command_of, tmp_path):
    return command_of(tmp_path / "outputs", *LONGER)


@pytest.fixture(scope="module")
def undisturbed(numbers, tmp_path_factory):
    """Numbers of the longer trial, made without SLURM and without a disturbance, by seed."""
    outputs = tmp_path_factory.mktemp("undisturbed")
    command = [sys.executable, "run.py", *LONGER, f"outputs={outputs}", "hydra/launcher=local"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = outputs.glob("smoke/sparling/digitcircle-*")
    return numbers(RunFolder(folder))


def training(run):
    """Return whether the run has saved something and still runs."""
    return (run.checkpoints / "last.ckpt").exists() and run.state == "running"


def test_a_requeued_run_ends_with_the_same_numbers(cluster, longer, until, numbers, undisturbed):
    process = longer.start()
    run = longer.folder()
    until(lambda: training(run))
    job = run.read_status()["job"]
    cluster.ask("scontrol", "requeue", job)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert cluster.told(job, "Restarts") == "1"
    assert cluster.told(job, "JobState") == "COMPLETED"
    assert "is requeued" in said
    assert numbers(run) == undisturbed


def test_at_its_time_limit_a_run_saves_and_is_requeued(cluster, longer, until, numbers, undisturbed):
    process = longer.start("hydra.launcher.timeout_min=1", "hydra.launcher.signal_delay_s=10")
    run = longer.folder()
    until(lambda: training(run))
    job = run.read_status()["job"]
    # it would be done in time: let it sleep until its limit of 60 s is near
    cluster.ask("scancel", "--signal=STOP", job)
    assert run.state == "running"  # not done before it was told
    near = datetime.fromisoformat(cluster.told(job, "StartTime")) + timedelta(seconds=48)
    time.sleep(max(0.0, (near - datetime.now()).total_seconds()))
    cluster.ask("scancel", "--signal=CONT", job)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert int(cluster.told(job, "Restarts")) >= 1
    assert "the time limit of the job is near" in (run.path / "log.txt").read_text()
    assert numbers(run) == undisturbed


def test_a_killed_process_is_named_and_its_run_no_longer_counts_as_running(longer, until):
    process = longer.start("trainer.max_samples=4000000")
    run = longer.folder("trainer.max_samples=4000000")
    until(lambda: training(run))
    os.kill(run.read_status()["pid"], signal.SIGKILL)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 1, said
    assert "its process was killed" in said
    status = run.read_status()
    assert (status["state"], status["message"].partition(",")[0]) == ("failed", "its process was killed")


def test_after_scancel_the_same_command_makes_what_is_missing(cluster, longer, until):
    endless = ("trainer.max_samples=4000000", "method.schedule.min_target=1.0")
    sweep = ("seed=0,1", "hydra.launcher.max_in_flight=1")
    process = longer.start(*sweep, *endless)
    runs = [longer.folder(f"seed={seed}", *endless) for seed in (0, 1)]
    until(lambda: any(training(run) for run in runs))
    cluster.ask("scancel", f"--user={os.getuid()}")
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 1, said
    assert "2 of 2 runs failed" in said
    assert "cancelled while it waited" in said
    assert "stopped from outside" in said or "cancelled (scancel)" in said
    assert cluster.jobs() == {}
    assert sorted(run.state for run in runs) == ["planned", "preempted"]

    code, said = longer.run("seed=0,1", "hydra.launcher.max_in_flight=2", *endless, "hydra.launcher.wait=false")
    assert code == 0, said
    assert "2 submitted as job" in said
    until(lambda: all(training(run) for run in runs))

    def log_of_the_begun():
        (log,) = [log for log in ((run.path / "log.txt").read_text() for run in runs) if "preempted" in log]
        return log

    # its last.ckpt is there from before: that it goes on from it is said after "running"
    until(lambda: "last.ckpt" in log_of_the_begun().partition("preempted")[2])
    assert log_of_the_begun().count("running, process") == 2
