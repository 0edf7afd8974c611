"""Tasks of one SLURM step: a run each, one run together, or what is refused before anything starts."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sparseid.config.compose import compose
from sparseid.config.identity import run_directory
from sparseid.training.run_folder import RunFolder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ON_TWO = ("trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")
TINY = ("scale=smoke", "trainer.threads=1")
TOY = f"'{sys.executable}' '{ROOT / 'tests' / 'training' / 'toy.py'}'"


@pytest.fixture
def srun(cluster):
    """Run a line of bash as several tasks; return srun's exit code and what they print."""

    def start(tasks, line):
        command = ["srun", f"--ntasks={tasks}", "bash", "-c", line]
        done = subprocess.run(command, env=cluster.environment, capture_output=True, text=True, timeout=300, cwd=ROOT)
        return done.returncode, done.stdout + done.stderr

    return start


def test_runs_that_are_tasks_of_one_step_are_all_made(srun, tmp_path):
    code, said = srun(3, f"{TOY} '{tmp_path}' seed=$SLURM_PROCID")
    assert code == 0, said
    for seed in range(3):
        run = RunFolder(tmp_path / f"toy-seed{seed}")
        assert run.state == "done", said
        assert (run.path / "log.txt").read_text().count("running, process") == 1


def test_tasks_that_ask_for_the_same_run_make_it_once_and_say_so(srun, tmp_path):
    code, said = srun(2, f"{TOY} '{tmp_path}' step_s=0.1")
    assert code == 1, said
    assert "is being executed by" in said
    assert "one of 2 tasks of a SLURM step: srun --ntasks=1" in said
    run = RunFolder(tmp_path / "toy-seed0")
    assert run.state == "done"
    points = run.metrics.read_text().splitlines()
    assert len(points) == len(set(points))


def test_a_task_per_device_makes_one_run(srun, tmp_path):
    """The name of the step's command is that of an interactive job, which Lightning takes as a sign for no tasks."""
    code, said = srun(2, f"{TOY} '{tmp_path}' devices=2")
    assert code == 0, said
    run = RunFolder(tmp_path / "toy-seed0")
    assert run.state == "done"
    assert json.loads(run.timing.read_text())["world_size"] == 2


def test_a_job_submitted_from_within_a_step_has_no_tasks_of_that_step(srun, tmp_path):
    """Its batch script inherits the variables of the step; the run starts its processes by itself."""
    (tmp_path / "job").write_text(f"#!/bin/bash\n{TOY} '{tmp_path}' devices=2\n")
    submit = f"sbatch --wait --output='{tmp_path / 'said'}' '{tmp_path / 'job'}'"
    code, said = srun(2, f"[ $SLURM_PROCID = 0 ] || {submit}")
    assert code == 0, said
    run = RunFolder(tmp_path / "toy-seed0")
    assert run.state == "done", (tmp_path / "said").read_text()
    assert json.loads(run.timing.read_text())["world_size"] == 2


def test_a_task_that_ends_before_it_comes_is_named_while_the_first_waits(srun, tmp_path):
    log = tmp_path / "toy-seed0" / "log.txt"
    waits = f"{TOY} '{tmp_path}' devices=2 & until grep -qs 'waiting for' '{log}'; do sleep 0.2; done; kill $!; wait $!"
    code, said = srun(2, f"[ $SLURM_PROCID = 0 ] || exit 0; {waits}")
    assert code == 143, said
    assert re.search(r"waiting for task 1 of 2 that make the run \(until [\d:]+\)\n", said)
    assert RunFolder(log.parent).state == "preempted"


def test_tasks_of_a_run_that_cannot_begin_all_say_why(srun, tmp_path):
    """Without the rest of the run: another process has its lock."""
    cfg = compose([*TINY, *ON_TWO, f"outputs={tmp_path}"])
    with RunFolder(run_directory(cfg)).lock():
        settings = " ".join([*TINY, *ON_TWO])
        code, said = srun(2, f"'{sys.executable}' run.py {settings} outputs='{tmp_path}'")
    assert code == 1, said
    assert said.count("is being executed by") == 2
    assert said.count("the first process of the run has ended") == 1
    assert "tasks of a SLURM step" not in said


def test_tasks_of_different_runs_average_no_gradients(srun, tmp_path):
    code, said = srun(2, f"{TOY} '{tmp_path}' devices=2 seed=$SLURM_PROCID")
    assert code != 0
    assert "the tasks of this step train different runs" in said
    assert not list(tmp_path.glob("*/result.json"))


def test_more_tasks_than_devices_are_refused_before_anything_starts(srun, tmp_path):
    line = f"'{sys.executable}' run.py scale=smoke trainer=ddp trainer.accelerator=cpu outputs='{tmp_path / 'outputs'}'"
    code, said = srun(4, line)
    assert code == 2, said
    assert said.count("this step has 4 tasks, but the run asks for 2") == 4
    assert "srun --ntasks=2" in said
    assert not list(tmp_path.glob("outputs/smoke/*"))


def test_the_launcher_refuses_more_tasks_than_devices(command):
    code, said = command.run("hydra.launcher.tasks_per_node=2")
    assert code == 2, said
    assert "omit hydra.launcher.tasks_per_node, or set trainer=ddp trainer.devices=2" in said
    assert command.states() == {}
