"""Reading cells: which types are used, and a clear word on every file that cannot be."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparseid.data.gtex.reader import UnreadableError, gene_columns, read_cells, read_header
from sparseid.data.gtex.sources import SOURCES
from sparseid.errors import InputError

GROUP = "Broad cell type"


def test_types_are_sorted_and_other_cells_stay_as_neighbours(adata, write):
    cells = read_cells(write(adata), GROUP, exclude=["Unknown"])
    assert cells.types == ("A", "B", "C", "D")
    np.testing.assert_array_equal(cells.population, [30, 24, 12, 9])
    assert cells.expression.shape == (80, 15)
    np.testing.assert_array_equal(cells.codes[-5:], -1)
    np.testing.assert_array_equal(cells.expression.toarray(), adata.X.toarray())
    assert cells.components is None


@pytest.mark.parametrize("matrix", ["X", "raw"])
def test_the_header_is_that_of_the_whole_file(adata, write, matrix):
    adata.raw = adata[:, :9].copy()
    header = read_header(write(adata), matrix)
    assert header.genes == tuple(adata.var_names[: 9 if matrix == "raw" else 15])
    assert header.obs[GROUP].tolist() == adata.obs[GROUP].tolist()
    del adata.raw
    with pytest.raises(InputError, match="no raw matrix"):
        read_header(write(adata), "raw")


def test_the_header_of_a_file_in_an_old_layout_is_read():
    path = SOURCES["pbmc68k"].find("")
    header = read_header(path, "raw")
    assert (len(header.genes), len(header.obs)) == (765, 700)
    assert "bulk_labels" in header.obs


def test_a_pattern_chooses_types(adata, write):
    cells = read_cells(write(adata), GROUP, include_regex="^[AC]$")
    assert cells.types == ("A", "C")
    assert cells.population.sum() == np.count_nonzero(cells.codes >= 0) == 42


def test_cells_without_a_type_are_of_none(adata, write):
    adata.obs[GROUP] = pd.Series(adata.obs[GROUP].astype(object).where(np.arange(80) != 0), dtype="category")
    assert read_cells(write(adata), GROUP).codes[0] == -1


def test_counts_are_scaled_and_logged(adata, write):
    counts = np.random.default_rng(1).poisson(1.0, (80, 15))
    counts[3] = 0
    adata.X = sparse.csr_matrix(counts)
    expected = np.log1p(1e4 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
    np.testing.assert_allclose(read_cells(write(adata), GROUP, counts=True).expression.toarray(), expected, rtol=1e-5)


def test_raw_and_dense_matrices_and_stored_components(adata, write):
    adata.raw = adata
    adata.X = -np.ones(adata.shape, np.float32)
    adata.obsm["X_pca"] = np.random.default_rng(0).normal(size=(80, 4))
    cells = read_cells(write(adata), GROUP, matrix="raw")
    np.testing.assert_array_equal(cells.expression.toarray(), adata.raw.X.toarray())
    assert cells.components.shape == (80, 4)
    del adata.raw
    with pytest.raises(InputError, match="no raw matrix"):
        read_cells(write(adata), GROUP, matrix="raw")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("Broad celltype", "did you mean: Broad cell type"), ("broad cell type", "mean: Broad"), ("zzz", "labels: Broad")],
)
def test_an_unknown_column_is_answered_with_near_names(adata, write, asked, answer):
    with pytest.raises(InputError, match=f"no column '{asked}'.*{answer}.*data.groupby"):
        read_cells(write(adata), asked)


def test_a_type_of_one_cell_is_named(adata, write):
    adata.obs[GROUP] = pd.Categorical(["lonely", *adata.obs[GROUP][1:]])
    with pytest.raises(InputError, match=r"fewer than 4 cells.*lonely \(1\); list them in data.exclude"):
        read_cells(write(adata), GROUP)
    assert "lonely" not in read_cells(write(adata), GROUP, exclude=["lonely"]).types


def test_an_excluded_type_that_is_none_is_answered_with_near_names(adata, write):
    with pytest.raises(InputError, match=r"data.exclude: 'Unknwon' is not a type .*did you mean: Unknown"):
        read_cells(write(adata), GROUP, exclude=["Unknwon"])
    with pytest.raises(InputError, match="types: A, B, C, D, Unknown"):
        read_cells(write(adata), GROUP, exclude=["zzz"])
    assert read_cells(write(adata), GROUP, never=["Unknown", "Doublet"]).types == ("A", "B", "C", "D")


def test_a_column_of_numbers_is_not_listed_to_the_end(adata, write):
    adata.obs["n_counts"] = np.arange(80)
    with pytest.raises(InputError, match=r"70 more; column 'n_counts' holds numbers: .*data.groupby"):
        read_cells(write(adata), "n_counts")
    with pytest.raises(InputError, match=r"leaves 0 .* and 70 more\)"):
        read_cells(write(adata), "n_counts", include_regex="none")


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        (np.ones((80, 1)), "fewer than two columns"),
        (np.tile([0.5, np.nan], (80, 1)), "NaN or infinite values in 80 cells"),
    ],
)
def test_stored_components_that_cannot_be_compared_are_refused(adata, write, points, fault):
    adata.obsm["X_pca"] = points
    with pytest.raises(InputError, match=rf"X_pca.*{fault}.*delete it from the file"):
        read_cells(write(adata), GROUP)


def test_counts_are_told_from_their_logarithm(adata, write):
    logged = write(adata)
    adata.X = sparse.csr_matrix(np.random.default_rng(1).poisson(1.0, (80, 15)))
    counts = write(adata, "counts.h5ad")
    with pytest.raises(InputError, match=r"only whole numbers: counts, .*data\.counts=true") as error:
        read_cells(counts, GROUP)
    assert error.value.keys == ("data.counts",)
    with pytest.raises(InputError, match=r"expects whole numbers.*remove data\.counts"):
        read_cells(logged, GROUP, counts=True)


@pytest.mark.parametrize("pattern", ["^A$", "nothing"])
def test_one_type_or_none_is_no_tree(adata, write, pattern):
    with pytest.raises(InputError, match=r"needs two, column .* leaves \d .*types: A, B, C, D, Unknown"):
        read_cells(write(adata), GROUP, include_regex=pattern)


def test_a_pattern_that_is_none_is_refused(adata, write):
    with pytest.raises(InputError, match="not a regular expression"):
        read_cells(write(adata), GROUP, include_regex="(")


@pytest.mark.parametrize(("value", "message"), [(np.nan, "1 NaN"), (np.inf, "1 NaN or infinite"), (-1.0, "1 negative")])
def test_values_that_are_no_expression_are_refused_with_the_gene(adata, write, value, message):
    adata.X[7, 2] = value
    with pytest.raises(InputError, match=f"{message}.*gene EMC7"):
        read_cells(write(adata), GROUP)


def test_files_that_are_no_h5ad_are_refused(tmp_path, adata, write):
    with pytest.raises(InputError, match="does not exist"):
        read_cells(tmp_path / "nothing.h5ad", GROUP)
    text = tmp_path / "text.h5ad"
    text.write_text("hello")
    cut = tmp_path / "cut.h5ad"
    cut.write_bytes(write(adata).read_bytes()[:5000])
    for path, reason in ((text, "it is not an HDF5 file"), (cut, "may be damaged")):
        for read in (lambda path: read_cells(path, GROUP), read_header):
            with pytest.raises(UnreadableError, match=rf"cannot be read as an \.h5ad file: .*{reason}"):
                read(path)


def test_genes_by_name(tmp_path):
    np.testing.assert_array_equal(gene_columns(["a", "b", "b", "c"], ["c", "a"], tmp_path, "k"), [3, 0])
    with pytest.raises(InputError, match=r"no gene PSMB9; did you mean PSMB2 for PSMB9\?") as error:
        gene_columns(["PSMB2", "VCP"], ["VCP", "PSMB9"], tmp_path, "data.z_genes")
    assert "its first gene is PSMB2); set data.z_genes to existing genes" in str(error.value)
    assert error.value.keys == ("data.z_genes",)
    with pytest.raises(InputError, match="several columns named b"):
        gene_columns(["a", "b", "b"], ["a", "b"], tmp_path, "k")
