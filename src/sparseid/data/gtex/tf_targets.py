"""Tables of transcription factors and the genes that they regulate, provided by the user."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from sparseid.errors import InputError
from sparseid.text import read_text

LAYOUTS = {"htftarget": ("TF", "target"), "dorothea": ("tf", "target")}
"""Columns of factor and target in the tables of hTFtarget and DoRothEA; others are ignored."""

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
    wanted = LAYOUTS[layout]
    try:
        text = read_text(Path(path))
        separator = "\t" if "\t" in text.partition("\n")[0] else ","
        table = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except (InputError, ValueError) as error:  # pandas' parsing errors are ValueErrors
        raise InputError(f"cannot read the table of transcription factors {path}: {error}", KEYS) from error
    table.columns = table.columns.str.strip()
    others = [name for name, columns in LAYOUTS.items() if name != layout and set(columns) <= set(table.columns)]
    if missing := [name for name in wanted if name not in table.columns]:
        raise InputError(
            f"{path} has no column {' or '.join(missing)}: data.tf_layout={layout} expects {', '.join(wanted)} in the "
            f"first line, found {', '.join(map(str, table.columns[:8]))}"
            + "".join(f". These are the columns of data.tf_layout={name}: set that" for name in others),
            KEYS,
        )
    pairs = table[list(wanted)].apply(lambda names: names.str.strip())
    pairs = pairs[(pairs != "").all(axis=1)].drop_duplicates()
    if pairs.empty:
        raise InputError(f"{path} has a header and no rows", KEYS)
    factors = pairs.groupby(wanted[1])[wanted[0]]
    return {str(target): tuple(sorted(of_target)) for target, of_target in factors}


KEYS = ("data.tf_targets", "data.tf_layout")
