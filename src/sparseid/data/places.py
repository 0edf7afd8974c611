"""Where data lie: tracked samples, what the user placed, and what was made from it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from filelock import FileLock

from sparseid.errors import InputError

PROJECT = Path(__file__).resolve().parents[3]

DIGEST_KEPT_FROM = 2**20
"""Bytes of a file from which on its digest is kept: smaller ones are read faster than looked up."""


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

    Raises
    ------
    InputError
        If the folder cannot be written to.
    """
    lock = lock_of(path)
    try:
        if path.is_file():
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise InputError(
            f"cannot write to the folder of data {path.parent}: {error.strerror}. Set SPARSEID_DATA to a folder that "
            "you can write to (and place or link there what you had placed in the other)"
        ) from error
    temporary = path.with_name(f".{path.stem}.tmp{path.suffix}")  # some writers look at the suffix
    try:
        if not path.is_file():
            make(temporary)
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        lock.release()
    return path


def lock_of(path: Path) -> FileLock:
    """Return the lock that whoever makes or removes a made file holds."""
    return FileLock(path.with_name(f".{path.name}.lock"))


def unusable(path: Path) -> str:
    """Return why a file cannot be read (``is not there``, ``is empty``, ``cannot be read: ...``); empty if it can."""
    try:
        if not path.is_file():
            return "is not there"
        with path.open("rb") as file:
            return "" if file.read(1) else "is empty"
    except OSError as error:  # also in a folder that may not be searched
        return f"cannot be read: {error.strerror}. Give yourself the right to read it and to enter the folders above it"


def digest(path: Path) -> str:
    """Return the SHA-256 of the whole content of a file, as 64 hex digits.

    An atlas of gigabytes is read once: its digest is kept in the data folder under the file's place, size and time of
    change, and found there as long as these stay the same. Where the data folder cannot be written to, the file is read
    once per process.
    """
    state = path.stat()
    if state.st_size < DIGEST_KEPT_FROM:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return _kept_digest(path.resolve(), state.st_size, state.st_mtime_ns)


@cache
def _kept_digest(path: Path, size: int, changed: int) -> str:
    def read() -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    name = hashlib.sha256(f"{path} {size} {changed}".encode()).hexdigest()[:16]
    kept = data_folder() / "cache" / "digests" / f"{name}.txt"
    try:
        return made_once(kept, lambda target: target.write_text(read())).read_text()
    except (InputError, OSError):
        return read()
