"""Cached files: created once and atomically, by one of several processes."""

import hashlib
import io
import subprocess
import sys

import numpy as np
import pytest

from sparseid.data.cache import (
    DIGEST_CACHED_FROM,
    _cached_digest,
    cached_arrays,
    cached_file,
    cached_images,
    checked_once,
    digest,
)
from sparseid.errors import InputError


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """Ask for the same arrays; returns what came, how often it was made so far and where it lies."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    made = []

    def make():
        made.append(1)
        return {"x": np.arange(1000.0)}

    def asked():
        arrays = cached_arrays("some", {"n": 1000}, make)
        [path] = tmp_path.rglob("*.npz")
        return arrays["x"], len(made), path

    return asked


def test_arrays_are_cached_file(ask):
    assert [ask()[1], ask()[1]] == [1, 1]
    assert (ask()[0] == np.arange(1000.0)).all()


def nameless() -> bytes:
    np.save(file := io.BytesIO(), np.arange(1000.0))
    return file.getvalue()


SPOILT = {
    "empty": lambda whole: b"",
    "garbage": lambda whole: b"garbage",
    "cut off": lambda whole: whole[:-100],
    "one array without a name": lambda whole: nameless(),
    "overwritten": lambda whole: whole[:200] + bytes(8) + whole[208:],
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_damaged_file_is_made_anew(ask, spoil):
    *_, path = ask()
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.warns(UserWarning, match=rf"{path} is damaged: it is created again"):
        values, made, _ = ask()
    assert made == 2
    assert (values == np.arange(1000.0)).all()
    assert ask()[1] == 2


def test_what_making_raises_is_raised(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))

    def broken():
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        cached_arrays("some", {}, broken)
    assert not list(tmp_path.rglob("*.npz"))


ASKER = """
import time
import numpy as np
from sparseid.data.cache import cached_arrays

def make():
    time.sleep(0.2)
    return {"x": np.arange(1000.0)}

print(cached_arrays("some", {"n": 1000}, make)["x"].sum())
"""


def test_several_processes_mend_a_damaged_file(ask):
    *_, path = ask()
    path.write_bytes(b"garbage")
    asked = [subprocess.Popen([sys.executable, "-c", ASKER], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in asked] == ["499500.0\n"] * 3


FILE_ASKER = """
import sys, time
from pathlib import Path
from sparseid.data.cache import cached_file

def make(path):
    with (path.parent / "log").open("a") as log:
        log.write("made\\n")
    path.write_text("half")
    time.sleep(0.3)
    path.write_text("whole")

print(cached_file(Path(sys.argv[1]), make).read_text(), end="")
"""


def test_several_processes_make_a_file_once(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    command = [sys.executable, "-c", FILE_ASKER, str(path)]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in asked] == ["whole"] * 3
    assert (path.parent / "log").read_text() == "made\n"


def test_a_data_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write to the folder of data .*Set SPARSEID_DATA to a folder"):
        cached_file(tmp_path / "file" / "cache" / "x", lambda path: path.touch())


def test_a_refused_lock_is_named_too(tmp_path, monkeypatch):
    def refuse(lock):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sparseid.data.cache.FileLock.acquire", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        cached_file(tmp_path / "x", lambda path: path.touch())


@pytest.mark.parametrize("size", [10, DIGEST_CACHED_FROM])
def test_the_digest_is_that_of_the_whole_content(monkeypatch, tmp_path, size):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    path = tmp_path / "file"
    for content in (b"a" * size, b"a" * (size // 2) + b"b" + b"a" * (size // 2)):  # the middle counts too
        path.write_bytes(content)
        assert digest(path) == hashlib.sha256(content).hexdigest()
        _cached_digest.cache_clear()
    kept = list((tmp_path / "data").rglob("*.txt"))
    assert len(kept) == (2 if size == DIGEST_CACHED_FROM else 0)
    monkeypatch.setenv("SPARSEID_DATA", str(path / "none"))  # cannot be written to
    assert digest(path) == hashlib.sha256(content).hexdigest()


def test_a_large_file_is_read_once(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    path = tmp_path / "file"
    path.write_bytes(b"a" * DIGEST_CACHED_FROM)
    first = digest(path)
    _cached_digest.cache_clear()  # another process
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))
    assert digest(path) == first


def test_what_could_not_be_made_is_not_there(tmp_path):
    def fail(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        cached_file(tmp_path / "file.txt", fail)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".txt"] == []


def test_a_check_that_has_passed_is_not_repeated(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    called = []
    with pytest.raises(ZeroDivisionError):
        checked_once("some", {"n": 1}, lambda: called.append(1 // 0))
    for version in (1, 1, 2):
        checked_once("some", {"n": version}, lambda version=version: called.append(version))
    assert called == [1, 2]


def test_a_check_is_made_even_if_it_cannot_be_remembered(monkeypatch, tmp_path):
    (tmp_path / "data").write_text("a file in place of the folder")
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    called = []
    for _ in range(2):
        checked_once("some", {}, lambda: called.append(1))
    assert called == [1, 1]


def asked_images(made, parts=3, shape=(6, 2, 2, 1)):
    def make():
        made.append(1)
        for part in range(parts):
            yield np.full((2, 2, 2, 1), part, np.uint8)

    return cached_images("some", {"n": 6}, shape, make)


def test_images_are_written_in_parts_and_mapped_to_memory(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    made = []
    for _ in range(2):
        images = asked_images(made)
        assert isinstance(images, np.memmap)
        assert images[:, 0, 0, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert len(made) == 1


@pytest.mark.parametrize("spoil", [lambda whole: b"", lambda whole: whole[:-1], lambda whole: b"garbage" * 20])
def test_damaged_images_are_made_anew(monkeypatch, tmp_path, spoil):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    made = []
    asked_images(made)
    [path] = tmp_path.rglob("*.npy")
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.warns(UserWarning, match="is damaged: it is created again"):
        assert asked_images(made).sum() == 24
    assert len(made) == 2


def test_images_that_do_not_fit_on_the_disk_are_not_begun(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    made = []
    with pytest.raises(InputError, match=r"1e\+09 GB are needed there, and \S+ GB are free.*SPARSEID_DATA"):
        asked_images(made, shape=(10**18, 1, 1, 1))
    assert made == []
    assert not list(tmp_path.rglob("*.npy"))


def test_an_error_while_images_are_read_leaves_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))

    def parts():
        yield np.zeros((2, 2, 2, 1), np.uint8)
        raise InputError("truncated")

    with pytest.raises(InputError, match="truncated"):
        cached_images("some", {}, (6, 2, 2, 1), parts)
    assert not list(tmp_path.rglob("*.npy"))
