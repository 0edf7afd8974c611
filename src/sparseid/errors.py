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
