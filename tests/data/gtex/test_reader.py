"""Reading cells: which types are used, and a clear word on every file that cannot be."""

import h5py
import numpy as np
import pandas as pd
import pytest
from anndata.io import write_elem
from scipy import sparse

from sparseid.data.gtex.reader import gene_columns, read_cells, read_header
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.h5ad import UnreadableError
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
    for missing in ("", "nan", "NA"):
        adata.obs[GROUP] = pd.Series([missing, *adata.obs[GROUP][1:]], adata.obs_names, dtype="category")
        cells = read_cells(write(adata), GROUP)
        assert (cells.codes[0], missing in cells.types) == (-1, False)


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


@pytest.fixture
def layered(adata):
    """A file whose expression stands in layers only."""
    adata.layers["logcounts"] = adata.X.copy()
    adata.layers["counts"] = sparse.csr_matrix(np.rint(np.expm1(adata.X.toarray())).astype(np.int64))
    adata.X = None
    return adata


def test_a_layer_can_be_chosen_and_is_what_x_would_be(layered, write):
    path, logged = write(layered), layered.layers["logcounts"].toarray()
    header = read_header(path, "logcounts")
    assert header.genes == tuple(layered.var_names)
    np.testing.assert_array_equal(read_cells(path, GROUP, matrix="logcounts").expression.toarray(), logged)
    counts = layered.layers["counts"].toarray()
    expected = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    found = read_cells(path, GROUP, matrix="counts", counts=True).expression.toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_matrix_that_is_not_there_is_answered_with_those_that_are(layered, write):
    path = write(layered)
    for read in (read_header, lambda path, *matrix: read_cells(path, GROUP, matrix=matrix[0] if matrix else "X")):
        with pytest.raises(
            InputError, match=f"{path} has no X; its layers: counts, logcounts. Choose one with data.layer"
        ):
            read(path)
        with pytest.raises(InputError, match="has no layer 'logs'; its layers: counts, logcounts") as error:
            read(path, "logs")
        assert error.value.keys == ("data.layer", "data.path")
    layered.X = layered.layers["logcounts"]
    layered.raw = layered
    layered.layers.clear()
    with pytest.raises(
        InputError, match=r"no layer 'logs'; its layers: none; it also has X and raw\. Choose one with data"
    ):
        read_header(write(layered), "logs")
    del layered.raw
    layered.X = None
    with pytest.raises(InputError, match=r"has no X; its layers: none$"):
        read_header(write(layered))


def test_an_x_that_is_stored_as_missing_is_none(layered, write):
    path = write(layered)
    with h5py.File(path, "a") as file:
        write_elem(file, "X", None)
    with pytest.raises(InputError, match="has no X; its layers: counts, logcounts"):
        read_header(path)


def _committed_types(file):
    """Add what the Java library of HDF5 adds."""
    file.create_group("__DATA_TYPES__")["String_VariableLength"] = h5py.string_dtype()


def _of_a_later_version(place):
    def spoil(file):
        if place in file:
            del file[place]
        file.create_group(place).attrs.update({"encoding-type": "written-by-the-future", "encoding-version": "9.0.0"})

    return spoil


def _garbled(place):
    def spoil(file):
        del file[place]
        file.create_dataset(place, data=np.zeros(3), chunks=(3,), compression="gzip")
        file[place].id.write_direct_chunk((0,), b"no gzip")

    return spoil


@pytest.mark.parametrize(
    "spoil",
    [
        _committed_types,
        _of_a_later_version("uns/spatial"),
        _of_a_later_version("layers/other"),
        _of_a_later_version("obsm/X_umap"),
        _of_a_later_version("obsp/distances"),
        _of_a_later_version("obs/n_genes"),
        _of_a_later_version("var/score"),
        _of_a_later_version("raw"),
        _garbled("obs/n_genes"),
    ],
)
def test_an_unreadable_element_that_nobody_needs_does_not_matter(adata, write, spoil):
    expected = read_cells(write(adata), GROUP)
    with h5py.File(path := write(adata), "a") as file:
        spoil(file)
        file["var"].attrs["column-order"] = [name for name in file["var"] if name != "_index"]
    found = read_cells(path, GROUP)
    np.testing.assert_array_equal(found.expression.toarray(), expected.expression.toarray())
    assert (found.genes, found.types, found.components) == (expected.genes, expected.types, None)
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert read_header(path).obs[GROUP].tolist() == adata.obs[GROUP].tolist()


@pytest.mark.parametrize("place", [f"obs/{GROUP}", "var/_index", "X", "obsm/X_pca"])
def test_an_unreadable_element_that_is_needed_is_named(adata, write, place):
    adata.obsm["X_pca"] = np.random.default_rng(0).normal(size=(80, 4))
    with h5py.File(path := write(adata), "a") as file:
        _of_a_later_version(place)(file)
    with pytest.raises(UnreadableError, match=rf"cannot be read as an \.h5ad file: {place}: .*download it again"):
        read_cells(path, GROUP)


def test_matrices_of_another_shape_are_refused(adata, write):
    adata.obsm["X_pca"] = np.random.default_rng(0).normal(size=(80, 4))
    with h5py.File(path := write(adata), "a") as file:
        write_elem(file, "X", adata.X[:79])
    with pytest.raises(InputError, match=r"has 80 cells and 15 genes, but its X is of shape \(79, 15\)"):
        read_cells(path, GROUP)
    with h5py.File(path := write(adata), "a") as file:
        write_elem(file["obsm"], "X_pca", adata.obsm["X_pca"][1:])
    with pytest.raises(InputError, match=r"X_pca.*has 79 rows for 80 cells"):
        read_cells(path, GROUP)


def test_components_are_not_rounded(adata, write):
    adata.obsm["X_pca"] = 1e9 + np.random.default_rng(0).normal(size=(80, 4))
    np.testing.assert_array_equal(read_cells(write(adata), GROUP).components, adata.obsm["X_pca"])


def test_a_file_of_anndata_0_7_is_read(adata, write):
    expected = read_cells(write(adata), GROUP)
    with h5py.File(path := write(adata), "a") as file:
        for frame, index in (("obs", adata.obs_names), ("var", adata.var_names)):
            del file[frame]
            group = file.create_group(frame)
            group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.1.0", "_index": "_index"})
            group.attrs["column-order"] = np.array([GROUP] if frame == "obs" else [], dtype=h5py.string_dtype())
            group.create_dataset("_index", data=index.to_numpy(object), dtype=h5py.string_dtype())
        labels = adata.obs[GROUP].cat
        names = file.create_dataset(
            f"obs/__categories/{GROUP}", data=labels.categories.to_numpy(object), dtype=h5py.string_dtype()
        )
        file.create_dataset(f"obs/{GROUP}", data=labels.codes.to_numpy()).attrs["categories"] = names.ref
    found = read_cells(path, GROUP)
    assert (found.genes, found.types) == (expected.genes, expected.types)
    np.testing.assert_array_equal(found.codes, expected.codes)
