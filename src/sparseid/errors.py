"""Errors that the user can fix."""


class InputError(Exception):
    """Invalid user input; the message names it, its source and the remedy.

    Shown without a traceback: the command line prints the message and exits with code 2.

    Parameters
    ----------
    message
        Text ready to print.
    keys
        Dotted names of the settings at fault: ``("data.margin", "data.jitter")``.
    """

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys


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
