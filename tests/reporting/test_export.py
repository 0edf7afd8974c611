"""Results of a run as files for other programs."""

import json

import numpy as np
import pandas as pd
import pytest

from sparseid.launching.main import main
from sparseid.reporting.export import array_table, export_run
from sparseid.training.rows import write_rows

NAMES = {"feature_names": np.array(["a", "b", "c"]), "row_ids": np.array(["x", "y"])}


def test_a_matrix_per_member_has_a_block_of_lines_per_seed():
    values = np.arange(12).reshape(2, 3, 2)
    table = array_table(values, [4, 7], NAMES)
    assert table.columns.tolist() == ["seed", "row", "x", "y"]
    assert table["seed"].tolist() == [4, 4, 4, 7, 7, 7]
    assert table["row"].tolist() == ["a", "b", "c"] * 2
    assert (table[["x", "y"]].to_numpy().reshape(2, 3, 2) == values).all()


def test_axes_without_names_are_numbered_and_doubled_names_do_not_count():
    assert array_table(np.array([5.0, 6.0]), [0], {}).to_dict("list") == {"row": [0, 1], "value": [5.0, 6.0]}
    doubled = {"feature_names": np.array(["a", "a"])}
    assert array_table(np.ones((1, 2)), [0], doubled).columns.tolist() == ["row", "0", "1"]


@pytest.fixture
def folder(tmp_path, sparling_rows):
    folder = tmp_path / "small" / "sparling" / "run"
    folder.mkdir(parents=True)
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    (folder / "config.yaml").write_text("seed: 0\n")
    write_rows(folder / "result.json", sparling_rows(0, keys={"symbol": "0"}))
    np.savez(folder / "arrays.npz", codes=np.ones((2, 3)), names=np.array(["p", "q"]), maps=np.ones((1, 2, 3)),
             pictures=np.ones((4, 8, 8)), nothing=np.ones((0, 3)), mask=np.eye(2, dtype=bool), **NAMES)  # fmt: skip
    return folder


def test_every_table_is_written_as_csv_and_parquet_and_every_array_as_npz(folder, tmp_path):
    written = export_run(folder, tmp_path / "new" / "results")
    tables = {"numbers", "codes", "names", "maps", "mask", *NAMES}
    assert set(written) == {f"{name}.{kind}" for name in tables for kind in ("csv", "parquet")} | {
        "arrays.npz",
        "config.yaml",
    }
    for name in tables:
        text = pd.read_csv(tmp_path / "new" / "results" / f"{name}.csv")
        columns = pd.read_parquet(tmp_path / "new" / "results" / f"{name}.parquet")
        assert text.columns.tolist() == columns.columns.tolist()
        assert len(text) == len(columns)
    codes = pd.read_parquet(tmp_path / "new" / "results" / "codes.parquet")
    assert codes.to_dict("list") == {"row": ["x", "y"], "a": [1.0, 1.0], "b": [1.0, 1.0], "c": [1.0, 1.0]}
    numbers = pd.read_csv(tmp_path / "new" / "results" / "numbers.csv")
    assert {"key_steps_above", "metric", "value", "unit", "seed"} <= set(numbers)
    with np.load(tmp_path / "new" / "results" / "arrays.npz") as arrays:
        assert arrays["pictures"].shape == (4, 8, 8)


def test_the_command_lists_the_files_and_refuses_what_it_cannot_do(folder, tmp_path, capsys):
    outputs = f"outputs={tmp_path}"
    assert main(["export", "ru", str(tmp_path / "to"), outputs]) == 0
    assert str(tmp_path / "to" / "codes.csv") in capsys.readouterr().out.splitlines()
    for arguments, said in (
        (["export", "run", outputs], "python run.py export RUN FOLDER"),
        (["export", "rum", str(tmp_path / "to"), outputs], "did you mean: run"),
        (["export", "run", str(folder / "status.json"), outputs], "cannot write to"),
    ):
        assert main(arguments) == 2
        assert said in capsys.readouterr().err
    arrays = folder / "arrays.npz"
    whole = arrays.read_bytes()
    for damaged in (whole[:-9], whole.replace(np.float64(1.0).tobytes(), bytes(8))):
        arrays.write_bytes(damaged)
        assert main(["export", "run", str(tmp_path / "to"), outputs]) in (1, 2)
        said = capsys.readouterr()
        assert f"{arrays} is damaged" in said.out + said.err
        assert "force=true" in said.out + said.err
    (folder / "status.json").write_text(json.dumps({"state": "failed", "message": "no data"}))
    assert main(["export", "run", str(tmp_path / "to"), outputs]) == 2
    assert "holds no finished run (state: failed): no data" in capsys.readouterr().err
