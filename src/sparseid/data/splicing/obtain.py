"""``make data DATASETS=splicing``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from sparseid.data.splicing.chunks import ChunkFile
from sparseid.data.splicing.files import TEST, TRAINING, check_files, folder, motif_files
from sparseid.data.splicing.settings import SplicingSettings

LENGTH, CONTEXT = 5000, 5000
"""Of SpliceAI's files with the longest context."""


def splicing() -> Iterator[str]:
    """Check the folder SPLICING: sequences of SpliceAI, PSAMs, core models; if one is missing, print instructions."""
    config = SplicingSettings(
        source="spliceai",
        path=os.environ.get("SPLICING") or "",
        length=LENGTH,
        context=CONTEXT,
        prevalence=0.0018,
        footprint=10,
    )
    check_files(config)
    for name in (TRAINING, TEST):
        sizes = ChunkFile(folder(config) / name, LENGTH, CONTEXT).sizes
        yield f"{name}: {sizes.sum():,} sequences in {len(sizes)} chunks"
    yield f"{len(motif_files(config))} proteins (79 in the paper's)"
    path = f" data.path={shlex.quote(config.path)}" if config.path else ""
    yield f"use: data.source=spliceai{path}"
