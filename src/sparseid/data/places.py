"""Where data lie: tracked samples, what the user placed, and what was made from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

PROJECT = Path(__file__).resolve().parents[3]


def data_folder() -> Path:
    """Return ``$SPARSEID_DATA``, by default the project's folder ``data``."""
    return Path(os.environ.get("SPARSEID_DATA") or PROJECT / "data")


def samples_folder() -> Path:
    """Return the folder of the small data sets that the project itself holds."""
    return PROJECT / "data" / "samples"


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """Return a file, made if it is not there; several processes may ask at once, one of them makes it.

    Parameters
    ----------
    path
        The file; its folder is made where it is missing.
    make
        Called with a temporary path beside it, which is then renamed: the file is whole or not there.
    """
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        if not path.is_file():
            temporary = path.with_name(f".{path.stem}.tmp{path.suffix}")  # some writers look at the suffix
            try:
                make(temporary)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    return path
