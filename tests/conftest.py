"""Where test arrays come from."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).resolve().parents[1]
Arrays = dict[str, np.ndarray]


def _load(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


@pytest.fixture
def fixture_arrays() -> Callable[[str], Arrays]:
    """Load ``tests/fixtures/<name>.npz``: arrays of other implementations that may be redistributed."""
    return lambda name: _load(PROJECT / "tests" / "fixtures" / f"{name}.npz")


@pytest.fixture
def shared_arrays() -> Callable[[str], Arrays]:
    """Load arrays that may not be copied into this repository; skips the test where they are absent.

    They are looked for in ``$SPARSEID_SHARED/fixtures``, by default in a folder ``shared`` beside or inside the
    project.
    """
    named = os.environ.get("SPARSEID_SHARED")
    places = [Path(named)] if named else [PROJECT.parent / "shared", PROJECT / "shared"]

    def load(name: str) -> Arrays:
        for place in places:
            path = place / "fixtures" / f"{name}.npz"
            if path.is_file():
                return _load(path)
        pytest.skip(f"{name}.npz is not in {' or '.join(map(str, places))}")

    return load
