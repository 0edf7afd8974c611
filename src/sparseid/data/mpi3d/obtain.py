"""``make data DATASETS=mpi3d``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sparseid.data.mpi3d.files import PUBLISHED, stored_arms
from sparseid.data.mpi3d.settings import VARIANTS, MPI3DSettings
from sparseid.errors import InputError


def mpi3d() -> Iterator[str]:
    """Download, check and unpack MPI3D (CC BY 4.0): the variant MPI3D=toy (the default), realistic or real."""
    variant = os.environ.get("MPI3D") or VARIANTS[0]
    if variant not in VARIANTS:
        raise InputError(f"MPI3D={variant}: write {' or '.join(VARIANTS)}")
    yield f"mpi3d: {PUBLISHED[variant].size}, if not downloaded yet"
    yield f"{PUBLISHED[variant].fetch()}: checking and unpacking, minutes the first time"
    yield str(stored_arms(MPI3DSettings(source="files", variant=variant)))
    yield "use: data=mpi3d data.source=files" + f" data.variant={variant}" * (variant != VARIANTS[0])
