"""HDF5 files of users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sparseid.data.paths import unusable
from sparseid.errors import InputError


@contextmanager
def open_h5(path: Path, keys: tuple[str, ...]) -> Iterator[Any]:
    """Open an h5 file for reading; errors while it is read within the context name it.

    Parameters
    ----------
    path
        The file.
    keys
        Settings at fault if it cannot be read.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    import h5py

    if reason := unusable(path):
        raise InputError(f"{path} {reason}", keys)
    try:
        with h5py.File(path) as file:
            yield file
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        text = f"{path} cannot be read as an h5 file: {reason}. It may be truncated: copy it again"
        raise InputError(text, keys) from error
