"""Errors of a run, with a message that is ready to print: event, place and remedy."""

from __future__ import annotations

import errno


class RunError(Exception):
    """A run cannot start or resume; the message has the remedy."""


class RunBusy(RunError):
    """Another process is executing this run."""


class RunDiverged(RunError):
    """The training loss is no longer finite."""


class RunPreempted(SystemExit):
    """A run was saved and stopped because of a signal; the same command resumes it.

    This is not an error: like any SystemExit it ends the process, with exit code 128 + signal, unless it is caught.

    Parameters
    ----------
    signum
        SIGTERM (external stop) or SIGUSR2 (the time limit is near, and the job should be requeued).
    message
        Event and remedy.
    """

    def __init__(self, signum: int, message: str):
        super().__init__(128 + signum)
        self.signum = signum
        self.message = message


def disk_full(error: BaseException) -> bool:
    """Return whether `error` means that no more can be written: full disk, quota or file size limit."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
