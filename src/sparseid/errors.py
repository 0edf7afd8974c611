"""Errors that are the user's to mend."""


class InputError(Exception):
    """Something the user gave cannot be used; the message says what, where it came from and what to do.

    Shown without a traceback: the command line prints the message and exits with code 2.

    Parameters
    ----------
    message
        Ready to print.
    keys
        The settings at fault, dotted: ``("data.margin", "data.jitter")``.
    """

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys
