"""Signals and the end of a job stop a run between two batches, and cost nothing."""

import json
import os
import signal
import threading
import time

import pytest
import toy

from sparseid.training import preemption
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunPreempted
from sparseid.training.preemption import Preemption
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder

TIME_LIMIT = "the time limit of the job is near; run the same command to resume"
OUTSIDE = "stopped from outside; run the same command to resume"


@pytest.fixture(autouse=True)
def own_handlers():
    """Whoever starts runs has handlers of its own, as submitit does."""
    seen = []
    before = {number: signal.signal(number, lambda got, frame: seen.append(got)) for number in preemption.REASONS}
    yield seen
    for number, handler in before.items():
        signal.signal(number, handler)


def ask(monkeypatch, asked, hook, call):
    """Let the toy be asked to stop in the given call of a hook: by a signal, or by a clock near the end of the job."""
    clock = [time.time()]
    if asked == "end of job":
        monkeypatch.setattr(preemption.time, "time", lambda: clock[0])
        monkeypatch.setenv("SLURM_JOB_END_TIME", str(clock[0] + 3600))
    calls = [0]

    def called(self, name):
        calls[0] += name == hook
        if calls[0] == call and name == hook:
            clock[0] += 3550
            if asked != "end of job":
                os.kill(os.getpid(), asked)

    monkeypatch.setattr(toy.ToyModule, "called", called)


MOMENTS = [
    ("training_step", 1, 1),
    ("training_step", 7, 7),  # a validation comes before the next batch
    ("training_step", 30, 30),
    ("training_step", 60, 60),  # noticed in the first test
    ("validation_step", 1, 7),
    ("validation_step", 16, 56),
    ("on_validation_end", 3, 21),
    ("on_train_epoch_end", 4, 28),
    ("test_step", 1, 60),
    ("test_step", 3, 60),
]
"""Hook, number of its call, and the step of the checkpoint that is left."""


@pytest.mark.parametrize("asked", [signal.SIGUSR2, signal.SIGTERM, "end of job"])
@pytest.mark.parametrize(("hook", "call", "step"), MOMENTS)
def test_a_run_that_was_asked_to_stop_ends_like_an_undisturbed_one(
    tmp_path, undisturbed, own_handlers, asked, hook, call, step
):
    handlers = [signal.getsignal(number) for number in preemption.REASONS]
    with pytest.MonkeyPatch.context() as patch:
        ask(patch, asked, hook, call)
        with pytest.raises(RunPreempted) as stopped:
            execute(toy.toy_config(tmp_path))
    signum = signal.SIGUSR2 if asked == "end of job" else asked
    assert (stopped.value.signum, stopped.value.code) == (signum, 128 + signum)
    assert stopped.value.message == (OUTSIDE if signum == signal.SIGTERM else TIME_LIMIT)
    assert [signal.getsignal(number) for number in preemption.REASONS] == handlers
    assert own_handlers == []

    folder = RunFolder(tmp_path / "toy-seed0")
    assert (folder.state, folder.read_status()["message"]) == ("preempted", stopped.value.message)
    assert not folder.result.exists()
    assert load(folder.checkpoints / "last.ckpt")["global_step"] == step
    assert toy.results(execute(toy.toy_config(tmp_path))) == toy.results(undisturbed)


def test_stopped_again_and_again(tmp_path, undisturbed):
    """Every start gets one step further: the batch in which it is asked."""
    for step in range(1, 9):
        with pytest.MonkeyPatch.context() as patch:
            ask(patch, signal.SIGUSR2, "training_step", 1)
            with pytest.raises(RunPreempted):
                execute(toy.toy_config(tmp_path))
        assert load(tmp_path / "toy-seed0" / "checkpoints" / "last.ckpt")["global_step"] == step
    assert toy.results(execute(toy.toy_config(tmp_path))) == toy.results(undisturbed)


def test_noticed_before_training_begins(tmp_path, undisturbed, monkeypatch):
    build = toy.ToyModule.__init__
    with monkeypatch.context() as patch:
        patch.setattr(toy.ToyModule, "__init__", lambda self, *_: build(self, *_) or os.kill(os.getpid(), 15))
        patch.setattr(toy.ToyModule, "training_step", None)
        with pytest.raises(RunPreempted):
            execute(toy.toy_config(tmp_path))
    assert RunFolder(tmp_path / "toy-seed0").state == "preempted"
    assert toy.results(execute(toy.toy_config(tmp_path))) == toy.results(undisturbed)


def test_too_late_to_stop(tmp_path, undisturbed, monkeypatch):
    ask(monkeypatch, signal.SIGTERM, "test_step", 5)  # the last batch
    assert toy.results(execute(toy.toy_config(tmp_path))) == toy.results(undisturbed)


def test_in_another_thread_only_the_clock_counts(tmp_path, monkeypatch):
    ask(monkeypatch, "end of job", "training_step", 9)
    ended = []

    def run():
        try:
            execute(toy.toy_config(tmp_path))
        except RunPreempted as stopped:
            ended.append((stopped.signum, signal.getsignal(signal.SIGTERM).__module__))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended == [(signal.SIGUSR2, __name__)]  # the handler is the one of these tests


def test_the_first_sigterm_counts_once_and_the_next_goes_to_the_handler_before(own_handlers, monkeypatch):
    duplicate = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGTERM))
    asked = Preemption()
    with asked.listening():
        assert asked.signum == 0
        os.kill(os.getpid(), signal.SIGUSR2)
        os.kill(os.getpid(), signal.SIGUSR2)
        assert asked.signum == signal.SIGUSR2
        duplicate.start()
        os.kill(os.getpid(), signal.SIGTERM)
        assert asked.signum == signal.SIGTERM
        assert own_handlers == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert own_handlers == [signal.SIGTERM]
    os.kill(os.getpid(), signal.SIGUSR2)
    assert own_handlers == [signal.SIGTERM, signal.SIGUSR2]


def test_a_second_sigterm_ends_a_run_that_hangs(tmp_path):
    process = toy.start(tmp_path, "step_s=1000")
    toy.wait_until((tmp_path / "toy-seed0" / "metrics.csv").exists, process)
    process.send_signal(signal.SIGTERM)
    time.sleep(2 * preemption.DUPLICATES_S)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(("left", "margin", "stops"), [(3600, 60, 3540), (60, 60, 30), (-5, 60, -5), (3600, 0, 3600)])
def test_margin(monkeypatch, left, margin, stops):
    clock = [1e9]
    monkeypatch.setattr(preemption.time, "time", lambda: clock[0])
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(1e9) + left))
    asked = Preemption(margin)
    clock[0] = 1e9 + stops - 1
    assert asked.signum == 0
    clock[0] = 1e9 + stops
    assert asked.signum == signal.SIGUSR2


@pytest.mark.parametrize("end", [None, "", "soon"])
def test_without_a_job_nothing_ends(monkeypatch, end):
    monkeypatch.delenv("SLURM_JOB_END_TIME", raising=False)
    if end is not None:
        monkeypatch.setenv("SLURM_JOB_END_TIME", end)
    assert Preemption()._stop_at == float("inf")


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({}, ""),
        ({"SLURM_JOB_ID": "123"}, "123"),
        ({"SLURM_JOB_ID": "127", "SLURM_ARRAY_JOB_ID": "123", "SLURM_ARRAY_TASK_ID": "4"}, "123_4"),
    ],
)
def test_the_job_stands_in_the_status(tmp_path, monkeypatch, environment, job):
    for name in ("SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    folder = execute(toy.toy_config(tmp_path, max_steps=8))
    assert json.loads((folder / "status.json").read_text())["job"] == job


def test_the_job_is_kept_until_another_start(tmp_path):
    folder = RunFolder(tmp_path)
    folder.write_status("planned", job="7_1")
    folder.write_status("running", job="7_2")
    folder.write_status("running", "10 %")
    folder.write_status("preempted")
    assert folder.read_status()["job"] == "7_2"
    folder.write_status("running")
    assert folder.read_status()["job"] == ""
