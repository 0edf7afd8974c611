"""Run the missing runs of every artefact, one command after the other, then the report."""

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
    """Raised after a signal to stop."""

    def __init__(self, signum: int):
        super().__init__(signum)
        self.signum = signum


@dataclass(frozen=True)
class Request:
    """The artefacts to reproduce, and settings of their runs."""

    scale: str
    """smoke, small or paper."""
    outputs: Path
    """The folder of runs."""
    launcher: str = "local"
    """A choice of ``hydra/launcher``."""
    settings: tuple[str, ...] = ()
    """Further overrides of every command, for example ``hydra.launcher.partition=gpu``."""
    again_recorded: bool = False
    """True to repeat runs with recorded results."""
    only: tuple[str, ...] = ()
    """Papers and artefacts; empty for all."""

    def plan(self) -> Workload:
        """Return the present state of the artefacts."""
        overrides = [f"hydra/launcher={self.launcher}", *self.settings]
        counted = not self.again_recorded
        return plan_artefacts(self.scale, self.outputs, overrides, count_recorded=counted, only=self.only)

    def command(self, artefact: PlannedArtefact) -> list[str]:
        """Return the command of an artefact's preset."""
        overrides = [f"experiment={artefact.id}", f"scale={self.scale}", f"outputs={self.outputs}"]
        overrides += [f"hydra/launcher={self.launcher}", *self.settings]
        options = [] if self.again_recorded else ["--skip-recorded"]
        return [sys.executable, str(ROOT / "run.py"), *overrides, *options]


def reproduce(request: Request) -> int:
    """Run the missing runs of every artefact with a preset, then the report; continue after a failure.

    Returns
    -------
    int
        0 if nothing failed, 1 if something did, 2 if nothing can be run; 128 + signal after Ctrl-C or SIGTERM. The same
        command continues.
    """
    try:
        with Commands() as commands:
            return _reproduce(request, commands)
    except Stopped as stop:
        print("\nstopped; the same command continues", file=sys.stderr, flush=True)
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
    """Return the unfinished runs of an artefact by name, without those that have diverged and would again."""
    return {run.name: run for run in artefact.runs if not run.finished and run.state != "diverged"}


def in_order(artefacts: Sequence[PlannedArtefact]) -> Iterator[PlannedArtefact]:
    """Yield the artefacts with missing runs by their remaining time, unknown ones last.

    Runs shared with earlier artefacts cost nothing; artefacts with no others are skipped.
    """
    by_id = {artefact.id: artefact for artefact in artefacts}
    missing = {name: to_do(artefact) for name, artefact in by_id.items()}

    def cost(name: str) -> tuple[bool, float, int]:
        summed = total(missing[name].values())
        return summed.unknown > 0, summed.seconds, summed.runs

    while missing := {name: runs for name, runs in missing.items() if runs}:
        soonest = min(missing, key=cost)
        yield by_id[soonest]
        planned = missing.pop(soonest)
        missing = {other: {n: run for n, run in runs.items() if n not in planned} for other, runs in missing.items()}


class Commands:
    """Context that runs commands one after the other and forwards signals to the one that is running.

    Signals that were ignored before (nohup) remain ignored.
    """

    def __init__(self) -> None:
        self.signum = 0
        self._starting = False
        self._process: subprocess.Popen | None = None
        self._before: dict[signal.Signals, Any] = {}

    def run(self, command: Sequence[str]) -> int:
        """Run a command and return its exit code.

        Raises
        ------
        Stopped
            After a signal, when the command has ended.
        """
        self._starting = True
        # a separate process group: Ctrl-C in a terminal reaches it once, through us
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
        self._starting = False
        if self.signum:
            self._forward(self.signum)
        code = self._process.wait()
        self._process = None
        if self.signum:
            raise Stopped(self.signum)
        return code

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        self.signum = self.signum or signum
        if self._process is not None:
            self._forward(signum)
        elif not self._starting:
            raise Stopped(signum)

    def _forward(self, signum: int) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM if signum == signal.SIGHUP else signum)

    def __enter__(self) -> Commands:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(signum)
            if before is not signal.SIG_IGN:
                self._before[signum] = signal.signal(signum, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)


def _summary(workload: Workload, codes: Mapping[str, int], report: int) -> int:
    """Print the state of all runs; return the exit code."""
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
        print("  the report failed")
    summed = total(runs.values())
    bad = bool(failed or report) or any(codes.values())
    if summed.finished == summed.runs and not bad:
        print(f"all {summed.runs} runs done")
        return DONE
    print(f"{summed.finished} of {summed.runs} runs done; the same command continues", flush=True)
    return FAILED if bad else DONE
