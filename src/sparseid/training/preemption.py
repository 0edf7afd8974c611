"""Requests to stop a run before its end: SIGTERM, SIGUSR2 and the end of a SLURM job.

Signals only set a flag: saving inside a signal handler could save a state in the middle of a step, or while a file is
being written. The run checks the flag between two batches (`sparseid.training.checkpoints.LastCheckpoint`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from sparseid.training.errors import RunPreempted

GO_ON = "run the same command to resume"

REASONS = {signal.SIGTERM: "stopped from outside", signal.SIGUSR2: "the time limit of the job is near"}
"""Signals that stop a run between two batches, and their meaning."""

DUPLICATES_S = 0.2
"""Seconds within which a second SIGTERM counts as the same: schedulers signal a process and then its whole group."""


def preempted(signum: int) -> RunPreempted:
    """Return the exception that ends a run stopped by `signum`."""
    return RunPreempted(signum, f"{REASONS[signal.Signals(signum)]}; {GO_ON}")


def slurm_job() -> str:
    """Return the id of the SLURM job around this process (``123``, in an array ``123_4``), or an empty string."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID", "")


class Preemption:
    """Requests to stop the run.

    Parameters
    ----------
    stop_before_s
        Seconds before the end of the SLURM job (``SLURM_JOB_END_TIME``) at which the run is asked to stop; at most
        half of the remaining time, so that every start makes progress.
    """

    def __init__(self, stop_before_s: float = 60.0):
        self._signum = 0
        self._previous: dict[signal.Signals, Any] = {}
        self._stop_at = _stop_at(stop_before_s)

    @property
    def signum(self) -> int:
        """Signal that the run should end with: 0 for none, SIGUSR2 for the time limit; SIGTERM takes precedence."""
        if not self._signum and time.time() >= self._stop_at:
            self._signum = signal.SIGUSR2
        return self._signum

    def check(self) -> None:
        """Check the flag when there is nothing to save.

        Raises
        ------
        RunPreempted
            If the run has been asked to stop.
        """
        if self.signum:
            raise preempted(self.signum)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals during a run, then restore the previous handlers.

        Python delivers signals only to the main thread; in other threads nothing is changed.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._previous = {signum: signal.getsignal(signum) for signum in REASONS}
        try:
            for signum in REASONS:
                signal.signal(signum, self._note)
            yield
        finally:
            for signum in REASONS:
                self._give_back(signum)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        """Set the flag; the first SIGTERM restores the old handler, so that the next ends a run that hangs in C."""
        if self._signum == signal.SIGTERM:
            return
        self._signum = signum
        if signum == signal.SIGTERM:
            time.sleep(DUPLICATES_S)
            self._give_back(signal.SIGTERM)

    def _give_back(self, signum: signal.Signals) -> None:
        previous = self._previous[signum]
        signal.signal(signum, signal.SIG_DFL if previous is None else previous)  # None: not installed by Python


def _stop_at(stop_before_s: float) -> float:
    """Return the time (epoch seconds) at which to stop; infinity without a SLURM job."""
    try:
        end = float(os.environ["SLURM_JOB_END_TIME"])
    except (KeyError, ValueError):
        return float("inf")
    return end - min(stop_before_s, max(end - time.time(), 0.0) / 2)
