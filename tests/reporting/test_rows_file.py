import math

import pandas as pd

from sparseid.papers.rows import key, newest, rows_frame
from sparseid.reporting.collect import collect
from sparseid.reporting.rows_file import flat, write_rows_file


def test_rows_come_back_with_their_keys_as_typed_columns(tmp_path, sparling_rows):
    made = [
        *sparling_rows(0, densities=1, keys={"lambda": 0.5, "S": 1, "bins": 4}),
        *sparling_rows(1, densities=1, keys={"lambda": 1, "S": "1-2"}),
    ]
    frame = newest(rows_frame(made)).assign(source="outputs")
    frame.loc[0, "value"] = math.nan
    write_rows_file(frame, tmp_path / "rows.parquet")
    found = pd.read_parquet(tmp_path / "rows.parquet")
    assert len(found) == len(made)
    assert "keys" not in found
    assert math.isnan(found["value"][0])
    assert set(found["key_domain"]) == {"digitcircle"}
    assert sorted(found["key_lambda"].unique()) == [0.5, 1.0]
    assert sorted(found["key_S"].unique()) == ["1", "1-2"]  # used with numbers and text: text
    assert found["key_bins"].dropna().unique().tolist() == [4]
    assert found["key_bins"].isna().sum() == len(made) // 2
    assert found["seed"].dtype == "int64"
    assert str(found["written"].dtype).startswith("datetime64")
    assert found["written"][0] == pd.Timestamp("2026-05-01T10:00:00Z")
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.parquet"]


def test_no_rows_have_the_same_columns(tmp_path):
    write_rows_file(collect(tmp_path / "absent").rows, tmp_path / "rows.parquet")
    found = pd.read_parquet(tmp_path / "rows.parquet")
    assert found.empty
    assert {"run", "value", "seed", "source", "written"} <= set(found.columns)
    assert found["value"].dtype == "float64"


def test_rows_keep_their_order_and_index_apart(sparling_rows):
    frame = newest(rows_frame(sparling_rows(0))).assign(source="outputs")
    picked = frame.iloc[::-1][::3]
    table = flat(picked)
    assert table["value"].tolist() == picked["value"].tolist()
    assert table["key_steps_above"].tolist() == key(picked, "steps_above").tolist()
