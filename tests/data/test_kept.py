"""Arrays that are made once and kept."""

import io
import subprocess
import sys

import numpy as np
import pytest

from sparseid.data.kept import kept_arrays


@pytest.fixture
def ask(monkeypatch, tmp_path):
    """Ask for the same arrays; returns what came, how often it was made so far and where it lies."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    made = []

    def make():
        made.append(1)
        return {"x": np.arange(1000.0)}

    def asked():
        arrays = kept_arrays("some", {"n": 1000}, make)
        [path] = tmp_path.rglob("*.npz")
        return arrays["x"], len(made), path

    return asked


def test_arrays_are_made_once(ask):
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
    with pytest.warns(UserWarning, match=rf"{path} is damaged, and is made anew"):
        values, made, _ = ask()
    assert made == 2
    assert (values == np.arange(1000.0)).all()
    assert ask()[1] == 2


def test_what_making_raises_is_raised(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))

    def broken():
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        kept_arrays("some", {}, broken)
    assert not list(tmp_path.rglob("*.npz"))


ASKER = """
import time
import numpy as np
from sparseid.data.kept import kept_arrays

def make():
    time.sleep(0.2)
    return {"x": np.arange(1000.0)}

print(kept_arrays("some", {"n": 1000}, make)["x"].sum())
"""


def test_several_processes_mend_a_damaged_file(ask):
    *_, path = ask()
    path.write_bytes(b"garbage")
    asked = [subprocess.Popen([sys.executable, "-c", ASKER], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in asked] == ["499500.0\n"] * 3
