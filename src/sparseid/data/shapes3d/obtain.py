"""``make data DATASETS=shapes3d``."""

from __future__ import annotations

from collections.abc import Iterator

from sparseid.data.shapes3d.files import PUBLISHED, stored_shapes
from sparseid.data.shapes3d.settings import Shapes3DSettings


def shapes3d() -> Iterator[str]:
    """Download, check and decompress Shapes3D (Apache-2.0)."""
    yield f"shapes3d: {PUBLISHED.size}, if not downloaded yet"
    yield f"{PUBLISHED.fetch()}: checking and decompressing, minutes the first time"
    yield str(stored_shapes(Shapes3DSettings(source="files")))
    yield "use: data=shapes3d data.source=files"
