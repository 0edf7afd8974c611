"""Arrays of a run, stored in its ``arrays.npz``; importing this module loads no NumPy."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.files import replace_file
from sparseid.training.errors import RunError

if TYPE_CHECKING:
    import numpy as np


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Replace `path` by arrays, atomically."""
    import numpy as np

    named: dict[str, Any] = dict(arrays)
    replace_file(path, lambda file: np.savez_compressed(file, **named))


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of a run; there are none without the file.

    Raises
    ------
    RunError
        If the file is damaged.
    """
    import numpy as np

    if not path.exists():
        return {}
    with _named(path), zipfile.ZipFile(path), np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def check_arrays(path: Path, bytewise: bool = False) -> None:
    """Look for damage without reading the arrays.

    Parameters
    ----------
    path
        The file, which may be missing.
    bytewise
        Whether to compare the checksums of its parts, and not only to look whether all of them are there.

    Raises
    ------
    RunError
        If the file is damaged.
    """
    if not path.exists():
        return
    with _named(path), zipfile.ZipFile(path) as archive:
        if bytewise and (part := archive.testzip()):
            raise ValueError(f"its part {part} is not as it was written")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn any error within the context into one that names the file and the remedy."""
    try:
        yield
    except Exception as error:  # zipfile and NumPy raise many types for a damaged file
        raise RunError(
            f"{path} is damaged ({error}). Repeat the run with force=true, or only its tests: delete "
            f"{path.with_name('result.json')} and give its command again."
        ) from error
