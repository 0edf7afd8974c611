"""Errors of a run whose message is ready to print: what happened, where, and what to do."""

from __future__ import annotations


class RunError(Exception):
    """A run cannot start or go on; the message says what to do."""

    exit_code = 1


class RunBusy(RunError):
    """Another process makes this run."""


class RunDiverged(RunError):
    """The training loss is no longer finite."""
