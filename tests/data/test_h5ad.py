"""Damaged h5ad files: what is needed is refused by name, what is not needed does not matter, for both readers."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from anndata.io import write_elem
from scipy import sparse

from sparseid.data.gtex.reader import read_cells
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.tables import read_table
from sparseid.errors import InputError

VALUES = np.log1p(np.random.default_rng(0).poisson(1.0, (12, 5))).astype(np.float32)
KINDS = np.repeat(["cat", "dog", "newt"], 4)


def as_table(path, **options):
    return read_table(path, ["kind"], **options).values


def as_cells(path):
    return read_cells(path, "kind").expression.toarray()


READERS = [as_table, as_cells]


@pytest.fixture
def made(tmp_path):
    """A file of 12 cells, five genes, three kinds, and the file opened to be damaged."""

    def make(kind=sparse.csr_matrix):
        obs = pd.DataFrame({"kind": pd.Categorical(KINDS), "depth": 1.5}, [f"cell{n}" for n in range(12)])
        data = anndata.AnnData(kind(VALUES), obs, pd.DataFrame(index=[f"gene{n}" for n in range(5)]))
        data.raw = data.copy()
        data.layers["logged"] = kind(VALUES)
        data.write_h5ad(tmp_path / "cells.h5ad")
        return tmp_path / "cells.h5ad"

    return make


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize(
    ("array", "place", "value"),
    [("indices", 3, 10**6), ("indices", 3, 12), ("indices", 0, -1), ("indptr", 2, 10**6), ("indptr", -1, 7)],
)
def test_a_sparse_matrix_whose_indices_are_damaged_is_refused(made, read, kind, array, place, value):
    """Without the check these files end the process, or have values of other places."""
    with h5py.File(path := made(kind), "a") as file:
        file[f"X/{array}"][place if place >= 0 else len(file[f"X/{array}"]) - 1] = value
    with pytest.raises(
        InputError, match=r"cells.h5ad: its X is no sparse matrix: .* damaged, (copy|download) it again"
    ):
        read(path)


@pytest.mark.parametrize(
    ("matrix", "place"), [("raw", "raw/X"), ("logged", "layers/logged"), ("obsm/codes", "obsm/codes")]
)
def test_other_matrices_are_checked_as_well(made, matrix, place):
    with h5py.File(path := made(), "a") as file:
        write_elem(file["obsm"], "codes", sparse.csr_matrix(VALUES))
    np.testing.assert_array_equal(as_table(path, matrix=matrix), VALUES)
    with h5py.File(path, "a") as file:
        file[f"{place}/indices"][0] = 99
    with pytest.raises(InputError, match=f"its {place} is no sparse matrix"):
        as_table(path, matrix=matrix)


@pytest.mark.parametrize("read", READERS)
def test_a_shape_that_is_not_that_of_the_names_is_refused_before_it_is_allocated(made, read):
    with h5py.File(path := made(), "a") as file:
        file["X"].attrs["shape"] = [10**13, 5]
    with pytest.raises(InputError, match=r"has 12 cells and 5 genes, but its X is of shape \(10000000000000, 5\)"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_matrices_of_other_than_real_numbers_are_refused(made, read):
    with h5py.File(path := made(), "a") as file:
        write_elem(file, "X", VALUES + 1j)
    with pytest.raises(InputError, match="its X has values of type complex64, not numbers"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_values_at_one_place_are_added(made, read):
    with h5py.File(path := made(), "a") as file:
        first, second = file["X/indices"][:2]
        file["X/indices"][1] = first
    expected = VALUES.copy()
    expected[0, first] += expected[0, second]
    expected[0, second] = 0
    np.testing.assert_array_equal(read(path), expected)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix])
def test_values_at_one_place_are_added_in_a_type_that_holds_the_sum(tmp_path, kind):
    made = kind((np.array([200, 100, 7], np.uint8), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    anndata.AnnData(made).write_h5ad(tmp_path / "cells.h5ad")
    assert read_table(tmp_path / "cells.h5ad").values.tolist() == [[300, 0], [0, 7]]


@pytest.mark.parametrize("read", READERS)
def test_an_annotation_that_nobody_needs_may_be_unreadable(made, read):
    for spoil in (unknown, longer):
        with h5py.File(path := made(), "a") as file:
            spoil(file["obs"], "depth")
        np.testing.assert_array_equal(read(path), VALUES)


@pytest.mark.parametrize("read", READERS)
def test_an_annotation_that_is_needed_is_named(made, read):
    with h5py.File(path := made(), "a") as file:
        unknown(file["obs"], "kind")
    with pytest.raises(
        InputError, match=r"cannot be read as an .h5ad file: obs/kind: .* may be damaged: (copy|download)"
    ):
        read(path)
    with h5py.File(path := made(), "a") as file:
        file["obs/kind/codes"][0] = 9
    with pytest.raises(InputError, match=r"cannot be read as an .h5ad file: obs/kind: "):
        read(path)


def test_other_hdf5_files_are_no_h5ad(tmp_path):
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["X"] = VALUES
    for read in READERS:
        with pytest.raises(
            InputError, match=r"other.h5ad cannot be read .* it has no obs and no var: write it with anndata"
        ):
            read(tmp_path / "other.h5ad")


def test_a_table_in_an_old_layout_is_read():
    path = SOURCES["pbmc68k"].find("")
    table = read_table(path, ["bulk_labels"], matrix="raw")
    assert table.values.shape == (700, 765)
    assert table.columns["bulk_labels"][0] == "CD14+ Monocyte"
    assert (table.ids[0], table.names[0]) == ("AAAGCCTGGCTAAC-1", "HES4")


def unknown(group, name):
    del group[name]
    group.create_group(name).attrs.update({"encoding-type": "written-by-the-future", "encoding-version": "9.0.0"})


def longer(group, name):
    del group[name]
    write_elem(group, name, np.zeros(13))


@pytest.mark.parametrize("kind", [h5py.string_dtype("ascii"), "S6"])
@pytest.mark.parametrize("encoding", [{}, {"encoding-type": "string-array", "encoding-version": "0.2.0"}])
def test_names_and_annotations_that_are_stored_as_bytes_are_text(made, kind, encoding):
    with h5py.File(path := made(), "a") as file:
        for place in ("var/_index", "obs/_index", "obs/kind/categories"):
            texts = file[place].asstr()[()].tolist()
            del file[place]
            file.create_dataset(place, data=np.array(texts, "S") if kind == "S6" else texts, dtype=kind)
            file[place].attrs.update(encoding)
    table = read_table(path, ["kind"], matrix="logged")
    assert table.names.tolist() == [f"gene{n}" for n in range(5)]
    assert table.ids.tolist() == [f"cell{n}" for n in range(12)]
    assert table.columns["kind"].tolist() == KINDS.tolist()
    assert read_cells(path, "kind").types == ("cat", "dog", "newt")


def test_attributes_may_be_bytes(made):
    with h5py.File(path := made(), "a") as file:
        file["obs"].attrs["column-order"] = np.array([b"kind", b"depth"])
        for frame in ("obs", "var"):
            file[frame].attrs["_index"] = np.bytes_(b"_index")
            file[frame].attrs["encoding-version"] = np.bytes_(b"0.2.0")
    table = read_table(path, ["kind", "depth"])
    assert (table.ids[3], table.names[1], table.columns["depth"][0]) == ("cell3", "gene1", "1.5")


@pytest.mark.parametrize("place", ["obs/depth", "X/data", "raw/var", "varm/loadings", "obsm/codes"])
def test_what_is_no_matrix_is_refused_with_those_that_there_are(made, place):
    with pytest.raises(InputError, match=f"it has no {place} .matrices: X, raw/X, layers/logged.; name one"):
        as_table(made(), matrix=place)
