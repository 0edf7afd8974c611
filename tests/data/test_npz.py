"""NumPy's npz files of users: what is read, and what is refused in the same words by all who read them."""

import pickle
import re

import numpy as np
import pytest

from sparseid.data.arrays.reader import read_series
from sparseid.data.labelled_inputs.items import items_of_file
from sparseid.data.npz import open_npz
from sparseid.data.tables import read_table
from sparseid.errors import InputError

READERS = [read_series, items_of_file, read_table]
PICKLED = "it is no npz file, or has pickled objects, which are refused: save arrays of numbers with numpy.savez"
DAMAGED = "it is not a complete npz file: copy or save it again"


def whole(path):
    np.savez(path, X=np.arange(1000.0), y=np.arange(3))


def nameless(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def pickled(path):
    np.savez(path, **{name: np.array([None]) for name in ("X", "observations", "labels")})


def cut(path):
    whole(path)
    path.write_bytes(path.read_bytes()[:-100])


def changed(path):
    whole(path)
    content = bytearray(path.read_bytes())
    content[1000] ^= 255
    path.write_bytes(content)


SPOILT = {
    nameless: "it holds one array without a name: numpy.savez saves several by name",
    pickled: PICKLED,
    cut: DAMAGED,
    lambda path: path.write_bytes(pickle.dumps([1])): PICKLED,
}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(("spoil", "said"), SPOILT.items())
def test_a_file_that_cannot_be_read_is_refused_in_the_same_words(tmp_path, read, spoil, said):
    spoil(path := tmp_path / "mine.npz")
    with pytest.raises(InputError, match=rf"mine\.npz.*{re.escape(said)}"):
        read(str(path)) if read is read_series else read(path)


def test_an_array_that_nobody_reads_may_be_damaged(tmp_path):
    np.savez(path := tmp_path / "mine.npz", X=np.arange(3), other=np.array([None]))
    with open_npz(path) as file:
        assert file["X"].tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="has pickled objects"), open_npz(path) as file:
        file["other"]
    changed(path)
    with pytest.raises(InputError, match="not a complete npz file"), open_npz(path) as file:
        file["X"]


def test_files_that_cannot_be_opened_are_named_by_the_system(tmp_path):
    for path, said in ((tmp_path, "it cannot be read: Is a directory"), (tmp_path / "none", "No such file")):
        with pytest.raises(InputError, match=said), open_npz(path):
            pass
