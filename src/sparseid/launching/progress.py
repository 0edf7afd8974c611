"""Progress of a sweep: a line at every change of a run and every half minute, or a bar in a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sparseid.launching.one_run import DONE, Outcome

EVERY_S = 30.0
"""Seconds between two lines without changes."""


class SweepProgress:
    """Count the runs of a sweep and print its progress.

    Parameters
    ----------
    names
        The runs.
    at_once
        Number of concurrent runs.
    """

    def __init__(self, names: Sequence[str], at_once: int):
        self.total, self.at_once = len(names), at_once
        self.begun: dict[str, float] = {}
        self.durations: list[float] = []
        self.failed = 0
        self._waiting_for: set[str] = set()
        self._started = self._printed_at = time.monotonic()
        self._lock = threading.Lock()  # runs begin in the threads of a pool
        terminal = sys.stdout.isatty()
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=Console(), disable=not terminal)
        self._task = self._bar.add_task("", total=self.total)

    def __enter__(self) -> SweepProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def began(self, name: str) -> None:
        """Record that a run's process has started."""
        with self._lock:
            self.begun[name] = time.monotonic()

    def waits(self, name: str, reason: str) -> None:
        """Print once that a run waits for another process."""
        with self._lock:
            self.begun.pop(name, None)
        if name not in self._waiting_for:
            self._waiting_for.add(name)
            self._print(f"{name} waits: {reason}")

    def ended(self, outcome: Outcome) -> None:
        """Record and print the outcome of a run."""
        with self._lock:
            self.durations.append(time.monotonic() - self.begun.pop(outcome.name, time.monotonic()))
        self.failed += outcome.code != DONE
        how = "done" if outcome.code == DONE else f"FAILED: {outcome.message}"
        self._print(f"{outcome.name} {how}\n{self.line()}")
        self._bar.update(self._task, completed=len(self.durations), description=self.line())

    def tick(self) -> None:
        """Print the progress if that was some time ago."""
        self._bar.update(self._task, description=self.line())
        if time.monotonic() - self._printed_at >= EVERY_S and self._bar.disable:
            self._print(self.line())

    def line(self) -> str:
        """Return the numbers of runs that are done, running and waiting, and an estimate of the remaining time."""
        with self._lock:
            ended, running = len(self.durations), len(self.begun)
            parts = [f"{ended - self.failed} of {self.total} done"]
            parts += [f"{self.failed} failed"] if self.failed else []
            parts += [f"{running} running", f"{self.total - ended - running} waiting"]
            if left := self._seconds_left():
                parts.append(f"about {timedelta(seconds=int(left))} left")
        return ", ".join(parts)

    def _seconds_left(self) -> float | None:
        """Return the mean duration so far for every unfinished run, less the elapsed time of running ones."""
        if not self.durations or len(self.durations) == self.total:
            return None
        mean = sum(self.durations) / len(self.durations)
        now = time.monotonic()
        waiting = self.total - len(self.durations) - len(self.begun)
        running = sum(max(mean - (now - since), 0.0) for since in self.begun.values())
        return (waiting * mean + running) / min(self.at_once, waiting + len(self.begun) or 1)

    def _print(self, text: str) -> None:
        self._printed_at = time.monotonic()
        if self._bar.disable:
            print(text, flush=True)
        else:
            self._bar.console.print(text.splitlines()[0], highlight=False, markup=False, soft_wrap=True)
