"""The processes of a run begin and end together; here they are threads, which talk as processes do."""

import contextlib
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import toy

from sparseid.errors import ConfigError, InputError
from sparseid.training import group
from sparseid.training.errors import RunBusy, RunDiverged, RunError, RunPreempted
from sparseid.training.group import First, Helper, Word, say
from sparseid.training.preemption import Preemption, preempted
from sparseid.training.run_folder import RunFolder


@pytest.fixture
def tasks(monkeypatch, tmp_path):
    """Make processes of a SLURM step with a task per device: the configuration, and a task by its number."""
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    monkeypatch.setenv("SLURM_GTIDS", "0,1")
    monkeypatch.setenv("SLURM_JOB_ID", str(os.getpid()))
    monkeypatch.setattr(group, "LOOK_S", 0.01)
    monkeypatch.setattr(group, "_end_now", lambda text: None)  # it would end the tests
    monkeypatch.setattr(group, "COME_S", 20.0)
    monkeypatch.setattr(group, "FIRST_S", 20.0)

    def start(rank, **changes):
        monkeypatch.setenv("SLURM_PROCID", str(rank))
        return (Helper if rank else First)(toy.toy_config(tmp_path, devices=2, **changes))

    return start


@pytest.fixture
def other():
    """Run something at the same time; its result is awaited."""
    with ThreadPoolExecutor(2) as threads:
        yield threads.submit


def stopped():
    """Return a request to stop that has come already."""
    preemption = Preemption()
    preemption._note(signal.SIGUSR2, None)
    return preemption


def part(helper, work=lambda: None, preemption=None):
    """Do what a helper does: wait, train, end; return whether it trained."""
    with helper:
        if not helper.called(preemption or Preemption()):
            return False
        with helper.training(preemption or Preemption(), None):
            work()
    return True


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (RunBusy("process 7 has it"), RunBusy, "process 7 has it"),
        (ConfigError("no such file", hint="omit it"), InputError, "no such file\n  omit it"),
        (RunDiverged("it has diverged"), RunDiverged, "it has diverged"),
        (RunError("damaged"), RunError, "damaged"),
        (OSError(28, "No space left"), RunError, "OSError: [Errno 28] No space left"),
        (AssertionError(), RunError, "AssertionError"),
    ],
)
def test_tasks_end_with_the_error_of_the_first(tasks, other, error, kind, text):
    helped = other(part, tasks(1))
    with pytest.raises(type(error)), tasks(0):
        raise error
    with pytest.raises(kind) as told:
        helped.result(timeout=60)
    assert str(told.value) == f"the first process of the run has ended: {text}"


@pytest.mark.parametrize("error", [None, preempted(signal.SIGTERM), KeyboardInterrupt()])
def test_tasks_end_quietly_if_there_is_nothing_to_do_or_the_first_was_stopped(tasks, other, error):
    helper, first = tasks(1), tasks(0)
    helped = other(part, helper)
    while helper._line is None:  # one that comes later has got the signal, too
        time.sleep(0.01)
    with contextlib.suppress(RunPreempted, KeyboardInterrupt), first:
        if error is not None:
            raise error
    assert helped.result(timeout=60) is False


def test_a_late_task_is_still_told(tasks, other):
    late = tasks(1)
    first = tasks(0)
    threading.Timer(0.2, lambda: other(part, late)).start()
    began = time.monotonic()
    with first:
        pass
    assert time.monotonic() - began < 5


def test_sigterm_ends_a_task_that_waits(tasks):
    preemption = Preemption()
    with preemption.listening():
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGTERM]).start()
        with pytest.raises(RunPreempted):  # no first process at all
            part(tasks(1), preemption=preemption)


def test_sigterm_ends_a_first_process_that_waits(tasks, tmp_path):
    with pytest.raises(RunPreempted), tasks(0) as first, first.training(stopped(), RunFolder(tmp_path)):
        raise AssertionError("nothing came")


def test_all_train_at_the_same_time(tasks, other, tmp_path):
    both = threading.Barrier(2)
    helped = other(part, tasks(1), lambda: both.wait(5))
    with tasks(0) as first:
        with first.training(Preemption(), RunFolder(tmp_path)):
            port = os.environ["MASTER_PORT"]
            both.wait(5)
        assert helped.result(timeout=60) is True  # while the first one tests
    assert port.isdigit()


@pytest.mark.parametrize("number", [0, 1])
def test_a_stop_before_training_stops_all(tasks, other, tmp_path, number):
    helper, first, preemption = tasks(1), tasks(0), Preemption()
    helped = other(part, helper, lambda: None, stopped() if number else preemption)
    if number:
        with pytest.raises(RunPreempted):
            helped.result(timeout=60)
    else:
        preemption = stopped()
    with pytest.raises(RunPreempted) as ended, first, first.training(preemption, RunFolder(tmp_path)):
        raise AssertionError("nobody trains")
    assert ended.value.signum == signal.SIGUSR2
    assert number or helped.result(timeout=60) is False


def test_a_helper_that_is_stopped_when_it_is_ready_leaves_the_decision_to_the_first(tasks, other):
    """The other may be on its way to torch's meeting: then they agree on a step."""
    first = tasks(0)

    def wait_for_the_end(helper, preemption):
        with helper, contextlib.suppress(RunPreempted):
            assert helper.called(preemption)
            preemption._note(signal.SIGUSR2, None)
            with helper.training(preemption, None):
                return "trained"
        return "stopped"

    for answer, outcome in ((Word.TRAIN, 1), "trained"), ((Word.DONE,), "stopped"):
        helped = other(wait_for_the_end, tasks(1), Preemption())
        line = group.Connection(first._tasks.accept()[0].detach())
        assert group.hear(line) == [Word.HERE, 1, first.name]
        say(line, Word.BEGIN)
        assert group.hear(line) == [Word.READY]
        assert group.hear(line) == [Word.STOPPED, signal.SIGUSR2]
        say(line, *answer)
        assert helped.result(timeout=60) == outcome
        line.close()
    first._hang_up()


def test_different_runs_are_refused(tasks, other, tmp_path):
    helped = other(part, tasks(1, seed=1))
    with pytest.raises(InputError) as refused, tasks(0) as first, first.training(Preemption(), RunFolder(tmp_path)):
        raise AssertionError("nobody trains")
    assert "the tasks of this step train different runs: toy" in str(refused.value)
    with pytest.raises(InputError, match="train different runs"):
        helped.result(timeout=60)


def test_a_task_that_fails_or_is_killed_before_training_is_named(tasks, tmp_path):
    for last, text in ([Word.FAILED, "ValueError: 3", "RunError"], "failed: ValueError: 3"), (None, "killed?"):
        helper, first = tasks(1), tasks(0)
        line = group._call(helper._address)
        say(line, Word.HERE, 1, first.name)
        if last:
            say(line, *last)
        line.close()
        with pytest.raises(RunError) as ended, first, first.training(Preemption(), RunFolder(tmp_path)):
            raise AssertionError("nobody trains")
        assert str(ended.value).startswith("process 1 of the run on 2 devices ")
        assert text in str(ended.value)


def test_tasks_that_never_come_are_counted(tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(group, "COME_S", 0.0)
    monkeypatch.setattr(group, "WAIT_S", 0.0)
    with (
        pytest.raises(RunError, match="2 tasks make the run, but only 0 came within 0 s"),
        tasks(0) as first,
        first.training(Preemption(), RunFolder(tmp_path)),
    ):
        raise AssertionError("nobody trains")
    monkeypatch.setattr(group, "FIRST_S", 0.0)
    with pytest.raises(RunError, match="the first of the tasks that make the run has not come"):
        part(tasks(1))


def test_who_is_waited_for_is_said_once_with_the_end_of_the_wait(tasks, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(group, "SAY_S", 0.05)
    monkeypatch.setattr(group, "COME_S", 0.3)
    monkeypatch.setattr(group, "WAIT_S", 0.0)
    folder, before = RunFolder(tmp_path), datetime.now()
    with pytest.raises(RunError), tasks(0) as first, first.training(Preemption(), folder):
        raise AssertionError("nobody trains")
    ends = {f"{before + timedelta(seconds=seconds):%H:%M:%S}" for seconds in range(60)}
    (line,) = capsys.readouterr().out.splitlines()
    text, end = line.split("(until ")
    assert text == "waiting for task 1 of 2 that make the run "
    assert end.rstrip(")") in ends
    assert line in (tmp_path / "log.txt").read_text()

    monkeypatch.setattr(group, "FIRST_S", 0.3)
    with pytest.raises(RunError, match="has not come"):
        part(tasks(1))
    (line,) = capsys.readouterr().out.splitlines()
    text, end = line.split(" (until ")
    assert text.startswith("task 1 waits for the first of the tasks that make toy-")
    assert end.rstrip(")") in ends


def broken(known=None):
    """End as after an error of the connection, once its cause is known."""
    assert known is None or known.wait(5)
    raise RuntimeError("Connection closed by peer")  # gloo's words are similar


def test_an_error_of_the_connection_is_told_by_its_cause(tasks, other, tmp_path):
    def fail():
        raise ValueError("3")

    helped = other(part, tasks(1), fail)
    with pytest.raises(RunError) as ended, tasks(0) as first, first.training(Preemption(), RunFolder(tmp_path)):
        broken(first._news)
    assert str(ended.value) == "process 1 of the run on 2 devices failed: ValueError: 3"
    assert isinstance(helped.exception(timeout=60), ValueError)

    helper = tasks(1)
    helped = other(part, helper, lambda: broken(helper._ended))
    with (
        pytest.raises(OSError, match="No space left"),
        tasks(0) as first,
        first.training(Preemption(), RunFolder(tmp_path)),
    ):
        raise OSError(28, "No space left")
    with pytest.raises(RunError, match=r"the first process of the run has ended: OSError: .* No space left"):
        helped.result(timeout=60)


def test_a_helper_that_still_builds_its_model_is_ended_with_the_reason(tasks, other, monkeypatch):
    monkeypatch.setattr(group, "NOTICE_S", 0.0)
    said, ended = [], threading.Event()
    monkeypatch.setattr(group, "_end_now", lambda text: said.append(text) or ended.set())
    helper, first = tasks(1), tasks(0)
    called = other(helper.called, Preemption())
    line = group.Connection(first._tasks.accept()[0].detach())
    say(line, Word.BEGIN)
    assert called.result(timeout=60)
    say(line, Word.FAILED, "process 2 failed", "RunError")
    assert ended.wait(5)
    assert said == ["the first process of the run has ended: process 2 failed"]
    line.close()
    first._hang_up()


def test_a_process_that_does_not_notice_is_ended_with_the_reason(tasks, other, tmp_path, monkeypatch):
    """As NCCL may not, which waits for the other for minutes."""
    said, ended = [], threading.Event()
    monkeypatch.setattr(group, "WAIT_S", 0.0)
    monkeypatch.setattr(group, "_end_now", lambda text: said.append(text) or ended.set())

    def fail():
        raise ValueError("3")

    folder = RunFolder(tmp_path)
    helped = other(part, tasks(1), fail)
    with tasks(0) as first, first.training(Preemption(), folder):
        assert ended.wait(5)
    assert said == ["process 1 of the run on 2 devices failed: ValueError: 3"] == [folder.read_status()["message"]]
    assert folder.state == "failed"
    assert helped.exception(timeout=60)

    ended.clear()
    helper, first = tasks(1), tasks(0)
    trains = threading.Event()
    helped = other(part, helper, lambda: trains.set() or ended.wait(5))
    line = group.Connection(first._tasks.accept()[0].detach())
    say(line, Word.BEGIN)
    say(line, Word.TRAIN, 1)
    assert [group.hear(line)[0] for _ in range(2)] == [Word.HERE, Word.READY]
    assert trains.wait(5)
    line.close()  # as the operating system does when it kills this process
    assert helped.result(timeout=60)
    first._hang_up()
    why = (
        "the first process of the run has ended without a word (killed? out of memory?); run the same command to resume"
    )
    assert said[1:] == [why]
