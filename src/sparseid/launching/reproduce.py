"""Run what is missing of every artefact, one command after the other, then the report."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from sparseid.config.search_path import CONFIGS
from sparseid.errors import InputError
from sparseid.launching.one_run import DONE, FAILED, REFUSED
from sparseid.launching.plan import PlannedArtefact, PlannedRun, Workload, plan_artefacts, total
from sparseid.launching.plan_view import print_workload, states_text

ROOT = CONFIGS.parent


class Stopped(BaseException):
    """A signal asked to stop."""

    def __init__(self, signum: int):
        super().__init__(signum)
        self.signum = signum


@dataclass(frozen=True)
class Request:
    """The artefacts to reproduce, and how.

    Parameters
    ----------
    scale
        smoke, small or paper.
    outputs
        The folder of runs.
    launcher
        A choice of ``hydra/launcher``.
    settings
        Further overrides of every command, for example ``hydra.launcher.partition=gpu``.
    again_measured
        Also run what has recorded results.
    only
        Papers and artefacts; empty for all.
    """

    scale: str
    outputs: Path
    launcher: str = "local"
    settings: tuple[str, ...] = ()
    again_measured: bool = False
    only: tuple[str, ...] = ()

    def plan(self) -> Workload:
        """Return all artefacts as they stand now."""
        overrides = [f"hydra/launcher={self.launcher}", *self.settings]
        counted = not self.again_measured
        return plan_artefacts(self.scale, self.outputs, overrides, count_measured=counted, only=self.only)

    def command(self, artefact: PlannedArtefact) -> list[str]:
        """Return the command that runs an artefact's preset."""
        overrides = [f"experiment={artefact.id}", f"scale={self.scale}", f"outputs={self.outputs}"]
        overrides += [f"hydra/launcher={self.launcher}", *self.settings]
        options = [] if self.again_measured else ["--skip-measured"]
        return [sys.executable, str(ROOT / "run.py"), *overrides, *options]


def reproduce(request: Request) -> int:
    """Run what is missing of every artefact that has a preset, then the report; go on after a failure.

    Returns
    -------
    int
        0 if nothing failed, 1 if something did, 2 if nothing can be run; 128 + signal after Ctrl-C or SIGTERM. The same
        command goes on.
    """
    try:
        with Commands() as commands:
            return _reproduce(request, commands)
    except Stopped as stop:
        print("\nstopped; the same command goes on", file=sys.stderr, flush=True)
        return 128 + stop.signum


def _reproduce(request: Request, commands: Commands) -> int:
    try:
        workload = request.plan()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return REFUSED
    print_workload(workload)
    if not workload.runs():
        problems = sorted({artefact.problem for artefact in workload.artefacts if artefact.refused})
        for problem in problems or [f"no artefact has a preset at scale={request.scale}"]:
            print(f"error: {problem}", file=sys.stderr)
        return REFUSED
    codes = {artefact.id: REFUSED for artefact in workload.artefacts if artefact.refused}
    for artefact in in_order(workload.artefacts):
        command = request.command(artefact)
        print(f"\n=== {artefact.id}\n{' '.join(command[1:])}", flush=True)
        codes[artefact.id] = commands.run(command)
    print("\n=== report", flush=True)
    report = commands.run([sys.executable, str(ROOT / "scripts" / "report.py"), "--outputs", str(request.outputs)])
    return _summary(request.plan(), codes, report)


def to_do(artefact: PlannedArtefact) -> dict[str, PlannedRun]:
    """Return the unfinished runs of an artefact by name; one that has diverged would again."""
    return {run.name: run for run in artefact.runs if not run.finished and run.state != "diverged"}


def in_order(artefacts: Sequence[PlannedArtefact]) -> Iterator[PlannedArtefact]:
    """Yield the artefacts that lack runs, always the one that takes the least time next, unknown ones last.

    Runs shared with earlier artefacts cost nothing; an artefact without runs of its own left is skipped.
    """
    by_id = {artefact.id: artefact for artefact in artefacts}
    lacking = {name: to_do(artefact) for name, artefact in by_id.items()}

    def cost(name: str) -> tuple[bool, float, int]:
        summed = total(lacking[name].values())
        return summed.unknown > 0, summed.seconds, summed.runs

    while lacking := {name: runs for name, runs in lacking.items() if runs}:
        soonest = min(lacking, key=cost)
        yield by_id[soonest]
        asked = lacking.pop(soonest)
        lacking = {other: {n: run for n, run in runs.items() if n not in asked} for other, runs in lacking.items()}


class Commands:
    """Runs commands one after the other and hands signals that ask to stop on to the one that is running.

    Used as a context: signals that were ignored before (nohup) stay so.
    """

    def __init__(self) -> None:
        self.signum = 0
        self._starting = False
        self._process: subprocess.Popen | None = None
        self._before: dict[signal.Signals, Any] = {}

    def run(self, command: Sequence[str]) -> int:
        """Run a command to its end and return its exit code.

        Raises
        ------
        Stopped
            After a signal, once the command has ended by it.
        """
        self._starting = True
        # a process group of its own: Ctrl-C in a terminal reaches it once, through us
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
        self._starting = False
        if self.signum:
            self._hand_on(self.signum)
        code = self._process.wait()
        self._process = None
        if self.signum:
            raise Stopped(self.signum)
        return code

    def _take(self, signum: int, frame: FrameType | None) -> None:
        self.signum = self.signum or signum
        if self._process is not None:
            self._hand_on(signum)
        elif not self._starting:
            raise Stopped(signum)

    def _hand_on(self, signum: int) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM if signum == signal.SIGHUP else signum)

    def __enter__(self) -> Commands:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(signum)
            if before is not signal.SIG_IGN:
                self._before[signum] = signal.signal(signum, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)


def _summary(workload: Workload, codes: Mapping[str, int], report: int) -> int:
    """Say what is done and what is not; return the exit code."""
    print(f"\nscale={workload.scale}")
    for artefact in workload.artefacts:
        if artefact.refused:
            print(f"  {artefact.id}: cannot be run: {artefact.problem}")
        elif artefact.runs:
            print(f"  {artefact.id}: {states_text(total(artefact.runs))}")
    runs = workload.runs()
    failed = [run for run in runs.values() if run.state in ("failed", "diverged")]
    for run in failed:
        print(f"  {run.state}: {run.name}: {run.message}\n    {run.folder / 'log.txt'}")
    for name in (name for name, code in codes.items() if code != DONE):
        print(f"  {name}: its command ended with {codes[name]}")
    if report != DONE:
        print("  the report could not be made")
    summed = total(runs.values())
    bad = bool(failed or report) or any(codes.values())
    if summed.finished == summed.runs and not bad:
        print(f"all {summed.runs} runs done")
        return DONE
    print(f"{summed.finished} of {summed.runs} runs done; the same command goes on", flush=True)
    return FAILED if bad else DONE
