"""The commands of reproduce-all: their order, and the end after a failure or a signal."""

import os
import signal
import sys
import threading
import time

import pytest

from sparseid.launching import reproduce as module
from sparseid.launching.estimate import NOTHING_LEFT, UNKNOWN, Estimate
from sparseid.launching.plan import PlannedArtefact, PlannedRun, Workload
from sparseid.launching.reproduce import Commands, Request, Stopped, in_order, reproduce, to_do


def run(name, state="planned", seconds=60.0, folder=None):
    left = UNKNOWN if seconds is None else Estimate(seconds)
    left = NOTHING_LEFT if state in ("done", "recorded", "diverged") else left
    return PlannedRun(name, folder, state, "why", "", False, "", left)


def artefact(name, *runs, problem=""):
    return PlannedArtefact(name, "toy", name, tuple(runs), problem)


def ids(artefacts):
    return [entry.id for entry in in_order(artefacts)]


def test_what_is_finished_soonest_comes_first():
    a, b, c = (run(name, seconds=seconds) for name, seconds in (("a", 60), ("b", 30), ("c", 300)))
    assert ids([artefact("long", a, b, c), artefact("short", b), artefact("middle", a, b)]) == [
        "short",
        "middle",
        "long",
    ]
    assert ids([artefact("unknown", run("x", seconds=None)), artefact("long", c)]) == ["long", "unknown"]


def test_what_costs_little_beyond_the_ones_before_comes_next():
    shared, extra, other = run("shared", seconds=100), run("extra", seconds=10), run("other", seconds=50)
    order = ids([artefact("first", shared), artefact("other", other), artefact("more", shared, extra)])
    assert order == ["other", "first", "more"]  # more before nothing else: only 10 s are left of it


def test_nothing_is_asked_for_twice_nor_what_is_finished():
    a, b = run("a"), run("b")
    done, measured, diverged = run("d", "done"), run("m", "recorded"), run("x", "diverged")
    assert ids([artefact("one", a, b), artefact("same", b, a), artefact("ready", done, measured, diverged)]) == ["one"]
    assert list(to_do(artefact("all", a, done, measured, diverged, run("f", "failed"), run("p", "preempted")))) == [
        "a", "f", "p",
    ]  # fmt: skip


def test_command_of_an_artefact(tmp_path):
    request = Request("small", tmp_path, "slurm", ("hydra.launcher.partition=gpu",))
    command = request.command(artefact("tbr/fig4"))
    assert command[0] == sys.executable
    assert command[2:] == [
        "experiment=tbr/fig4", "scale=small", f"outputs={tmp_path}", "hydra/launcher=slurm",
        "hydra.launcher.partition=gpu", "--skip-recorded",
    ]  # fmt: skip
    assert "--skip-recorded" not in Request("small", tmp_path, again_recorded=True).command(artefact("tbr/fig4"))


@pytest.fixture
def world(monkeypatch, tmp_path):
    """A toy plan whose commands are noted instead of run; `codes` maps an artefact to the exit code of its command."""

    class World:
        def __init__(self):
            self.artefacts, self.commands, self.codes, self.made = [], [], {}, set()

        def plan(self, *_, **__):
            def now(run_):
                return run(run_.name, "done", folder=tmp_path) if run_.name in self.made else run_

            return Workload(
                "smoke",
                tuple(artefact(a.id, *map(now, a.runs), problem=a.problem) for a in self.artefacts),
            )

        def command(self, command):
            name = next((text.removeprefix("experiment=") for text in command if "experiment=" in text), "report")
            self.commands.append(name)
            code = self.codes.get(name, 0)
            if code == 0:
                self.made |= {r.name for a in self.artefacts if a.id == name for r in a.runs}
            return code

    world = World()
    monkeypatch.setattr(module, "plan_artefacts", world.plan)
    monkeypatch.setattr(Commands, "run", lambda _, command: world.command(command))
    world.request = Request("smoke", tmp_path)
    return world


def test_all_done(world, capsys):
    world.artefacts = [
        artefact("a", run("1")),
        artefact("b", run("1"), run("2")),
        artefact("c", problem="no preset yet"),
    ]
    assert reproduce(world.request) == 0
    assert world.commands == ["a", "b", "report"]
    assert "all 2 runs done" in capsys.readouterr().out
    assert reproduce(world.request) == 0  # nothing is left but the report
    assert world.commands == ["a", "b", "report", "report"]


def test_failure_goes_on(world, capsys, tmp_path):
    world.artefacts = [artefact("a", run("1", "failed", 1, tmp_path)), artefact("b", run("2"))]
    world.codes = {"a": 1}
    assert reproduce(world.request) == 1
    assert world.commands == ["a", "b", "report"]
    said = capsys.readouterr().out
    assert "a: its command ended with 1" in said
    assert "failed: 1: why" in said
    assert "1 of 2 runs done; the same command continues" in said


@pytest.mark.parametrize(
    "spoil",
    [
        lambda world: world.codes.update(report=1),
        lambda world: world.artefacts.append(artefact("d", run("9", "diverged", folder=world.request.outputs))),
        lambda world: world.artefacts.append(artefact("d", problem="unknown key d.e")),
    ],
)
def test_something_failed(world, spoil):
    world.artefacts = [artefact("a", run("1"))]
    spoil(world)
    assert reproduce(world.request) == 1
    assert world.commands == ["a", "report"]


@pytest.mark.parametrize(
    ("problem", "said"), [("no preset yet", "no artefact has a preset"), ("unknown key d.e", "unknown key d.e")]
)
def test_nothing_can_be_run(world, capsys, problem, said):
    world.artefacts = [artefact("a", problem=problem)]
    assert reproduce(world.request) == 2
    assert world.commands == []
    assert said in capsys.readouterr().err


def test_jobs_that_wait_are_no_failure(world, capsys):
    world.artefacts = [artefact("a", run("1"))]
    world.command = lambda _: 0  # handed over, nothing made yet
    assert reproduce(world.request) == 0
    assert "0 of 1 runs done; the same command continues" in capsys.readouterr().out


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_handed_on_and_ends_the_whole(tmp_path, sent):
    """The command notes the signal, takes its time and ends with a code of its own."""
    code = (
        "import pathlib, signal, sys, time\n"
        f"place = pathlib.Path({str(tmp_path)!r})\n"
        "def end(signum, frame):\n    (place / 'got').write_text(str(signum)); time.sleep(0.2); sys.exit(3)\n"
        f"signal.signal({int(sent)}, end); (place / 'ready').touch(); time.sleep(60)"
    )

    def send():
        for _ in range(600):
            if (tmp_path / "ready").exists():
                break
            time.sleep(0.1)
        os.kill(os.getpid(), sent)

    before = signal.signal(sent, lambda *_: pytest.fail("not taken"))
    try:
        thread = threading.Thread(target=send)
        thread.start()
        with pytest.raises(Stopped) as stopped, Commands() as commands:
            commands.run([sys.executable, "-c", code])
        thread.join()
    finally:
        signal.signal(sent, before)
    assert stopped.value.signum == sent
    assert (tmp_path / "got").read_text() == str(int(sent))


def test_a_signal_between_two_commands_begins_no_other():
    with Commands(), pytest.raises(Stopped):
        signal.raise_signal(signal.SIGTERM)


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Commands():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
