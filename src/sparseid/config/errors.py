"""Configuration error with one message that names the setting, its source and the remedy."""

from __future__ import annotations

from sparseid.errors import InputError


class ConfigError(InputError):
    """Invalid configuration; ``str(error)`` is ready to print.

    Parameters
    ----------
    problem
        Description of the error that names the setting.
    source
        File or command-line override that set the value.
    hint
        Remedy, such as the closest valid name or the command to use instead.
    """

    def __init__(self, problem: str, *, source: str = "", hint: str = "") -> None:
        self.problem, self.source, self.hint = problem, source, hint
        lines = [problem, source and f"from: {source}", *hint.splitlines()]
        super().__init__("\n  ".join(line for line in lines if line))
