"""``make data DATASETS=splicing``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from sparseid.data.splicing.chunks import ChunkFile, stored_lengths
from sparseid.data.splicing.files import TEST, TRAINING, check_files, folder, motif_files, remarks
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
    config.length, config.context = stored_lengths(folder(config) / TRAINING) or (LENGTH, CONTEXT)
    yield f"splicing: reading all sequences of {folder(config)}, minutes the first time"
    check_files(config)
    for name in (TRAINING, TEST):
        sizes = ChunkFile(folder(config) / name, config.length, config.context).sizes
        yield f"{name}: {sizes.sum():,} sequences in {len(sizes)} chunks"
    yield f"{len(motif_files(config))} proteins"
    yield from remarks(config)
    settings = ["data.source=spliceai"]
    if (config.length, config.context) != (LENGTH, CONTEXT):
        yield (
            f"NOT the paper's lengths: {config.length:,} labelled nucleotides and {config.context:,} on either side "
            f"instead of {LENGTH:,} and {CONTEXT:,}"
        )
        settings += [f"data.length={config.length}", f"data.context={config.context}"]
    settings += [f"data.path={shlex.quote(config.path)}"] * bool(config.path)
    yield f"use: {' '.join(settings)}"
