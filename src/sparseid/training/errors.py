"""Errors of a run whose message is ready to print: what happened, where, and what to do."""

from __future__ import annotations

import errno


class RunError(Exception):
    """A run cannot start or go on; the message says what to do."""


class RunBusy(RunError):
    """Another process makes this run."""


class RunDiverged(RunError):
    """The training loss is no longer finite."""


def disk_full(error: BaseException) -> bool:
    """Return whether `error` says that nothing more can be written: full disk, quota, limit on the size of a file."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
