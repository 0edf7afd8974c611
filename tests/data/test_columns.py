import pandas as pd
import pytest

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
