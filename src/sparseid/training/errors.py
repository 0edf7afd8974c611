"""Errors of a run whose message is ready to print: what happened, where, and what to do."""

from __future__ import annotations

import errno


class RunError(Exception):
    """A run cannot start or go on; the message says what to do."""


class RunBusy(RunError):
    """Another process makes this run."""


class RunDiverged(RunError):
    """The training loss is no longer finite."""


class RunPreempted(SystemExit):
    """A run was saved and stopped because of a signal; the same command goes on with it.

    It is no error: like any SystemExit it ends the process, with exit code 128 + signal, unless a launcher takes it up.

    Parameters
    ----------
    signum
        SIGTERM (stopped from outside) or SIGUSR2 (the time limit is near: whoever started the job should requeue it).
    message
        What happened and what to do.
    """

    def __init__(self, signum: int, message: str):
        super().__init__(128 + signum)
        self.signum = signum
        self.message = message


def disk_full(error: BaseException) -> bool:
    """Return whether `error` says that nothing more can be written: full disk, quota, limit on the size of a file."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
