"""The file of a run's arrays: whole, missing, and damaged in many ways."""

import contextlib

import numpy as np
import pytest

from sparseid.training.arrays import check_arrays, read_arrays, write_arrays
from sparseid.training.errors import RunError

ARRAYS = {"codes": np.arange(3000.0).reshape(3, 1000), "names": np.array(["a", "é"])}


@pytest.fixture
def path(tmp_path):
    write_arrays(tmp_path / "arrays.npz", ARRAYS)
    return tmp_path / "arrays.npz"


def test_arrays_are_read_as_they_were_written_and_a_missing_file_has_none(path, tmp_path):
    found = read_arrays(path)
    assert found.keys() == ARRAYS.keys()
    assert all((found[name] == ARRAYS[name]).all() for name in ARRAYS)
    for missing in (tmp_path / "none.npz", path):
        check_arrays(missing)
        check_arrays(missing, bytewise=True)
    assert read_arrays(tmp_path / "none.npz") == {}
    write_arrays(path, {})
    check_arrays(path)
    assert read_arrays(path) == {}


@pytest.mark.parametrize("kept", [0, 1, 30, 0.5, -1])
def test_a_file_that_is_cut_is_damaged_without_reading_it(path, kept):
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    for look in (check_arrays, read_arrays):
        with pytest.raises(RunError, match=rf"^{path} is damaged \(.+\)\. Repeat the run with force=true, or only"):
            look(path)


def test_a_changed_byte_gives_no_other_arrays(path):
    """Nor any other error than one that names the file."""
    content = path.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 200)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        with contextlib.suppress(RunError):
            found = read_arrays(path)
            assert all((values == ARRAYS[name]).all() for name, values in found.items() if name in ARRAYS)
    path.write_bytes(content.replace(content[60:70], bytes(10), 1))
    with pytest.raises(RunError, match="is damaged"):
        check_arrays(path, bytewise=True)


def test_another_kind_of_file_is_damaged(path):
    np.save(path.with_suffix(".npy"), ARRAYS["codes"])
    path.with_suffix(".npy").rename(path)
    with pytest.raises(RunError, match=r"is damaged .*not a zip file"):
        read_arrays(path)
