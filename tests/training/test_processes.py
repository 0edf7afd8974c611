"""Runs on several devices, here two processes on the CPU."""

import contextlib
import json
import math
import os
import signal
import time
from pathlib import Path

import pytest
import toy

from sparseid.config.identity import run_name
from sparseid.errors import ConfigError
from sparseid.training.checkpoints import load
from sparseid.training.processes import GROUP, LINE, RUN, WORLD_SIZES, check_tasks, helper_process, joined
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder


def run(outputs, *arguments, code=0):
    """Run the toy to its end; return what it said."""
    process = toy.start(outputs, *arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, (process.returncode, out, err)
    assert alive(outputs) == []
    return out + err


def helpers(process) -> list[int]:
    """The processes with which a process makes a run; it also starts git."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return [int(pid) for pid in children if f"{LINE}=" in Path(f"/proc/{pid}/environ").read_text()]
    return []


def ended(process, outputs) -> int:
    """Wait for the end of a process; return its exit code, and note what it said."""
    process.said = "".join(process.communicate(timeout=600))
    assert alive(outputs) == []
    return process.returncode


def alive(outputs) -> list[int]:
    """Processes that were started for these outputs; a helper may take a moment to see that the first one is gone."""
    for _ in range(50):
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(outputs).encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                    found.append(int(path.parent.name))
            except OSError:
                continue
        if not found:
            return []
        time.sleep(0.1)
    return found


FOREIGN = dict.fromkeys(("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID", "SLURM_LOCALID"), "1")
"""Ranks that another program has set for its own purposes."""


@pytest.fixture(scope="module")
def undisturbed_two(tmp_path_factory):
    """The folder of an undisturbed run in two processes, where another program has set ranks."""
    outputs = tmp_path_factory.mktemp("two")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FOREIGN.items():
            patch.setenv(name, value)
        run(outputs, "devices=2")
    return outputs / "toy-seed0"


def curve(folder):
    return [line.split(",") for line in (folder / "metrics.csv").read_text().splitlines()[1:]]


def test_two_processes_equal_one(tmp_path):
    execute(toy.toy_config(tmp_path / "1", plain=1))
    said = run(tmp_path / "2", "devices=2", "plain=1")
    one, two = tmp_path / "1" / "toy-seed0", tmp_path / "2" / "toy-seed0"
    rows, shared = toy.results(one)[0], toy.results(two)[0]
    assert len(shared) == len(rows) == 12
    for mine, other in zip(shared, rows, strict=True):
        assert (mine.keys, mine.metric, mine.n) == (other.keys, other.metric, other.n)
        assert (mine.value is None) == (other.value is None)
        assert mine.value is None or mine.value == pytest.approx(other.value, rel=1e-5, abs=1e-5)
    assert len(curve(two)) == len(curve(one)) == 10
    for mine, other in zip(curve(two), curve(one), strict=True):
        assert mine[:3] == other[:3]
        assert float(mine[3]) == pytest.approx(float(other[3]), rel=1e-5)
    # one of everything
    assert {str(path.relative_to(two)) for path in two.rglob("*")} == {
        str(path.relative_to(one)) for path in one.rglob("*")
    }
    assert [line.split(" ", 1)[1].split(",")[0] for line in (two / "log.txt").read_text().splitlines()] == [
        "running",
        "done",
    ]
    assert said == f"{two}\n" * 2  # each process of the toy prints the folder, and nothing else
    assert {row.device for row in read_rows(one / "result.json")} == {"cpu"}
    assert {row.device for row in read_rows(two / "result.json")} == {"2 x cpu"}
    timing = json.loads((two / "timing.json").read_text())
    assert (timing["world_size"], timing["steps"], timing["samples"]) == (2, 60, 480)


def test_runs_that_are_interrupted_in_many_ways_go_on_as_if_undisturbed(tmp_path, undisturbed_two):
    """With batch norm, dropout and noise: the generators of every process are in the checkpoint."""
    folder = RunFolder(tmp_path / "toy-seed0")
    last = folder.checkpoints / "last.ckpt"

    # a helper that is killed before it has begun
    process = toy.start(tmp_path, "devices=2")
    toy.wait_until(lambda: helpers(process), process)
    os.kill(helpers(process)[0], signal.SIGKILL)
    assert ended(process, tmp_path) == 1
    killed = "process 1 of the run on 2 devices was ended by SIGKILL (out of memory?); run the same command to resume"
    assert folder.state == "failed"
    assert folder.read_status()["message"] == killed
    assert killed in process.said
    assert not last.exists()

    # signals to the first process and to all
    for to_all, sent in (False, signal.SIGTERM), (True, signal.SIGUSR2):
        before = last.stat().st_mtime_ns if last.exists() else 0
        process = toy.start(tmp_path, "devices=2", "step_s=0.05", start_new_session=True)
        toy.wait_until(lambda: last.exists() and last.stat().st_mtime_ns > before, process)  # noqa: B023
        (os.killpg if to_all else os.kill)(process.pid, sent)
        assert ended(process, tmp_path) == 128 + sent
        assert folder.state == "preempted"
        assert "run the same command to resume" in process.said
        assert "Traceback" not in process.said
        assert load(last)["global_step"] % 10 == 0  # where processes agree

    # an error in the process whose rows and checkpoints are not written
    said = run(tmp_path, "devices=2", "rank=1", "hook=validation_step", "kill_at=5", code=1)
    assert folder.state == "failed"
    assert "Killed" in (folder.path / "log.txt").read_text()
    assert "process 1 of the run on 2 devices failed: Killed" in said

    # a helper that is killed while it trains
    before = last.stat().st_mtime_ns
    process = toy.start(tmp_path, "devices=2", "step_s=0.2")
    toy.wait_until(lambda: last.stat().st_mtime_ns > before, process)
    os.kill(helpers(process)[0], signal.SIGKILL)
    assert ended(process, tmp_path) == 1
    assert folder.read_status()["message"] == killed
    assert killed in process.said

    run(tmp_path, "devices=2")
    assert toy.results(folder.path) == toy.results(undisturbed_two)


def test_noise_differs_between_processes(undisturbed_two):
    states = load(undisturbed_two / "checkpoints" / "last.ckpt")["sparseid"]["rng"]
    assert len(states) == 2
    assert not states[0]["torch"].equal(states[1]["torch"])


@pytest.mark.slow
def test_an_error_in_the_first_process_ends_the_other(tmp_path):
    said = run(tmp_path, "devices=2", "rank=0", "hook=training_step", "kill_at=5", code=1)
    folder = RunFolder(tmp_path / "toy-seed0")
    assert folder.state == "failed"
    assert "Killed" in (folder.path / "log.txt").read_text()
    assert "Killed" in said


@pytest.mark.slow
def test_a_loss_that_diverges_in_one_process(tmp_path):
    said = run(tmp_path, "devices=2", "rank=1", "diverge_at=3", code=1)
    assert "has diverged: the loss is not finite at a step from 1 to 7" in said
    assert RunFolder(tmp_path / "toy-seed0").state == "diverged"


@pytest.mark.slow
def test_a_killed_first_process_leaves_no_helper(tmp_path):
    process = toy.start(tmp_path, "devices=2", "step_s=0.2")
    toy.wait_until((tmp_path / "toy-seed0" / "metrics.csv").exists, process)
    process.kill()
    process.communicate()
    assert alive(tmp_path) == []


@pytest.mark.slow
def test_ctrl_c(tmp_path):
    process = toy.start(tmp_path, "devices=2", "step_s=0.05", start_new_session=True)
    toy.wait_until((tmp_path / "toy-seed0" / "metrics.csv").exists, process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert alive(tmp_path) == []
    assert RunFolder(tmp_path / "toy-seed0").state == "preempted"


@pytest.mark.slow
def test_another_number_of_processes_goes_on_and_is_in_the_rows(tmp_path, capsys):
    process = toy.start(tmp_path, "devices=2", "step_s=0.05")
    folder = RunFolder(tmp_path / "toy-seed0")
    toy.wait_until((folder.checkpoints / "last.ckpt").exists, process)
    process.terminate()
    process.communicate(timeout=600)
    execute(toy.toy_config(tmp_path))
    said = capsys.readouterr().out
    assert "trained on 2 x cpu then cpu: the numbers are not exactly those of a run that stayed on one" in said
    assert {row.device for row in read_rows(folder.result)} == {"2 x cpu then cpu"}
    assert folder.state == "done"
    assert all(math.isfinite(float(point[3])) for point in curve(folder.path))


@pytest.fixture
def alone(monkeypatch):
    """An environment without a launcher's variables."""
    for name in [name for name in os.environ if name in (*GROUP, *WORLD_SIZES) or name.startswith("SLURM_")]:
        monkeypatch.delenv(name)


def step(tasks, nodes=1, here=None, **others):
    """Return the variables of a task of a SLURM step, of which SLURM has started `here` tasks on this node."""
    listed = ",".join(map(str, range(here or tasks // nodes)))
    numbers = {"SLURM_STEP_NUM_TASKS": tasks, "SLURM_STEP_NUM_NODES": nodes, "SLURM_JOB_NUM_NODES": nodes}
    return {name: str(value) for name, value in numbers.items()} | {"SLURM_GTIDS": listed, **others}


STEP_OF_TWO = step(2, SLURM_PROCID="1")


@pytest.mark.parametrize(
    ("devices", "environment", "helps"),
    [
        (1, {}, False),
        (1, {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "2"}, False),
        (1, step(4, SLURM_PROCID="3"), False),
        (2, {}, False),
        (2, {"RANK": "1", "LOCAL_RANK": "1"}, False),  # of another program
        (2, {"LOCAL_RANK": "1", RUN: "another run"}, False),
        (2, {"LOCAL_RANK": "1", RUN: "ours"}, True),
        (2, {"LOCAL_RANK": "0", RUN: "ours"}, False),
        (2, STEP_OF_TWO, True),
        (2, {**STEP_OF_TWO, "SLURM_PROCID": "0"}, False),
        (2, {**STEP_OF_TWO, "SLURM_GTIDS": "0"}, False),  # of a step from which this job was submitted
        (3, step(1, SLURM_PROCID="0"), False),
    ],
)
def test_a_helper_is_a_process_that_a_run_on_several_devices_has_started(
    alone, monkeypatch, tmp_path, devices, environment, helps
):
    cfg = toy.toy_config(tmp_path, devices=devices)
    for name, value in environment.items():
        monkeypatch.setenv(name, run_name(cfg) if value == "ours" else value)
    before = dict(os.environ)
    assert helper_process(cfg) == helps
    with joined(cfg):
        assert helper_process(cfg) == helps
        assert os.environ["LOCAL_RANK"] == ("1" if helps else "0")  # with one, Lightning starts no processes itself
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("devices", "strategy", "environment", "remedy"),
    [
        (2, "ddp", step(4), "srun --ntasks=2"),
        (2, "auto", step(4), "trainer=ddp trainer.devices=4"),
        (1, "ddp", step(4), "trainer=single"),
        (2, "ddp", step(2, nodes=2), "--nodes=1"),
        (2, "ddp", {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2"}, "without that program"),
        (2, "ddp", {"OMPI_COMM_WORLD_SIZE": "2"}, "without that program"),
        (1, "auto", step(4), None),
        (1, "auto", {"WORLD_SIZE": "4"}, None),
        (2, "ddp", step(1), None),
        (2, "ddp", step(2, PMI_SIZE="2"), None),
        (2, "ddp", step(4, here=1), None),  # a batch script that was submitted from within a step of 4 tasks
        (2, "ddp", step(2, nodes=2, SLURM_JOB_NUM_NODES="1"), None),
        (2, "ddp", {"LOCAL_RANK": "1", "WORLD_SIZE": "2", RUN: "ours"}, None),
    ],
)
def test_tasks_are_compared_with_devices(alone, monkeypatch, tmp_path, devices, strategy, environment, remedy):
    cfg = toy.toy_config(tmp_path, devices=devices)
    cfg.trainer.strategy = strategy
    for name, value in environment.items():
        monkeypatch.setenv(name, run_name(cfg) if value == "ours" else value)
    if remedy is None:
        check_tasks(cfg)
    else:
        with pytest.raises(ConfigError) as refused:
            execute(cfg)
        assert remedy in str(refused.value)
        assert list(tmp_path.iterdir()) == []


def test_a_rank_that_another_program_has_set_changes_nothing(tmp_path, monkeypatch):
    """Nor for a run on several devices: `undisturbed_two`."""
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    execute(toy.toy_config(tmp_path))
    assert RunFolder(tmp_path / "toy-seed0").state == "done"
