"""Fingerprints of what an answer was made from: as long as none changes, the answer may be used again."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sparseid import STARTED

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of ``sparseid``."""


def fingerprint(*parts: Any) -> str:
    """Return the SHA-256 of nested plain values, whatever the order of keys, as 64 hex digits."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def of_files(*places: Path) -> str:
    """Return the fingerprint of files, those below folders included: of their names and contents."""
    found = hashlib.sha256()
    for name, path in _files(places):
        content = path.read_bytes()
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()


@cache
def of_code(names: tuple[str, ...], libraries: tuple[str, ...], package: Path = PACKAGE) -> str:
    """Return the fingerprint of the code that this process runs; no other has it if a file was changed meanwhile.

    Parameters
    ----------
    names
        Modules and packages of `package`, as files: ``config`` or ``papers/presets.py``. What every part may import,
        the modules that lie beside the packages, always counts. Rows kept in git are no code.
    libraries
        Names of distributions, whose versions count.
    """
    places = [*sorted(package.glob("*.py")), *(package / name for name in names)]
    versions = {name: version(name) for name in libraries}
    changed = any(path.stat().st_mtime > STARTED for _, path in _files(places))
    return fingerprint(of_files(*places), versions, str(uuid.uuid4()) if changed else "")


def _files(places: Collection[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the files that count, each with its name below the place's folder; nothing hidden, made or explaining."""
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            parts = path.relative_to(place.parent).parts
            skipped = any(part.startswith(".") or part in ("__pycache__", "measured") for part in parts)
            if path.is_file() and not skipped and path.suffix != ".md":
                yield "/".join(parts), path
