"""Tables of transcription factors and the genes that they regulate, provided by the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sparseid.errors import InputError
from sparseid.text import as_lines, check_once, lines_of, read_text, table_of

LAYOUTS = {"htftarget": ("TF", "target"), "dorothea": ("tf", "target")}
"""Columns of factor and target in the tables of hTFtarget and DoRothEA; others are ignored."""

SHOWN = 8
"""Maximum number of columns in a message."""

Regulators = Mapping[str, tuple[str, ...]]
"""Target gene -> its transcription factors, sorted."""


def read_tf_targets(path: Path | str, layout: str = "htftarget") -> Regulators:
    """Read a table with a header, separated by tabs or commas, possibly gzipped.

    Parameters
    ----------
    path
        hTFtarget: the file ``TF-Target-information.txt`` (TF, target, tissue; one row per tissue). DoRothEA: its
        ``entire_database`` or ``dorothea_hs`` saved as text (tf, target and others).
    layout
        A key of :data:`LAYOUTS`.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column or has no rows.
    """
    try:
        pairs = sorted(set(_pairs(read_text(Path(path)), layout)))
    except (InputError, ValueError) as error:
        raise InputError(f"cannot read the table of transcription factors {path}: {error}", KEYS) from error
    if not pairs:
        raise InputError(f"{path} has a header and no rows", KEYS)
    regulators: dict[str, list[str]] = {}
    for target, factor in pairs:
        regulators.setdefault(target, []).append(factor)
    return {target: tuple(factors) for target, factors in regulators.items()}


def _pairs(text: str, layout: str) -> Iterator[tuple[str, str]]:
    """Yield target and factor of each row that has both; a ValueError for a table that lacks their columns."""
    first = next((line for line in lines_of(text) if line.strip()), "")
    rows = table_of(as_lines(text), "\t" if "\t" in first else ",")
    line, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    if missing := [name for name in LAYOUTS[layout] if name not in names]:
        wanted = f"data.tf_layout={layout} expects {', '.join(LAYOUTS[layout])} in the first line"
        others = [name for name, columns in LAYOUTS.items() if set(columns) <= set(names)]
        hint = "".join(f". These are the columns of data.tf_layout={name}: set that" for name in others)
        found = f"found {', '.join(names[:SHOWN]) or 'nothing'}"
        raise ValueError(f"it has no column {' or '.join(missing)}: {wanted}, {found}{hint}")
    check_once(names, LAYOUTS[layout], line)
    factor, target = map(names.index, LAYOUTS[layout])
    for _, fields in rows:
        pair = fields[target].strip(), fields[factor].strip()
        if all(pair):
            yield pair


KEYS = ("data.tf_targets", "data.tf_layout")
