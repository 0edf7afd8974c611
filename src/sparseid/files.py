"""Atomic replacement of files and folders."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

OLD_S = 3600.0
"""Seconds after which a temporary file is nobody's any more, in folders that several processes write."""


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name in the same folder, then rename it to `path`.

    Parameters
    ----------
    path
        File to create or replace; its folder must exist.
    write
        Called with the open temporary file.

    Raises
    ------
    OSError
        If writing fails (full disk, no permission); `path` is then unchanged and the temporary file removed.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o666 & ~_umask())  # temporary files are private, results are not
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path, seconds: float = 0.0) -> None:
    """Remove temporary files and folders of killed processes in `folder` and below.

    Parameters
    ----------
    folder
        The folder.
    seconds
        Minimum age; 0 is for the single writer of a folder, others must leave the files that are being written.
    """
    newest = time.time() - seconds
    for leftover in list(folder.rglob(".*.tmp")):
        with suppress(OSError):
            if leftover.stat().st_mtime > newest:
                continue
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Fill a new folder that replaces `folder` at the end: whenever `folder` exists, it is complete."""
    part, old = folder.with_name(f".{folder.name}.tmp"), folder.with_name(f".{folder.name}.old.tmp")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    yield part
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)  # not removed in its place: a killed process would leave a part of it
    part.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def share(folder: Path) -> None:
    """Let the group of a shared folder write what this process creates from now on, whatever its umask.

    A folder is shared if its group may write to it and is the group of what is created in it (setgid bit) or ours. Of a
    folder that does not exist yet, the nearest parent decides.
    """
    folder = folder.absolute()
    with suppress(OSError):
        while not folder.exists():
            folder = folder.parent
        state = folder.stat()
        if state.st_mode & stat.S_IWGRP and (state.st_mode & stat.S_ISGID or state.st_gid == os.getegid()):
            os.umask(_umask() & ~stat.S_IRWXG)


def refused(error: OSError, before: str = "") -> str:
    """Return the remedy for an error about a file or folder that belongs to another user; empty for other errors.

    Parameters
    ----------
    error
        The error.
    before
        Text before the remedy.
    """
    place = Path(os.fsdecode(error.filename or "")).absolute()
    while place.name and (not place.exists() or os.access(place, os.W_OK)):  # a new or removed file in it
        place = place.parent
    with suppress(OSError, KeyError):
        import pwd  # not on Windows

        if isinstance(error, PermissionError) and place.name and (owner := place.stat().st_uid) != os.getuid():
            name = pwd.getpwuid(owner).pw_name
            return (
                f"{before}{place} belongs to {name}: to share results, {name} sets chmod -R g+rwX,g+s on the folder of "
                "runs (and chgrp -R, to a group of both of you)"
            )
    return ""


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` (UTF-8), atomically."""
    replace_file(path, lambda file: file.write(text.encode()))


def write_json(path: Path, value: Any) -> None:
    """Replace `path` by `value` as indented JSON, atomically; NaN and infinities raise ValueError."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")
