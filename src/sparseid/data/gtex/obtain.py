"""``make data DATASETS=gtex``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from sparseid.data.gtex.check import check_atlas
from sparseid.data.gtex.sources import atlas_path, atlas_table_path
from sparseid.data.gtex.tf_targets import LAYOUTS
from sparseid.errors import InputError


def gtex() -> Iterator[str]:
    """Check GTEX_H5AD (the atlas) and TF_TARGETS (transcription factors, with the columns of TF_LAYOUT).

    TF_LAYOUT is htftarget (the default) or dorothea. If a file is missing, print instructions.
    """
    layout = os.environ.get("TF_LAYOUT") or "htftarget"
    if layout not in LAYOUTS:
        raise InputError(f"TF_LAYOUT={layout}: write {' or '.join(LAYOUTS)}")
    path = atlas_path("")
    try:
        table = atlas_table_path("")
    except InputError:
        yield from check_atlas(path)  # the atlas can be checked without the table
        raise
    papers = yield from check_atlas(path, table, layout)
    files = f"GTEX_H5AD={shlex.quote(str(path))} TF_TARGETS={shlex.quote(str(table))}"
    own_layout = "" if layout == "htftarget" else f" data.tf_layout={layout}"
    if not papers:
        yield "NOT the paper's cells: runs on them are marked, and not compared with the paper. If a column"
        yield "above has the paper's numbers, add data.groupby='its name'"
    elif own_layout:
        yield "NOT the paper's table of transcription factors: runs with it are not those of the figures"
    yield f"use: {files} python run.py experiment=tbr/fig5a scale=paper{own_layout}"
