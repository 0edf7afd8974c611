"""Sweeps as a user types them: killed and restarted, several at once, with a failing trial, on several processes."""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sparseid.training.rows import read_rows

SHORT = "trainer.max_samples=512"
"""Two validations instead of four."""
TRIALS = ("experiment=sparling/fig3", "seed=range(6)", SHORT)


def folders(outputs):
    """Folders of runs, by seed."""
    found = [path for path in outputs.glob("smoke/sparling/*") if not path.name.startswith(".")]
    return {path.name.split("seed")[1].split("-")[0]: path for path in found}


def numbers(outputs):
    """The rows of all runs without what passes, and the tables of the report."""
    rows = {
        seed: [(row.keys, row.seed, row.metric, row.value, row.n) for row in read_rows(path / "result.json")]
        for seed, path in folders(outputs).items()
    }
    tables = {
        path.name: path.read_text() for path in outputs.glob("report/smoke/sparling-fig3.*") if path.suffix != ".png"
    }
    return rows, tables


def children(pid):
    """Processes that a process has started, theirs included."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in listed.splitlines()}
    found = [child for child, parent in parents.items() if parent == pid]
    return found + [inner for child in found for inner in children(child)]


def kill_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_sweep_killed_three_times_makes_every_trial_once(smoke_at, tmp_path):
    undisturbed = smoke_at(tmp_path / "undisturbed")
    code, said = undisturbed.run(*TRIALS)
    assert code == 0, said
    disturbed = smoke_at(tmp_path / "disturbed")
    draw = random.Random(2)
    for kill in range(3):
        process = disturbed.start(*TRIALS)
        try:  # the first moments are those of composing, the later ones fall into some trial
            process.communicate(timeout=draw.uniform(1, 8))
            pytest.fail("the sweep was over before it could be killed")
        except subprocess.TimeoutExpired:
            started = children(process.pid) if kill % 2 else []  # else they notice by themselves that nobody waits
            kill_all([process.pid, *started])
            process.communicate()
    code, said = disturbed.run(*TRIALS)
    assert code == 0, said
    assert len(folders(disturbed.outputs)) == 6
    for folder in folders(disturbed.outputs).values():
        lines = (folder / "log.txt").read_text().splitlines()
        assert sum(line.endswith(" done") for line in lines) == 1, lines
    assert numbers(disturbed.outputs) == numbers(undisturbed.outputs)

    before = {path: path.stat().st_mtime_ns for path in disturbed.outputs.glob("smoke/**/*") if path.is_file()}
    code, said = disturbed.run(*TRIALS)
    assert code == 0
    assert "6 of 6 runs done already" in said
    assert before == {path: path.stat().st_mtime_ns for path in disturbed.outputs.glob("smoke/**/*") if path.is_file()}


@pytest.mark.slow
def test_several_processes_at_once(smoke_at, tmp_path):
    """With different seeds a folder each; with the same seed one runs and the others say who is running it."""
    smoke = smoke_at(tmp_path)
    processes = [smoke.start(f"seed={seed}", SHORT) for seed in range(4)]
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    assert sorted(folders(tmp_path)) == [str(seed) for seed in range(4)]

    processes = [smoke.start("seed=9", SHORT) for _ in range(4)]
    said = [process.communicate()[0] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes.count(0) == 1, said
    assert sum("is being executed by " in text and "Nothing was changed" in text for text in said) == 3
    assert all(code == 1 for code, text in zip(codes, said, strict=True) if "is being executed by" in text)
    [row] = {(row.run, row.seed) for row in read_rows(folders(tmp_path)["9"] / "result.json")}
    assert row[1] == 9


@pytest.mark.slow
def test_two_sweeps_at_once_share_the_trials(smoke_at, tmp_path):
    smoke = smoke_at(tmp_path)
    sweep = ("experiment=sparling/fig3", "seed=0,1,2", SHORT)
    first = smoke.start(*sweep)
    time.sleep(1.5)
    second = smoke.start(*sweep)
    said = [process.communicate()[0] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), said
    logs = [(folder / "log.txt").read_text() for folder in folders(tmp_path).values()]
    assert [log.count(" done\n") for log in logs] == [1, 1, 1]


@pytest.mark.slow
def test_a_failing_trial_stops_no_other(smoke_at, tmp_path):
    """The second trial's loss overflows: the third is made all the same; exit code and last lines say what failed."""
    smoke = smoke_at(tmp_path)
    code, said = smoke.run("method.optimizer.lr=1e-3,1e30,2e-3", SHORT)
    assert code == 1
    assert "1 of 3 runs failed" in said
    states = sorted(
        Path(path).read_text().split('"state": "')[1].split('"')[0] for path in tmp_path.glob("*/*/*/status.json")
    )
    assert states == ["diverged", "done", "done"]
    [log] = [path for path in tmp_path.glob("smoke/*/*/log.txt") if "the loss is not finite" in path.read_text()]
    assert str(log) in said
    code, said = smoke.run("method.optimizer.lr=1e-3,1e30,2e-3", SHORT)
    assert code == 1
    assert "2 of 3 runs done already\n1 of 3 runs diverged before" in said


@pytest.mark.slow
def test_a_sweep_over_runs_of_two_processes(smoke_at, tmp_path):
    """Every trial has its own process, which starts the second one: one sweep, one folder per run."""
    smoke = smoke_at(tmp_path)
    code, said = smoke.run("seed=1,2", SHORT, "trainer=ddp", "trainer.accelerator=cpu")
    assert code == 0, said
    assert said.count("2 runs over seed") == 1
    assert sorted(folders(tmp_path)) == ["1", "2"]
    for folder in folders(tmp_path).values():
        assert len(list(folder.glob("**/result.json"))) == len(list(folder.glob("**/config.yaml"))) == 1
    code, said = smoke.run("seed=1,2", SHORT, "trainer=ddp", "trainer.accelerator=cpu", "hydra/launcher=basic")
    assert code == 2
    assert "hydra/launcher=local" in said
