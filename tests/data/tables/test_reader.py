import gzip
import pickle

import anndata
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sparseid.data.tables import Table, read_table
from sparseid.errors import InputError

VALUES = [[1.5, 2.0], [3.0, -4.0], [0.0, 1e3]]
TEXT = "id,height,kind,weight\na,1.5,cat,2\nb,3,dog,-4\nc,0,cat,1e3\n"


@pytest.fixture
def written(tmp_path):
    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def frame():
    return pd.DataFrame(VALUES, columns=["height", "weight"], index=["a", "b", "c"]).assign(kind=["cat", "dog", "cat"])


def made_csv(folder):
    (folder / "t.csv").write_text(TEXT)
    return folder / "t.csv"


def made_gzipped_tsv(folder):
    (folder / "t.tsv.gz").write_bytes(gzip.compress(TEXT.replace(",", "\t").encode()))
    return folder / "t.tsv.gz"


def made_parquet(folder):
    frame().to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def made_npz(folder):
    arrays = {"row_ids": list("abc"), "feature_names": ["height", "weight"], "kind": ["cat", "dog", "cat"]}
    np.savez(folder / "t.npz", X=VALUES, **arrays)
    return folder / "t.npz"


def made_h5ad(folder):
    made = anndata.AnnData(
        sparse.csr_matrix(VALUES), obs=frame()[["kind"]], var=pd.DataFrame(index=["height", "weight"])
    )
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad"


@pytest.mark.parametrize("make", [made_csv, made_gzipped_tsv, made_parquet, made_npz, made_h5ad])
def test_every_format_gives_the_same_table(make, tmp_path):
    table = read_table(make(tmp_path), columns=["kind"])
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.names.tolist() == ["height", "weight"]
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.columns["kind"].tolist() == ["cat", "dog", "cat"]
    assert table.singles().dtype == np.float32
    assert {table.names.dtype.kind, table.ids.dtype.kind, table.columns["kind"].dtype.kind} == {"U"}
    with pytest.raises(InputError, match=r"has no (column|array) 'kidn'; did you mean: kind"):
        read_table(make(tmp_path), columns=["kidn"])


@pytest.mark.parametrize(
    ("text", "ids", "names"),
    [
        ("x,y\n1,2\n3,4\n", ["1", "2"], ["x", "y"]),  # no ids
        ("\ufeffname,y\r\nu,2\r\n\r\nv,4\r\n", ["u", "v"], ["y"]),  # ids by their values
        (",x\n7,2\n9,4\n", ["7", "9"], ["x"]),  # by its name: an index that was written along
        ("0,1\n1,2\n3,4\n", ["1", "2"], ["0", "1"]),  # names that count the columns
        ('a;"b"\n1;2\n3;4\n', ["1", "2"], ["a", "b"]),
        ('id,"a, b"\n"u, v",2\nw,4\n', ["u, v", "w"], ["a, b"]),
    ],
)
def test_names_and_ids_of_text(written, text, ids, names):
    table = read_table(written(text))
    assert (table.ids.tolist(), table.names.tolist()) == (ids, names)
    assert table.values[:, -1].tolist() == [2, 4]


def test_a_named_column_holds_the_ids_and_may_be_a_label_too(written):
    table = read_table(written("x,user\n1,7\n2,8\n"), columns=["user"], ids="user")
    assert (table.ids.tolist(), table.columns["user"].tolist(), table.names.tolist()) == (["7", "8"], ["7", "8"], ["x"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n \n", "it is empty: it needs a line of names"),
        ("a,b\n", "a line of names, and no rows"),
        ("1.5,2\n3,4\n", "line 1 holds numbers, where the names of the columns belong"),
        ("a,b\n1,2\n3\n", "line 3 has 1 fields, the line of names 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 fields"),
        ("a,b\n1,2\n3,x\n", "line 3, column 'b': 'x' is not a number"),
        ("a,b\n1,2\nx,4\n", "line 3, column 'a': 'x' is not a number"),
        ("a,b\n1,2\n3,1_000\n", "line 3, column 'b': '1_000' is not a number"),
        ('a,b\n1,"2,5"\n', "line 2, column 'b': '2,5' is not a number: write decimals with a point"),
        ("a,b\n1,2\n3,\n", "line 3, column 'b': the value is missing: fill it, or drop the row or column"),
        ("a,b\n1,2\n3,NA\n", "line 3, column 'b': 'NA' is missing"),
        ("a,b\n1,2\n3,-inf\n", "line 3, column 'b': -inf is infinite"),
        ("id,b\nu,2\nv,3\nu,4\n", "the id 'u' occurs twice, in line 2 and line 4"),
        ("a,b,a\n1,2,3\n", "the columns 1 and 3 are both named 'a'"),
        ("a,,c\n1,2,3\n", "column 2 has no name in line 1"),
        ('a,b\n1,"2\n', "line 2: the quotes do not match"),
        ("id\nu\n", "it has no column of numbers"),
        ("a,b\n1,2\n3,\xe4\n".encode("latin-1"), "is not UTF-8 (byte 0xe4 in line 3)"),
    ],
)
def test_text_that_is_no_table_is_refused_with_line_and_column(written, text, said):
    path = written(text)
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.keys == ("data.path",)


def test_integers_that_double_precision_merges_are_refused_and_others_read(written):
    def text(step):
        return "id,nanoseconds\n" + "".join(f"u{n},{17 * 10**17 + step * n}\n" for n in range(30))

    with pytest.raises(InputError, match=r"differ by less than double precision .* column 'nanoseconds' become 1"):
        read_table(written(text(1)))
    with pytest.raises(InputError, match=r"differ by less than double precision .* column 'nanoseconds' become 1"):
        read_table(
            written(text(1).replace("\n", ",0\n").replace("nanoseconds,0", "nanoseconds,x")), ["nanoseconds"]
        ).numbers("nanoseconds")
    with pytest.raises(InputError, match=r"differ by less than double precision .* column 'x' become 1"):
        read_table(written(f"x,y\n{2**64},1\n{2**64 + 1},2\n"))
    assert read_table(written(text(10**9))).values[1, 0] == 17 * 10**17 + 10**9
    assert (
        read_table(written("x\n1e300\n123456789012345678901234567890\n")).values[1, 0] == 123456789012345678901234567890
    )


def test_files_that_are_no_tables_are_refused(tmp_path, written):
    def refused(path, **options):
        with pytest.raises(InputError) as caught:
            read_table(path, **options)
        return str(caught.value)

    assert "does not exist" in refused(tmp_path / "missing.csv")
    assert "its ending is none of a table's" in refused(written("a\n1\n", "t.xlsx"))
    assert "cannot be read as parquet" in refused(written("a,b\n", "t.parquet"))
    assert "cannot be read as an .h5ad file: it is not an HDF5 file" in refused(written("a,b\n", "t.h5ad"))
    assert "refused: save arrays of numbers" in refused(written(pickle.dumps([1]), "t.npz"))
    np.savez(tmp_path / "two.npz", a=VALUES, b=VALUES)
    assert "no array X, and not exactly one table (arrays: a, b)" in refused(tmp_path / "two.npz")
    assert read_table(tmp_path / "two.npz", matrix="b").values.tolist() == VALUES
    np.savez(tmp_path / "short.npz", X=VALUES, kind=["a"])
    assert "it has 1 values of 'kind' for 3 rows" in refused(tmp_path / "short.npz", columns=["kind"])
    assert "no layers/counts (matrices: X)" in refused(made_h5ad(tmp_path), matrix="counts")
    frame().to_parquet(tmp_path / "text.parquet")
    assert "row 1, column 'kind': 'cat' is not a number" in refused(tmp_path / "text.parquet")
    assert "no matrices to choose from" in refused(made_csv(tmp_path), matrix="X")


def test_arrays_in_memory_are_checked_like_files():
    with pytest.raises(InputError, match=r"row 2 \('v'\), column 'b' is nan, the first of 2"):
        Table.of([[1, 2], [3, np.nan], [np.inf, 1]], names=["a", "b"], ids=["u", "v", "w"])
    with pytest.raises(InputError, match="the id 'u' occurs twice, in row 1"):
        Table.of([[1], [2]], ids=["u", "u"])
    with pytest.raises(InputError, match="the values are not numbers"):
        Table.of([["a"]])
    with pytest.raises(InputError, match=r"its ids of rows are of shape \(2, 1\), not a list"):
        Table.of([[1], [2]], ids=[["u"], ["v"]])
    with pytest.raises(InputError, match=r"its names are of shape \(2, 2\), not a list"):
        Table.of(np.eye(2), names=np.eye(2))
    with pytest.raises(InputError, match="it has 1 names for 2 columns"):
        Table.of([[1, 2]], names=["a"])


def test_labels_in_text_become_numbers_or_are_refused_with_their_place(written):
    table = read_table(written("x,y\n1,2.5\n2,many\n"), columns=["y"])
    with pytest.raises(InputError, match="line 3, column 'y': 'many' is not a number"):
        table.numbers("y")
    assert read_table(written("x,y\n1,2.5\n2,3\n"), columns=["y"]).numbers("y").tolist() == [2.5, 3]


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_table_written_by_pandas_is_read_back_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(path, index=False)
    np.testing.assert_array_equal(read_table(path).values, np.array(rows))
