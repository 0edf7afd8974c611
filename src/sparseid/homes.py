"""Home folders in the paths of users."""

from __future__ import annotations

import os
from pathlib import Path

from sparseid.errors import InputError


def expanded(path: str | Path) -> str:
    """Return a path with a leading ``~`` or ``~user`` replaced by the home folder.

    Raises
    ------
    InputError
        If there is no such user, nor a file of that name, or the path has a NUL character, as no file's name has.

    Examples
    --------
    >>> expanded("~/data") == str(Path.home() / "data"), expanded("data/~x"), expanded("")
    (True, 'data/~x', '')
    """
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} has a NUL character: remove it")
    found = os.path.expanduser(path)
    home, _, _ = found.partition(os.sep)
    if home.startswith("~") and not os.path.lexists(home):
        reason = f"there is no user {home[1:]!r}" if home[1:] else "the home folder is not known"
        raise InputError(f"{path}: {reason}: write the whole path, or ./{home} for a folder of that name")
    return found
