import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from sparseid.data.columns import read_columns
from sparseid.errors import InputError


def test_columns_of_text_have_their_places_and_others_are_left_aside(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text('file\tsize\tlabels\n\na.png\tlarge\t"a b"\nb.png\t3\tb\n')
    found = read_columns(path, ["file", "labels"], ["size", "width"])
    assert found.texts == {"file": ["a.png", "b.png"], "labels": ["a b", "b"], "size": ["large", "3"]}
    assert found.where(0, "size") == f"{path}, line 3, column 'size'"
    assert found.number(1, "size") == 3
    with pytest.raises(InputError, match="line 3, column 'size': 'large' is not a finite number"):
        found.number(0, "size")
    frame = pd.DataFrame({"file": ["a", None], "labels": [1, 2]})
    frame.to_parquet(tmp_path / "mine.parquet")
    of_parquet = read_columns(tmp_path / "mine.parquet", ["labels", "file"])
    assert of_parquet.texts == {"labels": ["1", "2"], "file": ["a", ""]}
    assert of_parquet.places == ["row 1", "row 2"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "file,label\nx,y\n", r"a\.csv: it has no column 'labels'; did you mean: label"),
        ("a.csv", "file,labels\n", r"a\.csv: it has a line of names, and no rows"),
        ("a.csv", "file,labels\nx\n", r"a\.csv: line 2 has 1 fields"),
        ("a.csv", 'file,labels\n"x,y\n', r"a\.csv: line 2: the quotes do not match"),
        ("a.xlsx", "file", "its ending is none of a csv, tsv or parquet file"),
        ("a.csv", "", "is empty"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read_columns(tmp_path / name, ["file", "labels"])


def of_parquet(path, values):
    parquet.write_table(pa.table({"labels": values, "other": [[["a"]]] * len(values)}), path)
    return read_columns(path, ["labels"]).texts["labels"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([["a", "b"], ["b"]]), ["a b", "b"]),
        (pa.array([["a"], ["b"]], pa.list_(pa.string(), 1)), ["a", "b"]),
        (pa.array([[2**60 + 1, 1], []]), ["1152921504606846977 1", ""]),
        (pa.array([None, ["b"]]), ["", "b"]),
        (pa.array([b"a b", "é".encode()]), ["a b", "é"]),
        (pa.array(["a b", None]).dictionary_encode(), ["a b", ""]),
        (pa.array([0.1, None], pa.float32()), ["0.1", ""]),
    ],
)
def test_lists_of_a_parquet_file_are_their_tokens_and_bytes_their_text(tmp_path, values, expected):
    assert of_parquet(tmp_path / "a.parquet", values) == expected


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([["a"], ["a b"]]), r"row 2: \['a b'\] is no list of tokens"),
        (pa.array([["a", None]]), r"row 1: \['a', None\] is no list of tokens"),
        (pa.array([[["a"]]]), "row 1: .* is no list of tokens"),
        (pa.array([{"x": 1}]), "row 1: the value is a dict"),
        (pa.array([[("k", "v")]], pa.map_(pa.string(), pa.string())), "row 1: the value is a list"),
    ],
)
def test_other_values_than_texts_and_tokens_are_refused(tmp_path, values, said):
    with pytest.raises(InputError, match=f"column 'labels', {said}"):
        of_parquet(tmp_path / "a.parquet", values)
