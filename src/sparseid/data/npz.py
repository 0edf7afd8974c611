"""NumPy's npz files of users."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import DAMAGED
from sparseid.errors import InputError


def read_npz(path: Path, needed: Sequence[str] = (), optional: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file by name; see `open_npz`.

    Parameters
    ----------
    path
        The file.
    needed
        Arrays that it must have.
    optional
        Arrays that are read, too, if there are any; None for all.

    Raises
    ------
    InputError
        As of `open_npz`, and if it lacks an array.
    """
    with open_npz(path) as file:
        if missing := [name for name in needed if name not in file.files]:
            arrays = f"array{'s' if len(missing) > 1 else ''} {' and '.join(missing)}"
            raise InputError(f"it lacks the {arrays} (found: {', '.join(file.files)})")
        return {name: file[name] for name in file.files if optional is None or name in (*needed, *optional)}


@contextmanager
def open_npz(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """Open an npz file, whose arrays are read within the context; pickled objects are refused.

    Raises
    ------
    InputError
        If the file, or an array that is read within the context, cannot be read; the message leaves out its name.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise InputError("it holds one array without a name: numpy.savez saves several by name")
        with loaded as file:
            yield file
    except OSError as error:
        raise InputError(f"it cannot be read: {os.strerror(error.errno or 0)}") from error
    except (RuntimeError, NotImplementedError, *DAMAGED) as error:  # encrypted, compressed in another way, damaged
        pickled = "allow_pickle" in str(error) and not isinstance(error, BadZipFile)
        text = "it is no npz file, or has pickled objects, which are refused: save arrays of numbers with numpy.savez"
        raise InputError(text if pickled else "it is not a complete npz file: copy or save it again") from error
