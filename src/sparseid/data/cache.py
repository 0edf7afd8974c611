"""Cache of the data folder: files created atomically by one of several processes, and digests of files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

from filelock import FileLock

from sparseid.data.paths import data_folder
from sparseid.errors import InputError

if TYPE_CHECKING:  # the digests of a run's files must not import NumPy
    import numpy as np
    from numpy.typing import NDArray

Loaded = TypeVar("Loaded")

DAMAGED = (ValueError, EOFError, BadZipFile, zlib.error)
"""Exceptions that NumPy raises for a truncated npz file or another kind of file."""
DIGEST_CACHED_FROM = 2**20
"""Minimum size in bytes of a file whose digest is cached: smaller files are read faster than looked up."""


def cached_file(path: Path, create: Callable[[Path], object]) -> Path:
    """Return a file, created if it is missing; of several concurrent processes one creates it.

    Parameters
    ----------
    path
        The file; its folder is created if it is missing.
    create
        Called with a temporary path in the same folder, which is then renamed: the file is complete or missing.

    Raises
    ------
    InputError
        If the folder cannot be written to.
    """
    lock = _lock(path)
    try:
        if path.is_file():
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise InputError(
            f"cannot write to the folder of data {path.parent}: {error.strerror}. Set SPARSEID_DATA to a folder that "
            "you can write to (and copy or link your own data files to it)"
        ) from error
    temporary = path.with_name(f".{path.stem}.tmp{path.suffix}")  # some writers look at the suffix
    try:
        if not path.is_file():
            create(temporary)
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        lock.release()
    return path


def cached_npz(path: Path, create: Callable[[Path], object]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file, created as by :func:`cached_file`; recreated, with a warning, if damaged."""
    return _loaded(path, create, _arrays)


def _loaded(path: Path, create: Callable[[Path], object], load: Callable[[Path], Loaded]) -> Loaded:
    """Return the content of a cached file; `load` raises one of `DAMAGED` if it has to be created again."""
    cached_file(path, create)
    try:
        return load(path)
    except FileNotFoundError:
        pass  # another process found it damaged and creates it again
    except DAMAGED:
        warnings.warn(f"{path} is damaged: it is created again", stacklevel=3)
    with _lock(path):
        try:
            return load(path)  # another process may have repaired it
        except DAMAGED:
            path.unlink()
        except FileNotFoundError:
            pass
    return load(cached_file(path, create))


def cached_arrays(
    data_set: str, settings: Any, create: Callable[[], Mapping[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays that `create` returns, cached.

    Parameters
    ----------
    data_set
        Name of the data set, and of its folder in the cache.
    settings
        Plain values that the arrays depend on, including digests of files and a version of the processing.
    create
        Returns the arrays; an exception propagates, and nothing is cached.
    """

    def write(target: Path) -> None:
        import numpy as np

        arrays = create()
        with target.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    return cached_npz(data_folder() / "cache" / data_set / f"prepared-{_key(settings)}.npz", write)


def cached_images(
    data_set: str, settings: Any, shape: tuple[int, ...], parts: Callable[[], Iterable[NDArray[np.uint8]]]
) -> NDArray[np.uint8]:
    """Return an array of bytes that is mapped to memory and cached, as by :func:`cached_array`."""
    return cached_array(data_set, settings, shape, parts, "uint8")


def cached_array(
    data_set: str, settings: Any, shape: tuple[int, ...], parts: Callable[[], Iterable[NDArray[Any]]], dtype: str
) -> NDArray[Any]:
    """Return an array that is mapped to memory and cached; it never has to fit into memory.

    Parameters
    ----------
    data_set, settings
        As of :func:`cached_arrays`.
    shape
        Shape of the array.
    parts
        Returns the array in parts along its first axis, in order; an exception propagates, and nothing is cached.
    dtype
        Type of its numbers, which counts like one of the settings unless it is uint8.

    Raises
    ------
    InputError
        If there is not enough space.
    """
    depends_on = settings if dtype == "uint8" else {"dtype": dtype, "of": settings}
    path = data_folder() / "cache" / data_set / f"prepared-{_key(depends_on)}.npy"

    def no_space(size: int) -> InputError:
        text = f"{size / 1e9:.3g} GB are needed there, and {shutil.disk_usage(path.parent).free / 1e9:.3g} GB are free"
        return InputError(f"cannot write {path}: {text}. Free some, or set SPARSEID_DATA to a folder elsewhere")

    def write(target: Path) -> None:
        import numpy as np
        from numpy.lib import format as npy

        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if shutil.disk_usage(path.parent).free < size:
            raise no_space(size)
        with target.open("wb") as file:
            head = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
            npy.write_array_header_1_0(file, head)
            for part in parts():
                try:
                    file.write(np.ascontiguousarray(part, kind).data)
                except OSError as error:
                    raise no_space(size) from error

    def load(path: Path) -> NDArray[Any]:
        import numpy as np

        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        if found.shape != shape or found.dtype != np.dtype(dtype):
            raise ValueError(f"{found.dtype} {found.shape}")
        return found

    return _loaded(path, write, load)


def checked_once(data_set: str, settings: Any, check: Callable[[], object]) -> None:
    """Call `check` unless it has passed before; it is repeated if the data folder is not writable.

    Parameters
    ----------
    data_set, settings
        As of :func:`cached_arrays`; `settings` with a version of the check.
    check
        Raises an exception if something is wrong, which propagates; nothing is cached then.
    """
    passed = data_folder() / "cache" / data_set / f"checked-{_key(settings)}.txt"
    if os.path.exists(passed):  # false in a folder that may not be searched
        return
    check()
    with contextlib.suppress(InputError, OSError):
        cached_file(passed, lambda target: target.touch())


def digest(path: Path) -> str:
    """Return the SHA-256 of the content of a file, as 64 hex digits.

    Digests of large files are cached in the data folder by path, size and modification time, so that an atlas of
    gigabytes is read only once. If the data folder is not writable, the file is read once per process.
    """
    state = path.stat()
    if state.st_size < DIGEST_CACHED_FROM:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return _cached_digest(path.resolve(), state.st_size, state.st_mtime_ns)


@cache
def _cached_digest(path: Path, size: int, changed: int) -> str:
    def read() -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    name = hashlib.sha256(f"{path} {size} {changed}".encode()).hexdigest()[:16]
    cached = data_folder() / "cache" / "digests" / f"{name}.txt"
    try:
        return cached_file(cached, lambda target: target.write_text(read())).read_text()
    except (InputError, OSError):
        return read()


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    import numpy as np

    loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise ValueError("one array without a name")
    with loaded as arrays:
        return dict(arrays)


def _key(settings: Any) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _lock(path: Path) -> FileLock:
    """Return the lock that a process holds while it creates or removes a cached file."""
    return FileLock(path.with_name(f".{path.name}.lock"))
