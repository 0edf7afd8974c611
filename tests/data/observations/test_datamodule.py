import numpy as np

from sparseid.config.compose import compose
from sparseid.data.observations.datamodule import ObservationsData
from sparseid.data.tables import Table
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

RNG = np.random.default_rng(0)
VALUES = np.repeat(RNG.normal(size=(60, 2)), 2, axis=1) + 0.1 * RNG.normal(size=(60, 4))


def test_observations_come_from_arrays_in_memory():
    data = ObservationsData(Table.of(VALUES), [0, 1], 8, held_out=0.25, latents=2, standardise=False)
    data.setup()
    assert (data.latents, data.features, data.likelihood) == (2, 4, "gaussian")
    rows = [int(name) - 1 for name in data.row_ids]
    np.testing.assert_allclose(data.test[1], VALUES[rows], rtol=1e-6)
    assert data.seen().shape == (45, 4)


def test_a_run_measures_its_error_beside_baselines_and_keeps_the_names(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    np.savetxt(path, VALUES, delimiter=",", header="a,b,c,d", comments="")
    named = f"data.path={path}", "data.latents=2", f"outputs={tmp_path}", "trainer.accelerator=cpu"
    folder = execute(compose(["experiment=ddl/arrays", "scale=smoke", *named]))
    rows = read_rows(folder / "result.json")
    errors = {row.keys["method"]: row.value for row in rows if row.metric == "reconstruction"}
    assert set(errors) == {"ours", "mean", "pca"}
    assert errors["pca"] < 0.02
    assert {row.metric for row in rows} == {"reconstruction", "jacobian_l1", "jacobian_l1_normalised"}
    assert {row.keys["source"] for row in rows} == {"mine"}
    assert "that of PCA with as many components" in capsys.readouterr().out
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        assert arrays["feature_names"].tolist() == list("abcd")
        assert arrays["dependence"].shape == (2, 4, 2)
        assert len(arrays["row_ids"]) == len(arrays["codes"]) == 12
