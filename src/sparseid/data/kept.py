"""Arrays that are made once from files and settings and kept in the data folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.places import data_folder, made_once

Arrays = Mapping[str, NDArray[Any]]


def kept_arrays(data_set: str, settings: Any, make: Callable[[], Arrays]) -> dict[str, NDArray[Any]]:
    """Return what `make` returns, from the cache where it was made before; one of several processes makes it.

    Parameters
    ----------
    data_set
        Folder of the cache.
    settings
        Everything that the arrays depend on, the digests of files and a version of the steps included: plain values.
    make
        Returns the arrays; what it raises is raised, and nothing is kept.
    """
    key = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]

    def write(target: Path) -> None:
        arrays = make()
        with target.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    with np.load(made_once(data_folder() / "cache" / data_set / f"prepared-{key}.npz", write)) as arrays:
        return dict(arrays)
