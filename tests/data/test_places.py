"""Files that are made once, by one of several processes, and are whole or not there."""

import subprocess
import sys

import pytest

from sparseid.data.places import PROJECT, data_folder, made_once, samples_folder


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


def test_what_could_not_be_made_is_not_there(tmp_path):
    def fail(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        made_once(tmp_path / "file.txt", fail)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".txt"] == []
