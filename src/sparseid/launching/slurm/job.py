"""The content of a SLURM job: one serialized run."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import submitit

from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.config.stored import parse_run_config
from sparseid.files import share
from sparseid.launching.one_run import DONE, FAILED, make_run
from sparseid.printing import protect_output
from sparseid.training.errors import RunPreempted
from sparseid.training.run_folder import RunFolder

SUBMITTER_S = 60.0
"""Seconds that a job waits for its submitter to write the job's id into the run's folder."""


def status_folder(cfg: RunConfig) -> RunFolder:
    """Return the folder with the status.json of a run: for a forced one its ``remake``."""
    folder = RunFolder(run_directory(cfg))
    return folder.remake if cfg.force else folder


class SerializedJob:
    """The callable that submitit stores and calls in the job.

    Parameters
    ----------
    text
        The configuration as it was at submission.
    folder
        The folder of the run; the job fails if its configuration now belongs to another run, because a file in its
        settings has changed.
    """

    def __init__(self, text: str, folder: Path) -> None:
        self.text, self.folder = text, folder

    def __call__(self) -> None:
        """Make the run.

        Raises
        ------
        SystemExit
            With a non-zero code if the run failed: the job's state is then FAILED.
        """
        protect_output()
        cfg = parse_run_config(self.text, "the configuration at submission")
        share(Path(cfg.outputs))
        if run_directory(cfg) != self.folder:
            print(f"error: a file in the settings of {self.folder.name} has changed since the job was submitted")
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
        """Return the job after a requeue: the same, because the run continues from its folder."""
        return submitit.helpers.DelayedSubmission(self)


def _wait_for_submitter(folder: RunFolder) -> None:
    """Wait until the submitter has written the job's id: two writers of one status.json would overwrite each other."""
    if "SLURM_RESTART_COUNT" in os.environ:
        return
    job = submitit.JobEnvironment().job_id
    end = time.monotonic() + SUBMITTER_S
    while (folder.read_status() or {}).get("job") != job and time.monotonic() < end:
        time.sleep(0.2)
