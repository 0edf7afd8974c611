"""``make data DATASETS=zeisel``."""

from __future__ import annotations

from collections.abc import Iterator

from sparseid.data.download import unchecked
from sparseid.data.zeisel.reader import fetch, read_original


def zeisel() -> Iterator[str]:
    """Download the paper's cells and read them."""
    yield "zeisel: about 120 MB, if not downloaded yet"
    cells = read_original(path := fetch())
    classes = ", ".join(f"{name} {(cells.classes == name).sum()}" for name in sorted(set(cells.classes)))
    yield f"{path}: {len(cells.genes)} genes, {len(cells.classes)} cells: {classes}"
    yield unchecked(path)
    yield "use: python run.py experiment=sparse_vae/fig4 data.source=original"
