import gzip
import pickle

import anndata
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sparseid.data.tables import Table, read_table, table_of_frame
from sparseid.errors import InputError

VALUES = [[1.5, 2.0], [3.0, -4.0], [0.0, 1e3]]
NOISE = np.random.default_rng(0).normal(size=60).tolist()
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
    with pytest.raises(InputError, match="row 1, column '1': 'a' is not a number; columns of text"):
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


BIG = [2**60 + number for number in range(60)]


@pytest.mark.parametrize(
    "texts",
    [
        [f"+{value}" for value in BIG],
        [f"{value}.0" for value in BIG],
        [f"{value // 10}.{value % 10}e1" for value in BIG],
        [f"{'0' * 5000}{value}" for value in BIG],
        [*BIG, 0.5],
        [*BIG, 0.1],
        [f"1.{value:025}" for value in range(60)],
        [f"{value}e-400" for value in range(1, 61)],
        [*map(repr, NOISE[:30]), *BIG[:30]],
        ["9007199254740993", "9007199254740992.0"],
    ],
    ids=lambda texts: str(texts[0])[-24:],
)
@pytest.mark.parametrize("text", ["x,y\n{},0\n", "y,x\n0,{}\n"])
def test_numbers_in_any_form_that_double_precision_merges_are_refused(written, text, texts):
    header, line = text.splitlines()
    path = written("\n".join([header, *(line.format(value) for value in texts)]))
    with pytest.raises(InputError, match=r"differ by less than double precision .* of column 'x'"):
        read_table(path)
    with pytest.raises(InputError, match=r"differ by less than double precision .* of column 'x'"):
        read_table(path, ["x"]).numbers("x")


@pytest.mark.parametrize(
    "texts",
    [
        ["0.30000000000000004", "0.3"] * 20,  # rounding errors of a computation
        [f"{value:.18e}" for value in NOISE],  # as numpy.savetxt writes them
        [f"{value:.25f}" for value in NOISE],
        ["0.5", "0.50000000000000000", "1.", "1"],
        [f"0.{'3' * 5000}", "0"],
        ["1e300", "123456789012345678901234567890"],
        [17 * 10**17 + 10**9 * number for number in range(30)],
        ["1e-999999999", "1", "2"],
        [repr(value) for value in np.log1p(np.arange(60) % 7).tolist()],
    ],
    ids=lambda texts: str(texts[0])[:24],
)
def test_ordinary_numbers_of_many_digits_are_read(written, texts):
    expected = [float(text) for text in texts]
    assert read_table(written("x\n" + "\n".join(map(str, texts)))).values[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["1,5", "2,5", "3,5"], "'1,5' is not a number: write decimals with a point"),
        (["1.234,5", "2"], "'1.234,5' is not a number: write it as -1234.5 is"),
        (["5%", "6.5 %"], "'5%' is not a number: write it as -1234.5 is"),
        (["(5)", "(6)"], r"'(5)' is not a number: write it"),
        (["\N{MINUS SIGN}2.5", "\N{MINUS SIGN}3"], "'\N{MINUS SIGN}2.5' is not a number: write it"),
        (["1 000", "2 500"], "'1 000' is not a number: write it"),
        (["$1.50", "$2"], "'$1.50' is not a number: write it"),
        (["NA", "NA"], "'NA' is missing: fill it"),
        (["5%", "control", "10%"], "'5%' is not a number"),
    ],
)
def test_a_first_column_of_numbers_as_people_write_them_is_no_column_of_ids(written, texts, said):
    rows = "".join(f"{text};{number}\n" for number, text in enumerate(texts))
    if "2" in texts or "control" in texts:
        rows = rows.replace("\n2;", "\n2,0;")
    with pytest.raises(InputError) as caught:
        read_table(written(f"dose;y\n{rows}"))
    assert f"line 2, column 'dose': {said}" in str(caught.value)
    assert "If it holds ids of rows, name it id" in str(caught.value)
    assert read_table(written(f"id;y\n{rows.replace('NA;1', 'NB;1')}")).ids[0] == texts[0]


@pytest.mark.parametrize(
    "ids",
    [
        ["cell-1", "cell-2"],
        ["AAACCTG-1", "AAACCTG-2"],
        ["2020-01-01", "2020-01-02"],
        ["10.0.0.1", "10.0.0.2"],
        ["1_1", "1_2"],
        ["1-1", "1-2"],
        ["5 mg", "10 mg"],
        ["control", "treated"],
    ],
)
def test_a_first_column_of_text_holds_ids(written, ids):
    assert read_table(written("name,y\n" + "".join(f"{text},{len(text)}\n" for text in ids))).ids.tolist() == ids

    [remark] = read_table(written("name,y\n" + "".join(f"{text},{len(text)}\n" for text in ids))).remarks
    assert f"column 'name' holds text ({ids[0]!r} in line 2): it is taken for the ids of the rows" in remark
    assert read_table(written("Index,y\n" + "".join(f"{text},{len(text)}\n" for text in ids))).remarks == ()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "1.5 kg",
            "1.5kg",
            "0.12 mol/l",
            "1.5 m2",
            "<5",
            "< 5",
            ">= 0.5 mg",
            "\N{LESS-THAN OR EQUAL TO}3",
            "1\N{PLUS-MINUS SIGN}2",
        ),
        *("0.5 +/- 0.1", "1/2", "120 / 80", "np.float64(0.12)", "np.int64(3)", "tensor(0.12)", "(0.5, 1.5]", "0.5-1.5"),
    ],
)
def test_a_first_column_of_measurements_is_no_column_of_ids(written, text):
    with pytest.raises(InputError) as caught:
        read_table(written(f"dose;y\ncontrol;1\n{text};2\nlow;3\nhigh;4\n"))
    said = f"line 3, column 'dose': {text!r} is not a number: write nothing but a number, as -1234.5 is"
    assert f"{said}. If it holds ids of rows, name it id" in str(caught.value)
    assert read_table(written(f"id;y\n{text};2\nlow;3\n")).ids.tolist() == [text, "low"]


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["control", "1,5", "x", "y"], "line 3, column 'dose': '1,5' is not a number: write decimals with a point"),
        (["5 mg", "7 mg", "5 mg"], "column 'dose': '5 mg' is not a number, and no id of a row, since it occurs twice"),
        (["1", "2", "a3f"], "line 4, column 'dose': 'a3f' is not a number; columns of text are named in the settings"),
        (["1", "2", "a3f"], ", or dropped. If it holds ids of rows, name it id"),
        (["TRUE", "x"], "line 2, column 'dose': 'TRUE' is not a number: write truths as 1 and 0. If it holds ids of"),
        (["1", "", "3"], "line 3, column 'dose': the value is missing: fill it, or drop the row or column. If it"),
    ],
)
def test_a_first_column_that_is_neither_numbers_nor_ids_is_refused_with_its_remedy(written, ids, said):
    with pytest.raises(InputError) as caught:
        read_table(written("dose;y\n" + "".join(f"{text};{number}\n" for number, text in enumerate(ids))))
    assert said in str(caught.value)


def test_a_line_of_numbers_is_no_line_of_names_unless_they_count_the_columns_as_pandas_does(written):
    for first in ("1,2", "1,2,3", "0,0", "0,2", "0.0,1.0"):
        with pytest.raises(InputError, match=r"line 1 holds numbers, where the names .* belong: add a line of names"):
            read_table(written(f"{first}\n{first}\n"))
    for text in ("0,1\n1,2\n", ",0,1\nu,1,2\n", ",1,2\nu,1,2\n"):
        table = read_table(written(text))
        assert table.values.tolist() == [[1, 2]]
        assert table.remarks[0].startswith("line 1 is taken for the names of the columns, which count them")


def test_whole_numbers_with_missing_ones_among_them_stay_whole_in_parquet_files(tmp_path):
    big = 2**53 + 1
    made = pd.DataFrame({"x": [0.5, 1.5], "batch": pd.array([big, None], "Int64")})
    pyarrow_table = pyarrow.Table.from_pydict({"x": [0.5, 1.5], "batch": pyarrow.array([big, None], pyarrow.int64())})
    made.to_parquet(tmp_path / "pandas.parquet")
    pyarrow.parquet.write_table(pyarrow_table, tmp_path / "arrow.parquet")
    for name in ("pandas", "arrow"):
        table = read_table(tmp_path / f"{name}.parquet", ["batch"])
        assert table.columns["batch"].tolist() == [str(big), ""]
        with pytest.raises(InputError, match=r"row 2, column 'batch': (the value|it) is missing"):
            read_table(tmp_path / f"{name}.parquet")


def test_truths_are_labels_in_every_format(tmp_path, written):
    made = pd.DataFrame({"x": [0.5, 1.5, 2.5], "ill": [True, False, True]})
    made.to_parquet(tmp_path / "t.parquet")
    made.to_csv(tmp_path / "t.csv", index=False)
    np.savez(tmp_path / "t.npz", X=made[["x"]], ill=made["ill"])
    for name in ("t.parquet", "t.csv", "t.npz"):
        table = read_table(tmp_path / name, ["ill"])
        assert table.numbers("ill").tolist() == [1, 0, 1]
        assert table.classes("ill").tolist() == ["True", "False", "True"]
    with pytest.raises(InputError, match="line 3, column 'y': 'True' is not a number: write truths as 1 and 0"):
        read_table(written("x,y\n1,2\n2,True\n"), ["y"]).numbers("y")


def test_intervals_are_no_numbers():
    with pytest.raises(InputError, match=r"row 1, column 'a': it is no number \(.*Interval"):
        table_of_frame(pd.DataFrame({"a": pd.interval_range(0, 3)}))
    sparse_column = pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 5])})
    assert table_of_frame(sparse_column).values.tolist() == [[0], [0], [5]]


def test_numbers_of_thousands_of_digits_are_refused_with_their_place(written):
    for text in ("9" * 5000, f"-{'9' * 5000}.5", "1e400"):
        with pytest.raises(InputError) as caught:
            read_table(written(f"x,y\n1,2\n3,{text}\n"))
        assert "line 3, column 'y': '" in str(caught.value)
        assert "is beyond double precision (1.8e+308): rescale the column" in str(caught.value)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["row_ids", "feature_names", "kind"])
def test_names_in_bytes_are_utf_8(tmp_path, name):
    def arrays(names):
        return {"row_ids": list("abc"), "feature_names": ["h", "w"], "kind": list("xyz")} | {name: np.array(names)}

    names = ["caf\xe9", "n\xf3", "\u03b1"][: 2 if name == "feature_names" else 3]
    np.savez(tmp_path / "t.npz", X=VALUES, **arrays([text.encode() for text in names]))
    table = read_table(tmp_path / "t.npz", ["kind"])
    found = {"row_ids": table.ids, "feature_names": table.names, "kind": table.columns["kind"]}[name]
    assert found.tolist() == names
    np.savez(tmp_path / "t.npz", X=VALUES, **arrays([text.encode("utf-16") for text in names]))
    with pytest.raises(InputError, match=r"t\.npz: .*, row 1: the bytes b'.*' are not UTF-8: save text as str"):
        read_table(tmp_path / "t.npz", ["kind"])


def test_names_that_are_missing_or_end_with_nul_are_refused(written):
    with pytest.raises(InputError, match="line 3 has no id: give it one"):
        read_table(written("id,y\na,1\n,2\n"))
    with pytest.raises(InputError, match="row 2 has no id"):
        Table.of([[1], [2]], ids=["a", None])
    with pytest.raises(InputError, match="column 2 has no name"):
        Table.of([[1, 2]], names=["a", float("nan")])
    with pytest.raises(InputError, match=r"ids of rows, row 2: 'a\\x00' ends with a NUL character"):
        Table.of([[1], [2]], ids=["a", "a\0"])


MISSING = pd.Categorical([None, "lung", "gut"])


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([None, "lung", "gut"], "it is missing"),
        ([np.nan, "lung", "gut"], "it is missing"),
        ([np.nan, 1.0, 2.0], "it is missing"),
        (["", "lung", "gut"], "it is missing"),
        ([" ", "lung", "gut"], "it is missing"),
        (np.array(["NaT", "2020", "2021"], "M8[D]"), "it is missing"),
        (np.ma.array(["x", "lung", "gut"], mask=[True, False, False]), "it is missing"),
        (MISSING, "it is missing"),
        (pd.Series(MISSING), "it is missing"),
        (pd.array([None, 1, 2], "Int64"), "it is missing"),
        (pd.array([None, "a", "b"], "string"), "it is missing"),
        (["nan", "lung", "gut"], "'nan' stands for a missing value"),
        *(([text, "lung", "gut"], f"{text!r} stands for a missing value") for text in ("NA", "na", "n/a", "none", "-")),
    ],
)
def test_a_missing_class_is_no_class_of_its_own(kinds, said):
    table = Table.of(VALUES, ids=list("abc"), columns={"kind": kinds})
    with pytest.raises(InputError) as caught:
        table.classes("kind")
    assert f"row 1 ('a'), column 'kind': {said} (the only one): fill it, or drop the row" in str(caught.value)


def test_a_missing_class_is_refused_in_every_format(tmp_path, written):
    made = frame().assign(kind=pd.Categorical(["cat", None, "cat"]))
    made.to_parquet(tmp_path / "t.parquet")
    annotated = anndata.AnnData(np.array(VALUES), obs=made[["kind"]])
    annotated.write_h5ad(tmp_path / "t.h5ad")
    np.savez(tmp_path / "t.npz", X=VALUES, kind=["cat", "", "cat"])
    paths = [tmp_path / name for name in ("t.parquet", "t.h5ad", "t.npz")]
    for path in (*paths, written("height,kind\n1,cat\n2,\n3,cat\n"), written("height\tkind\n1\tcat\n2\tNA\n", "t.tsv")):
        table = read_table(path, ["kind"])  # to be left out, it may have missing ones
        with pytest.raises(InputError, match=r"^(row 2|line 3).*, column 'kind': .*: fill it, or drop the row"):
            table.classes("kind")
    assert Table.of(VALUES, columns={"kind": [1, 2, 3]}).classes("kind").tolist() == ["1", "2", "3"]


def test_frames_among_the_matrices_of_an_h5ad_file_keep_the_types_of_their_columns(tmp_path):
    made = anndata.AnnData(np.array(VALUES), obsm={"f": pd.DataFrame({"a": BIG[:3], "b": [0.5, 1, 2]}, list("012"))})
    made.write_h5ad(tmp_path / "t.h5ad")
    with pytest.raises(InputError, match=r"differ by less than double precision .* of column 'a'"):
        read_table(tmp_path / "t.h5ad", matrix="obsm/f")
    made.obsm["f"] = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1, 2]}, list("012"))
    made.write_h5ad(tmp_path / "t.h5ad")
    table = read_table(tmp_path / "t.h5ad", matrix="obsm/f")
    assert (table.names.tolist(), table.values.tolist()) == (["a", "b"], [[1, 0.5], [2, 1], [3, 2]])


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(1001, 1004, name="patient"),
        pd.RangeIndex(3, name="patient"),
        pd.RangeIndex(500, 503),
        pd.RangeIndex(2, -1, -1),
        pd.RangeIndex(0, 6, 2),
    ],
    ids=str,
)
def test_an_index_that_does_more_than_count_the_rows_is_their_ids(index, tmp_path):
    made = pd.DataFrame({"a": [1.0, 2, 4]}, index)
    made.to_parquet(tmp_path / "t.parquet")
    expected = [str(number) for number in index]
    assert table_of_frame(made).ids.tolist() == read_table(tmp_path / "t.parquet").ids.tolist() == expected
    again = made.reset_index(drop=True)
    again.to_parquet(tmp_path / "t.parquet")
    assert table_of_frame(again).ids.tolist() == read_table(tmp_path / "t.parquet").ids.tolist() == ["1", "2", "3"]


def test_quoted_fields_between_tabs_are_those_that_pandas_wrote(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2, 3]}, pd.Index(['5" pipe', "a\tb", '"c"'], name="id"))
    frame.to_csv(tmp_path / "t.tsv", sep="\t")
    table = read_table(tmp_path / "t.tsv")
    assert (table.ids.tolist(), table.values[:, 0].tolist()) == (frame.index.tolist(), [1, 2, 3])


def test_a_long_text_in_an_ignored_column_is_read(written):
    text = "notes " * 40_000
    table = read_table(written(f'id,x,notes\nu,1,"{text}"\nv,2,\n'), columns=["notes"])
    assert (table.values.tolist(), table.columns["notes"].tolist()) == ([[1], [2]], [text.strip(), ""])


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_first_line_with_the_separator_is_none_of_names(written, separator):
    table = read_table(written(f"sep={separator}\nid{separator}x\nu{separator}1\nv{separator}2\n"))
    assert (table.ids.tolist(), table.names.tolist(), table.values.tolist()) == (["u", "v"], ["x"], [[1], [2]])


def test_spaces_are_no_separator(tmp_path):
    (tmp_path / "t.txt").write_text("a b c\n1.5 2 3\n4 5 6\n")
    with pytest.raises(InputError, match=r"line 1 is a single name, 'a b c', .* by commas or tabs, not by spaces"):
        read_table(tmp_path / "t.txt")


@pytest.mark.parametrize("make", [made_npz, made_h5ad, made_parquet])
def test_only_text_may_be_gzipped(make, tmp_path):
    path = make(tmp_path)
    zipped = path.with_name(f"{path.name}.gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match="only text may be gzipped, unpack other files"):
        read_table(zipped)


@pytest.mark.parametrize("value", [["a", "b"], {"x": 1}])
def test_a_column_of_lists_is_none_of_texts(tmp_path, value):
    pyarrow.parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "kind": [value, value]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"column 'kind', row 1: the value is a (list|dict): give every row one text"):
        read_table(tmp_path / "t.parquet", columns=["kind"])
