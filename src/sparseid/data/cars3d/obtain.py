"""``make data DATASETS=cars3d``."""

from __future__ import annotations

from collections.abc import Iterator

from sparseid.data.cars3d.files import PUBLISHED, stored_cars
from sparseid.data.cars3d.settings import Cars3DSettings


def cars3d() -> Iterator[str]:
    """Download, check and resize Cars3D (no licence stated: do not pass it on)."""
    yield f"cars3d: {PUBLISHED.size}, if not downloaded yet"
    yield f"{PUBLISHED.fetch()}: checking and resizing, a minute the first time"
    yield str(stored_cars(Cars3DSettings(source="files")))
    yield "use: data=cars3d data.source=files"
