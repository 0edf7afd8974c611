"""Files that are made once, by one of several processes, and are whole or not there."""

import hashlib
import subprocess
import sys

import pytest

from sparseid.data.places import (
    DIGEST_KEPT_FROM,
    PROJECT,
    _kept_digest,
    data_folder,
    digest,
    made_once,
    samples_folder,
    unusable,
)
from sparseid.errors import InputError


def test_the_data_folder_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARSEID_DATA", raising=False)
    assert data_folder() == PROJECT / "data"
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert samples_folder() == PROJECT / "data" / "samples"


ASKER = """
import sys, time
from pathlib import Path
from sparseid.data.places import made_once

def make(path):
    with (path.parent / "log").open("a") as log:
        log.write("made\\n")
    path.write_text("half")
    time.sleep(0.3)
    path.write_text("whole")

print(made_once(Path(sys.argv[1]), make).read_text(), end="")
"""


def test_several_processes_make_a_file_once(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    command = [sys.executable, "-c", ASKER, str(path)]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in asked] == ["whole"] * 3
    assert (path.parent / "log").read_text() == "made\n"


def test_a_data_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write to the folder of data .*Set SPARSEID_DATA to a folder"):
        made_once(tmp_path / "file" / "cache" / "x", lambda path: path.touch())


def test_a_refused_lock_is_named_too(tmp_path, monkeypatch):
    def refuse(lock):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sparseid.data.places.FileLock.acquire", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        made_once(tmp_path / "x", lambda path: path.touch())


def test_why_a_file_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    assert unusable(tmp_path / "file") == "is empty"
    (tmp_path / "file").write_bytes(b"x")
    assert unusable(tmp_path / "file") == ""
    assert unusable(tmp_path) == unusable(tmp_path / "none") == "is not there"


@pytest.mark.parametrize("size", [10, DIGEST_KEPT_FROM])
def test_the_digest_is_that_of_the_whole_content(monkeypatch, tmp_path, size):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    path = tmp_path / "file"
    for content in (b"a" * size, b"a" * (size // 2) + b"b" + b"a" * (size // 2)):  # the middle counts too
        path.write_bytes(content)
        assert digest(path) == hashlib.sha256(content).hexdigest()
        _kept_digest.cache_clear()
    kept = list((tmp_path / "data").rglob("*.txt"))
    assert len(kept) == (2 if size == DIGEST_KEPT_FROM else 0)
    monkeypatch.setenv("SPARSEID_DATA", str(path / "none"))  # cannot be written to
    assert digest(path) == hashlib.sha256(content).hexdigest()


def test_a_large_file_is_read_once(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    path = tmp_path / "file"
    path.write_bytes(b"a" * DIGEST_KEPT_FROM)
    first = digest(path)
    _kept_digest.cache_clear()  # another process
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))
    assert digest(path) == first


def test_what_could_not_be_made_is_not_there(tmp_path):
    def fail(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        made_once(tmp_path / "file.txt", fail)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".txt"] == []
