import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.data.tables import Table
from sparseid.data.tree_table.datamodule import TreeTableData
from sparseid.data.tree_table.environments import parse_newick
from sparseid.errors import InputError
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

RNG = np.random.default_rng(0)
PLACES = np.array(["lung", "liver", "gut"])[np.arange(60) % 3]
VALUES = 4 + 2 * RNG.normal(size=(60, 2))
LABELS = VALUES @ [1.0, -1.0] + 7


def table():
    columns = {"place": PLACES, "y": LABELS}
    return Table.of(VALUES, ["age", "dose"], [f"s{number}" for number in range(60)], columns)


def test_rows_keep_their_environment_label_and_id():
    data = TreeTableData(table(), [0, 1], 8, "place", "y", 0.25, 0.25, parse_newick("((lung,liver)in,gut);"), False)
    data.setup()
    assert [len(part) for part in (data.train, data.validation, data.test)] == [30, 15, 15]
    rows = [int(name[1:]) for name in data.names["row_ids"]]
    np.testing.assert_allclose(data.test.inputs[1], VALUES[rows], rtol=1e-6)
    np.testing.assert_allclose(data.test.labels[1], LABELS[rows], rtol=1e-6)
    assert data.names["environment_names"][data.test.environments].tolist() == PLACES[rows].tolist()
    assert data.names["environment_names"].tolist() == ["gut", "liver", "lung"]
    assert set(data.names["arc_names"]) == {"in", "lung", "liver", "gut"}
    scaled = TreeTableData(table(), [0], 8, "place", "y", 0.25, 0.25)
    scaled.setup()
    torch.testing.assert_close(scaled.train.labels[0].mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(scaled.train.inputs[0].std(dim=0, correction=0), torch.ones(2))


def test_a_row_without_an_environment_is_refused_and_no_environment_of_its_own():
    places = [None if number == 4 else place for number, place in enumerate(PLACES.tolist())]
    given = Table.of(VALUES, columns={"place": places, "y": LABELS})
    with pytest.raises(InputError, match="row 5, column 'place': it is missing"):
        TreeTableData(given, [0], 8, "place", "y", 0.25, 0.25)


def test_an_environment_that_is_not_in_the_tree_is_not_called_small():
    places = ["lnug", *PLACES[1:].tolist()]
    given = Table.of(VALUES, columns={"place": places, "y": LABELS})
    with pytest.raises(InputError, match="no node 'lnug'; did you mean: lung"):
        TreeTableData(given, [0], 8, "place", "y", 0.25, 0.25, parse_newick("((lung,liver)in,gut);"))


@pytest.fixture
def config(tmp_path):
    lines = [f"s{n},{PLACES[n]},{LABELS[n]},{VALUES[n, 0]},{VALUES[n, 1]}\n" for n in range(60)]
    (tmp_path / "mine.csv").write_text("id,place,y,age,dose\n" + "".join(lines))
    named = f"data.path={tmp_path / 'mine.csv'}", "data.environment=place", "data.label=y", f"outputs={tmp_path}"
    command = "experiment=tbr/arrays", "scale=smoke", "trainer.accelerator=cpu", *named
    return lambda *changes: compose([*command, *changes])


def test_a_file_with_a_row_without_an_environment_is_refused_before_a_run(config, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(path.read_text().replace("s4,liver", "s4,"))
    with pytest.raises(InputError, match=r"mine\.csv: line 6, column 'place': it is missing"):
        config()


def test_a_run_measures_its_error_beside_baselines_and_keeps_the_names(config, capsys):
    folder = execute(config())
    errors = {row.keys["method"]: row.value for row in read_rows(folder / "result.json") if row.metric == "mse"}
    assert set(errors) == {"tbr", "environment_means", "ridge"}
    assert errors["ridge"] < 1e-3 < errors["tbr"]
    assert "not better than a baseline: test MSE" in capsys.readouterr().out
    assert all("latent_dim" not in row.keys for row in read_rows(folder / "result.json"))
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        assert arrays["environment_names"].tolist() == ["gut", "liver", "lung"]
        assert arrays["weights"].shape == (2, 3, 2)
        assert arrays["deltas"].shape[1] == len(arrays["arc_names"])
        assert len(arrays["row_ids"]) == len(arrays["test_latents"])


def test_a_file_that_does_not_fit_is_refused_before_anything_starts(config, tmp_path):
    (tmp_path / "tree.nwk").write_text("(lung,gut);")
    for change, said in {
        f"data.tree={tmp_path / 'tree.nwk'}": "the tree has no node 'liver'",
        f"data.tree={tmp_path / 'none.nwk'}": "none.nwk does not exist: name a file, or set data.tree=cluster",
        "data.label=place": r"mine\.csv: line 2, column 'place': 'lung' is not a number",
        "data.label=z": "it has no column 'z'",
        "trainer.batch_size=50": "30 training rows do not fill a batch",
        "data.held_out=0.9": "and two are needed",
    }.items():
        with pytest.raises(InputError, match=said):
            config(change, *(["data.ignore=[y]"] if change == "data.label=place" else []))
    path = tmp_path / "mine.csv"
    path.write_text(path.read_text().replace("s0,lung", "s0,lnug"))
    (tmp_path / "tree.nwk").write_text("(lung,gut,liver);")
    with pytest.raises(InputError, match="no node 'lnug'; did you mean: lung"):
        config(f"data.tree={tmp_path / 'tree.nwk'}")
