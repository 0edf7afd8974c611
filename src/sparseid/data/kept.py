"""Arrays that are made once from files and settings and kept in the data folder."""

from __future__ import annotations

import hashlib
import json
import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sparseid.data.places import data_folder, lock_of, made_once

Arrays = Mapping[str, NDArray[Any]]

DAMAGED = (ValueError, EOFError, BadZipFile, zlib.error)
"""What numpy raises where a npz file is cut off, or is none."""


def kept_arrays(data_set: str, settings: Any, make: Callable[[], Arrays]) -> dict[str, NDArray[Any]]:
    """Return what `make` returns, from the cache where it was made before; one of several processes makes it.

    Parameters
    ----------
    data_set
        Folder of the cache.
    settings
        Everything that the arrays depend on, the digests of files and a version of the steps included: plain values.
    make
        Returns the arrays; what it raises is raised, and nothing is kept.
    """
    key = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    def write(target: Path) -> None:
        arrays = make()
        with target.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    return made_arrays(data_folder() / "cache" / data_set / f"prepared-{key}.npz", write)


def made_arrays(path: Path, make: Callable[[Path], object]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a npz file, made as by :func:`made_once`; made anew, with a warning, where it is damaged."""
    made_once(path, make)
    try:
        return _arrays(path)
    except DAMAGED:
        warnings.warn(f"{path} is damaged, and is made anew", stacklevel=2)
    with lock_of(path):
        try:
            return _arrays(path)  # another process may have mended it
        except DAMAGED:
            path.unlink()
        except FileNotFoundError:
            pass
    return _arrays(made_once(path, make))


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise ValueError("one array without a name")
    with loaded as arrays:
        return dict(arrays)
