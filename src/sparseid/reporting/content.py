"""What a section of the report shows of an artefact's rows, kept beside its files for the next report.

A copy of it stands in the data folder, so that the first report on another folder of runs draws nothing again that is
made of rows kept in git.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from sparseid.data.cache import digest
from sparseid.data.paths import data_folder
from sparseid.files import replace_file, write_text
from sparseid.papers.claims import ClaimResult, Finding
from sparseid.papers.fingerprint import fingerprint, of_code
from sparseid.reporting.tables import Line

_MADE_BY = ("papers", "reporting", "metrics"), ("matplotlib", "numpy", "pandas", "scipy")
"""The code and the libraries that make tables, figures and claims; the papers' targets are among their files."""


@dataclass(frozen=True)
class Content:
    """What is computed from rows.

    Attributes
    ----------
    table
        The comparison table.
    claims
        The paper's claims with our findings.
    verdicts
        Word -> number of cells.
    older_commits
        Commits of rows marked as made by older code.
    """

    table: list[Line]
    claims: list[ClaimResult]
    verdicts: dict[str, int]
    older_commits: list[str]


def made_from(artefact: str, scale: str, rows: Sequence[pd.DataFrame]) -> str:
    """Return the fingerprint of everything that content and files are made from, `rows` in their order."""
    return fingerprint(artefact, scale, of_code(*_MADE_BY), [frame.to_dict("list") for frame in rows])


def read_content(kept: Path, inputs: str, files: Sequence[Path]) -> Content | None:
    """Return what was kept.

    Parameters
    ----------
    kept
        The file of :func:`keep_content`.
    inputs
        What the content would be made from now (:func:`made_from`).
    files
        The artefact's files.

    Returns
    -------
    Content or None
        None if nothing usable was kept, its inputs have changed, or one of `files` is not what was written.
    """
    try:
        answer = json.loads(kept.read_text(encoding="utf-8"))
        if answer["made_from"] != inputs or answer["files"] != {path.name: digest(path) for path in files}:
            return None
        content = answer["content"]
        return Content(
            table=[Line(tuple(line["texts"]), line["word"]) for line in content["table"]],
            claims=[ClaimResult(**(claim | {"finding": Finding(**claim["finding"])})) for claim in content["claims"]],
            verdicts=content["verdicts"],
            older_commits=list(content["older_commits"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def store(scale: str) -> Path:
    """Return the folder of the copies for all reports of this project: of each artefact and scale the last one made."""
    return data_folder() / "cache" / "report" / scale


def recall_content(folder: Path, kept: Path, inputs: str, files: Sequence[Path]) -> Content | None:
    """Return what a store has of the same inputs, and copy its files; None if it has nothing usable.

    Parameters
    ----------
    folder
        The store.
    kept, inputs, files
        As of :func:`read_content`: where the copies go.
    """
    stored = [folder / path.name for path in files]
    if read_content(folder / kept.name, inputs, stored) is None:
        return None
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        _copy([*stored, folder / kept.name], [*files, kept])
    except OSError:  # gone meanwhile
        return None
    return read_content(kept, inputs, files)  # None if another report has written to the store between two files


def remember_content(folder: Path, kept: Path, files: Sequence[Path]) -> None:
    """Copy a kept content and its files to a store; where that cannot be, it costs the next report time only."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy([*files, kept], [folder / path.name for path in (*files, kept)])
    except OSError:
        pass


def _copy(sources: Sequence[Path], targets: Sequence[Path]) -> None:
    for source, target in zip(sources, targets, strict=True):
        whole = source.read_bytes()
        replace_file(target, lambda file, whole=whole: file.write(whole))  # type: ignore[misc]


def keep_content(kept: Path, inputs: str, files: Sequence[Path], content: Content) -> None:
    """Write a content with what it and its `files` were made from."""
    written = {path.name: digest(path) for path in files}
    answer = {"made_from": inputs, "files": written, "content": asdict(content)}
    write_text(kept, json.dumps(answer))
