"""The answer to a wrong configuration: one message that names the setting, where it came from and what to do."""

from __future__ import annotations

from sparseid.errors import InputError


class ConfigError(InputError):
    """A configuration that cannot be run; ``str(error)`` is ready to print.

    Parameters
    ----------
    problem
        What is wrong, naming the setting.
    source
        The file or the command-line override the setting came from.
    hint
        What to do: the nearest valid name, the command to use instead.
    """

    def __init__(self, problem: str, *, source: str = "", hint: str = "") -> None:
        self.problem, self.source, self.hint = problem, source, hint
        lines = [problem, source and f"from: {source}", *hint.splitlines()]
        super().__init__("\n  ".join(line for line in lines if line))
