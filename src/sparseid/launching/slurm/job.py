"""What runs inside of a SLURM job: one frozen cell."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import submitit

from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.config.stored import parse_run_config
from sparseid.launching.one_run import DONE, FAILED, make_run
from sparseid.training.errors import RunPreempted
from sparseid.training.run_folder import RunFolder

SUBMITTER_S = 60.0
"""How long a job that starts at once waits for its submitter to note the job's id in the run's folder, seconds."""


def status_folder(cfg: RunConfig) -> RunFolder:
    """Return the folder whose status.json speaks of the run asked for: of a forced one its ``remake``."""
    folder = RunFolder(run_directory(cfg))
    return folder.remake if cfg.force else folder


class SerializedJob:
    """The callable that submitit stores and calls in the job.

    Parameters
    ----------
    text
        The configuration as it was at submission.
    folder
        The folder of the run; a job whose configuration now stands for another run (a file that a setting names was
        edited) refuses to make it.
    """

    def __init__(self, text: str, folder: Path) -> None:
        self.text, self.folder = text, folder

    def __call__(self) -> None:
        """Make the cell.

        Raises
        ------
        SystemExit
            With a code other than 0 if the cell failed: SLURM then says FAILED.
        """
        cfg = parse_run_config(self.text, "the configuration frozen at submission")
        if run_directory(cfg) != self.folder:
            print(f"error: a file that the settings of {self.folder.name} name has changed since the job was submitted")
            raise SystemExit(FAILED)
        _wait_for_submitter(status_folder(cfg))
        requeue = signal.getsignal(signal.SIGUSR2)  # submitit's; a run has its own while it trains
        try:
            outcome = make_run(cfg, page=False)
        except RunPreempted as stopped:
            if stopped.signum == signal.SIGUSR2:
                signal.signal(signal.SIGUSR2, requeue)
                signal.raise_signal(signal.SIGUSR2)
            raise
        if outcome.code != DONE:
            raise SystemExit(outcome.code)

    def checkpoint(self) -> submitit.helpers.DelayedSubmission:
        """Return what submitit runs after a requeue: the same, for the run goes on from its own folder."""
        return submitit.helpers.DelayedSubmission(self)


def _wait_for_submitter(folder: RunFolder) -> None:
    """Let the submitter write the job's id first: two writers of one status.json would take turns."""
    if "SLURM_RESTART_COUNT" in os.environ:
        return
    job = submitit.JobEnvironment().job_id
    end = time.monotonic() + SUBMITTER_S
    while (folder.read_status() or {}).get("job") != job and time.monotonic() < end:
        time.sleep(0.2)
