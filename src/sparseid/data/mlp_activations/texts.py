"""Texts for a transformer to read: the project's sample, a file, or a folder of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.cache import checked_once, digest
from sparseid.data.mlp_activations.model_files import place_in_data
from sparseid.data.paths import samples_folder, unusable
from sparseid.errors import InputError
from sparseid.text import open_text, visible

if TYPE_CHECKING:
    from sparseid.data.mlp_activations.settings import MLPActivationsSettings

KEYS = ("data.text",)
SAMPLE = "wikitext2.txt.gz"
KINDS = (".txt", ".gz", ".parquet")
"""Endings of the files of a folder that are read."""
PART = 2**16
"""Characters of a part of a text, about; parts end with a line."""


def text_files(settings: MLPActivationsSettings) -> dict[str, Path]:
    """Return the files of the text by their names, in the order in which they are read.

    Raises
    ------
    InputError
        If there is none, or one of them cannot be read.
    """
    if settings.text == "wikitext2":
        return {SAMPLE: samples_folder() / SAMPLE}
    place = place_in_data(settings.text)
    if not place.is_dir():
        if reason := unusable(place):
            text = f"{place} {reason}: set data.text to a text file, a .parquet file or a folder of these, or wikitext2"
            raise InputError(text, KEYS)
        return {place.name: place}
    paths = [path for path in visible(place.rglob("*")) if path.suffix in KINDS and path.is_file()]
    if not paths:
        raise InputError(f"{place} has no files that end with {', '.join(KINDS)}", KEYS)
    for path in paths:
        if (reason := unusable(path)) and reason != "is empty":
            raise InputError(f"{path} {reason}", KEYS)
    return {path.relative_to(place).as_posix(): path for path in paths}


def check_text(settings: MLPActivationsSettings) -> None:
    """Read all of a text once.

    Raises
    ------
    InputError
        If it is empty, not UTF-8, or a file of it cannot be read.
    """
    paths = list(text_files(settings).values())

    def check() -> None:
        seen = False
        for part in parts(paths):
            seen = seen or bool(part.strip())
        if not seen:
            raise InputError(f"{place_in_data(settings.text)} has no text: there is nothing to read", KEYS)

    checked_once("mlp_activations", {"version": 1, "files": [digest(path) for path in paths]}, check)


def parts(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the text of files in parts that end with a line."""
    for path in paths:
        lines: list[str] = []
        size = 0
        for line in _lines(path):
            lines.append(line)
            size += len(line)
            if size >= PART:
                yield "".join(lines)
                lines, size = [], 0
        if lines:
            yield "".join(lines)


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, or the texts of a parquet file, each with a newline at its end."""
    if path.suffix == ".parquet":
        yield from _column(path)
        return
    with open_text(path, KEYS) as file:
        yield from file


def _column(path: Path) -> Iterator[str]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            kind = next((field.type for field in file.schema_arrow if field.name == "text"), None)
            if kind is None or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise InputError(f"{path} has no column text of strings", KEYS)
            for batch in file.iter_batches(columns=["text"]):
                for value in batch.column(0):
                    if (text := value.as_py()) is not None:
                        yield f"{text}\n"
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as parquet: {error}", KEYS) from error
