"""Folders of data: tracked samples, user-provided files, and the cache."""

from __future__ import annotations

import os
from pathlib import Path

from sparseid.homes import expanded
from sparseid.project import CHECKOUT, SAMPLES


def data_folder() -> Path:
    """Return ``$SPARSEID_DATA``, by default ``data`` in the checkout, or in the current folder without a checkout."""
    return Path(expanded(os.environ.get("SPARSEID_DATA") or (CHECKOUT or Path.cwd()) / "data"))


def samples_folder() -> Path:
    """Return the folder of the small data sets that are part of the project."""
    return SAMPLES


def unusable(path: Path) -> str:
    """Return why a file cannot be read (``does not exist``, ``is empty``, ``cannot be read: ...``); empty if it can."""
    try:
        if not path.is_file():
            return "is a folder, not a file" if path.is_dir() else "does not exist"
        with path.open("rb") as file:
            return "" if file.read(1) else "is empty"
    except OSError as error:  # also in a folder that may not be searched
        return f"cannot be read: {error.strerror}; check its permissions, and those of the folders above it"
