"""Digest of everything that a figure of the report is drawn from, so that an unchanged figure is not drawn again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from sparseid.extensions import packages
from sparseid.papers.artefact import Artefact
from sparseid.papers.presets import VARIANTS
from sparseid.reporting.collect import Collection
from sparseid.training.run_folder import RunFolder

_ORIGIN = {"commit", "dirty", "device", "written", "source"}
"""Columns of rows that say when and where a run was made: no figure shows them."""
_LENGTH = 20


def figure_source(artefact: Artefact, rows: pd.DataFrame, collection: Collection, scale: str) -> str:
    """Return a digest of the rows, arrays and code that an artefact's figure is drawn from.

    Parameters
    ----------
    artefact
        The artefact.
    rows
        Its rows at `scale`.
    collection
        All results; of the runs with these rows, the files of arrays count by size and time.
    scale
        The scale.
    """
    shown = rows[sorted(set(rows.columns) - _ORIGIN)]
    if VARIANTS in shown:
        shown = shown.assign(**{VARIANTS: shown[VARIANTS].map(str)})  # the hash of a tuple is another in each process
    found = hashlib.sha256(f"{_code()} {artefact.id} {scale} {[*shown]}".encode())
    for column in shown:
        found.update(pd.util.hash_pandas_object(shown[column], index=False).to_numpy().tobytes())
    if artefact.draw_arrays is not None:
        folders = collection.finished(scale)
        runs = sorted(set(rows["run"]) & folders.keys())
        found.update(_states(RunFolder(folders[name]).arrays for name in runs))
    return found.hexdigest()[:_LENGTH]


def files_source(files: Iterable[Path]) -> str:
    """Return a digest of files, by size and time, and of the code that draws a figure from them."""
    return hashlib.sha256(_code().encode() + _states(files)).hexdigest()[:_LENGTH]


def _states(files: Iterable[Path]) -> bytes:
    states = [(file, file.stat()) for file in files if file.exists()]
    return repr([(str(file), state.st_size, state.st_mtime_ns) for file, state in states]).encode()


@cache
def _code() -> str:
    """Return a digest of this package and of all extensions: programs, labels and the papers' numbers."""
    found = hashlib.sha256(version("matplotlib").encode())
    for extension in packages():
        for path in sorted(path for ending in ("py", "yaml") for path in extension.folder.rglob(f"*.{ending}")):
            found.update(path.read_bytes())
    return found.hexdigest()
