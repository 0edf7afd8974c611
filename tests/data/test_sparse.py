"""Index arrays of sparse matrices that SciPy would read from anywhere in memory."""

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse

from sparseid.data.sparse import dense, sparse_fault
from sparseid.data.tables import Table
from sparseid.errors import InputError

VALUES = np.array([[0.0, 1, 2], [3, 0, 0], [0, 0, 4], [0, 5, 0]])
FAULTS = [
    ("indices", 0, 3, "an index of a column is 3, of 3 columns"),
    ("indices", 2, -1, "an index of a column is -1, of 3 columns"),
    ("indices", 4, 2**31 - 1, "is 2147483647, of 3 columns"),
    ("indptr", 0, 1, "indptr goes from 1 to 5, not from 0 to the 5 values"),
    ("indptr", -1, 4, "indptr goes from 0 to 4, not from 0 to the 5 values"),
    ("indptr", -1, 50, "from 0 to 50"),
    ("indptr", 2, 1, "indptr decreases"),
    ("indptr", 1, 2**30, "indptr decreases"),
]


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "lil_matrix", "bsr_matrix"])
def test_sound_matrices_have_no_fault(kind):
    assert sparse_fault(getattr(sparse, kind)(VALUES)) == ""
    assert sparse_fault(getattr(sparse, kind)((0, 3))) == ""
    assert sparse_fault(VALUES) == ""


@pytest.mark.parametrize(("array", "place", "value", "said"), FAULTS)
def test_a_damaged_matrix_is_refused_before_it_is_read(array, place, value, said):
    for kind, names in ((sparse.csr_matrix, ("column", "row")), (sparse.csc_matrix, ("row", "column"))):
        matrix = kind(VALUES if kind is sparse.csr_matrix else VALUES.T)
        getattr(matrix, array)[place] = value
        expected = said.replace("column", names[0])
        assert expected in sparse_fault(matrix)
        with pytest.raises(InputError, match="the values are no sparse matrix: "):
            Table.of(matrix)


def test_arrays_of_other_lengths_and_types_are_refused():
    matrix = sparse.csr_matrix(VALUES)
    matrix.indptr = matrix.indptr[:-1]
    assert sparse_fault(matrix) == "indptr is of shape (4,), not (5,)"
    matrix = sparse.csr_matrix(VALUES)
    matrix.indices = matrix.indices[:-1]
    assert "indices of shape (4,) for values of shape (5,)" in sparse_fault(matrix)
    matrix = sparse.csr_matrix(VALUES)
    matrix.indptr = matrix.indptr.astype(float)
    assert "not integers" in sparse_fault(matrix)
    matrix = sparse.coo_matrix(VALUES)
    matrix.coords[0][0] = 9
    assert sparse_fault(matrix) == "an index of a row is 9, of 4 rows"


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
def test_a_matrix_that_is_still_in_its_file_is_read_and_checked(tmp_path, kind):
    anndata.AnnData(kind(VALUES)).write_h5ad(tmp_path / "cells.h5ad")
    cells = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert sparse_fault(cells.X) == ""
    np.testing.assert_array_equal(dense(cells.X), VALUES)
    np.testing.assert_array_equal(Table.of(cells.X).values, VALUES)
    cells.file.close()
    with h5py.File(tmp_path / "cells.h5ad", "a") as file:
        file["X/indices"][0] = 7
    assert "an index of a" in sparse_fault(anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r").X)
