"""Atomic replacement of files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


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


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes in `folder` and below; only its single writer may call this."""
    for leftover in folder.rglob(".*.tmp"):
        leftover.unlink(missing_ok=True)


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
