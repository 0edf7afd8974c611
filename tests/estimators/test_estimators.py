"""Estimators: the command's run, data in and named frames out, save and load."""

import gzip
import pickle
from decimal import Decimal
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy
import scipy.sparse
import torch
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparseid
from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.training.checkpoints import load as load_checkpoint
from sparseid.training.run import execute

pytestmark = pytest.mark.usefixtures("torch_settings")

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    5 + RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 4)),
    index=pd.Index([f"row{number}" for number in range(60)], name="id"),
    columns=["height", "weight", "income", "rent"],
)
TISSUES = pd.Series(np.repeat(["lung", "gut", "liver"], 20), TABLE.index)
RESPONSE = 3 * TABLE["height"] + TISSUES.map({"lung": 1.0, "gut": 2.0, "liver": -1.0}) * TABLE["rent"]
TREE = "((lung,gut)inner,liver);"
LABELS = pd.DataFrame({"x": np.sin(np.arange(60) / 5), "y": np.cos(np.arange(60) / 5)}, TABLE.index)
SMOKE = {"preset": "smoke", "device": "cpu"}
TINY = {"data.held_out": 0.2, "trainer.batch_size": 16}

MODELS = {
    "sparse_vae": (sparseid.SparseVAE(latents=2, **SMOKE), {}),
    "ddl": (sparseid.DiverseDictionary(latents=2, **SMOKE), {}),
    "tbr": (sparseid.TBR(latents=2, tree=TREE, **SMOKE), {"y": RESPONSE, "environments": TISSUES}),
    "regcl": (sparseid.RegCL(latents=3, standardise=True, settings=TINY, **SMOKE), {"y": LABELS}),
}
COMMANDS = {
    "sparse_vae": ["method.latents=2"],
    "ddl": ["data.latents=2"],
    "tbr": ["method.latents=2", "data.tree=tree.nwk", "data.environment=tissue", "data.label=response"],
    "regcl": ["data.latents=3", "data.standardise=true", "data.labels=[x,y]", *(f"{k}={v}" for k, v in TINY.items())],
}


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(UserWarning, match=r"not better than a baseline|R2"):
        return {name: model.fit(TABLE, **given) for name, (model, given) in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_has_the_weights_of_the_commands_run_bit_for_bit(name, fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"tbr": {"tissue": TISSUES, "response": RESPONSE}, "regcl": dict(LABELS)}.get(name, {})
    TABLE.assign(**columns).to_csv("table.csv", index=name != "regcl")
    Path("tree.nwk").write_text(TREE)
    words = [f"experiment={name}/arrays", "scale=smoke", "data.path=table.csv", "seeds=[]", "trainer=cpu"]
    folder = execute(compose([*words, "outputs=out", *COMMANDS[name]]))
    saved = load_checkpoint(folder / "checkpoints" / "last.ckpt")["state_dict"]
    ours = fitted[name].model_.module.state_dict()
    assert ours.keys() == saved.keys()
    assert all(torch.equal(value, saved[key]) for key, value in ours.items())
    rows = sparseid.load_run(folder).rows
    np.testing.assert_array_equal(fitted[name].rows_["value"], np.array([row.value for row in rows], float))


@pytest.mark.parametrize("name", MODELS)
def test_codes_are_named_and_scaled_as_the_data_of_the_run_were(name, fitted):
    model = fitted[name]
    codes = model.transform(TABLE)
    assert codes.index.equals(TABLE.index)
    assert codes.columns.tolist() == model.get_feature_names_out().tolist()
    arrays = model.model_.run.arrays
    if name == "regcl":
        known, saved = codes.iloc[-12:], arrays["embedding"]
    else:
        known, saved = codes.loc[arrays["row_ids"]], arrays["test_latents" if name == "tbr" else "codes"]
    np.testing.assert_allclose(known, saved, rtol=1e-5, atol=1e-6)
    one = model.transform(TABLE.iloc[[3]])
    np.testing.assert_allclose(one, codes.iloc[[3]], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_and_a_pickled_estimator_have_the_same_values(name, fitted, tmp_path):
    model = fitted[name]
    codes = model.transform(TABLE)
    model.save(tmp_path / "model")
    model.save(tmp_path / "model")  # replaces an earlier one
    loaded = type(model).load(tmp_path / "model")
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        pd.testing.assert_frame_equal(again.transform(TABLE), codes)
        pd.testing.assert_frame_equal(again.rows_, model.rows_)
        assert again.feature_names_in_.tolist() == TABLE.columns.tolist()
        assert again.n_features_in_ == 4
    assert loaded.get_params() == model.get_params()
    files = [file for file in (tmp_path / "model").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} <= {".json", ".yaml", ".npz", ".ckpt", ".txt"}
    assert sparseid.load_run(tmp_path / "model").rows


def test_fitted_attributes_have_the_names_of_the_data(fitted):
    names = TABLE.columns.tolist()
    assert fitted["sparse_vae"].factors_.index.tolist() == fitted["ddl"].jacobian_.index.tolist() == names
    assert fitted["sparse_vae"].mask_.to_numpy().dtype == fitted["ddl"].structure_.to_numpy().dtype == bool
    assert fitted["tbr"].weights_.index.tolist() == ["gut", "liver", "lung"]
    assert set(fitted["tbr"].deltas_.index) == {"inner", "liver", "lung", "gut"}
    assert fitted["regcl"].attribution_.index.tolist() == ["x", "y"]
    assert fitted["regcl"].attribution_.columns.tolist() == names
    assert fitted["sparse_vae"].baselines_.loc["pca", "mse"] < fitted["sparse_vae"].baselines_.loc["mean", "mse"]
    assert set(fitted["tbr"].baselines_.index) == {"environment_means", "ridge"}
    assert fitted["regcl"].baselines_.index.tolist() == ["label_ridge"]


@pytest.mark.parametrize(("name", "metric"), [("sparse_vae", "mse"), ("ddl", "reconstruction")])
def test_the_score_of_the_held_out_rows_is_the_runs_error(name, metric, fitted):
    model = fitted[name]
    [error] = model.rows_.query(f"metric == '{metric}' and method not in ('mean', 'pca')")["value"]
    held_out = TABLE.loc[model.model_.run.arrays["row_ids"]]
    assert model.score(held_out) == pytest.approx(-error, rel=1e-5)


def test_predictions_are_in_the_unit_of_the_labels_and_have_the_runs_error(fitted):
    model = fitted["tbr"]
    [error] = model.rows_.query("metric == 'mse' and method == 'tbr'")["value"]
    held_out = model.model_.run.arrays["row_ids"]
    predicted = model.predict(TABLE.loc[held_out], TISSUES.loc[held_out])
    squares = np.square(predicted - RESPONSE.loc[held_out]).mean()
    assert squares == pytest.approx(error * model._label_scale.spread.item() ** 2, rel=1e-4)
    assert model.score(TABLE, RESPONSE, TISSUES) < 1
    with pytest.raises(InputError, match="row 2: 'lng' was not trained on; did you mean: lung"):
        model.predict(TABLE[:2], ["gut", "lng"])


def test_the_score_of_the_held_out_end_is_the_runs_r2(fitted):
    model = fitted["regcl"]
    [r2] = model.rows_.query("metric == 'r2' and explained == 'labels' and method == 'regcl'")["value"]
    assert 100 * model.score(TABLE[48:], LABELS[48:]) == pytest.approx(r2, rel=1e-3, abs=1e-3)


def test_the_baseline_of_regcl_is_a_ridge_regression_of_the_labels(fitted):
    ridge = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))).fit(TABLE[:48], LABELS[:48])
    expected = 100 * ridge.score(TABLE[48:], LABELS[48:])
    assert fitted["regcl"].baselines_.loc["label_ridge", "r2"] == pytest.approx(expected, rel=1e-4)


def test_arrays_sparse_matrices_and_annotated_data_are_the_same_data(fitted):
    model = sparseid.SparseVAE(latents=2, **SMOKE)
    frame = fitted["sparse_vae"]
    with pytest.warns(UserWarning, match="not better"):
        codes = model.fit(TABLE.to_numpy()).transform(scipy.sparse.csr_array(TABLE.to_numpy()))
    np.testing.assert_array_equal(codes, frame.transform(TABLE))
    assert not hasattr(model, "feature_names_in_")
    assert model.factors_.index.tolist() == ["x0", "x1", "x2", "x3"]
    cells = anndata.AnnData(TABLE.astype(np.float64))
    pd.testing.assert_frame_equal(frame.transform(cells), frame.transform(TABLE), check_names=False)


@pytest.mark.parametrize("matrix", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_annotated_data_may_still_be_in_their_file(fitted, tmp_path, matrix):
    cells = anndata.AnnData(matrix(TABLE.to_numpy(np.float64)), var=pd.DataFrame(index=TABLE.columns))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert backed.isbacked
    found, expected = fitted["sparse_vae"].transform(backed), fitted["sparse_vae"].transform(TABLE)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("columns", [range(4), range(1990, 1994), [0.5, 1.5, 2.5, 3.5]])
def test_columns_whose_names_are_numbers_are_refused_in_another_order_too(columns, tmp_path):
    frame = TABLE.set_axis(list(columns), axis=1)
    with pytest.warns(UserWarning, match="not better"):
        model = sparseid.SparseVAE(latents=2, **SMOKE).fit(frame)
    model.save(tmp_path / "kept")
    for fitted in (model, sparseid.SparseVAE.load(tmp_path / "kept")):
        codes = fitted.transform(frame)
        with pytest.raises(ValueError, match=f"X: column 1 is '{columns[3]}', in the fit it was '{columns[0]}': pass"):
            fitted.transform(frame[frame.columns[::-1]])
        with pytest.raises(ValueError, match="column 2 is '7"):
            fitted.transform(frame.rename(columns={columns[1]: 7}))
        np.testing.assert_array_equal(fitted.transform(TABLE.to_numpy()), codes)


def test_a_frame_without_names_is_transformed_as_an_array(fitted):
    counted = pd.DataFrame(TABLE.to_numpy(), TABLE.index)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        codes = fitted["sparse_vae"].transform(counted)
    np.testing.assert_array_equal(codes, fitted["sparse_vae"].transform(TABLE))
    with pytest.warns(UserWarning, match="not better"):
        model = sparseid.SparseVAE(latents=2, **SMOKE).fit(TABLE.to_numpy())
    np.testing.assert_array_equal(model.transform(counted), codes)
    np.testing.assert_array_equal(model.transform(counted.set_axis([7, 3, 2, 1], axis=1)), codes)


VARM = {
    "sparse_vae": {"sparse_vae_factors": "factors_", "sparse_vae_mask": "mask_"},
    "ddl": {"ddl_jacobian": "jacobian_", "ddl_structure": "structure_"},
    "tbr": {},
    "regcl": {"regcl_attribution": "attribution_"},
}


@pytest.mark.parametrize("name", MODELS)
def test_annotated_data_get_the_results_under_names_that_a_file_keeps(name, fitted, tmp_path):
    model, people = fitted[name], anndata.AnnData(TABLE.astype(np.float64))
    model.annotate(people)
    people.write_h5ad(tmp_path / "people.h5ad")
    kept = anndata.read_h5ad(tmp_path / "people.h5ad")
    pd.testing.assert_frame_equal(kept.obsm[f"X_{name}"], model.transform(TABLE), check_names=False)
    assert set(kept.varm) == set(VARM[name])
    for entry, attribute in VARM[name].items():
        expected = getattr(model, attribute)
        expected = expected.T if name == "regcl" else expected
        pd.testing.assert_frame_equal(kept.varm[entry], expected, check_names=False)
    assert set(kept.uns) == ({"tbr_weights", "tbr_deltas"} if name == "tbr" else set())
    if name == "tbr":
        pd.testing.assert_frame_equal(kept.uns["tbr_weights"], model.weights_, check_names=False)


def test_results_can_have_another_name_and_need_annotated_data(fitted):
    people = anndata.AnnData(TABLE.astype(np.float64))
    fitted["sparse_vae"].annotate(people, "mine")
    assert set(people.obsm) == {"X_mine"}
    with pytest.raises(InputError, match="annotate writes into an AnnData, not a DataFrame: transform takes others"):
        fitted["sparse_vae"].annotate(TABLE)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted["sparse_vae"].annotate(people[:, ::-1].copy())


def test_neighbours_of_scanpy_are_found_in_the_codes(fitted):
    people = anndata.AnnData(TABLE.astype(np.float64))
    fitted["ddl"].annotate(people)
    scanpy.pp.neighbors(people, n_neighbors=5, use_rep="X_ddl")
    assert people.obsp["distances"].shape == (60, 60)


def test_counts_keep_their_likelihood_and_the_folder_of_runs_is_read_again(tmp_path, monkeypatch):
    counts = scipy.sparse.csr_array(1 + RNG.poisson(2.0, size=(40, 6)))
    model = sparseid.SparseVAE(2, likelihood="multinomial", outputs=str(tmp_path), random_state=None, **SMOKE)
    with pytest.warns(UserWarning, match="not better"):
        first = model.set_params(random_state=np.random.RandomState(1)).fit(counts)
    assert -first.score(counts) > 0
    assert {"popularity", "nmf"} == set(first.baselines_.index)
    [run] = (tmp_path / "smoke" / "sparse_vae").glob("[!.]*")
    monkeypatch.setattr("sparseid.training.recipe.train_and_test", None)  # a run that is done is not repeated
    seed = sparseid.load_run(run).config.seed
    with pytest.warns(UserWarning, match="not better"):
        again = model.set_params(random_state=seed).fit(counts)
    np.testing.assert_array_equal(again.transform(counts), first.transform(counts))


def test_a_fit_leaves_the_random_numbers_of_the_process_alone(capsys, torch_settings):
    torch.use_deterministic_algorithms(False)  # whatever an earlier test has left
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    expected = np.random.random(), torch.rand(1)  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    with pytest.warns(UserWarning, match="not better"):
        sparseid.DiverseDictionary(2, **SMOKE).fit(TABLE)
    assert (np.random.random(), torch.rand(1)) == expected  # noqa: NPY002
    assert not torch.are_deterministic_algorithms_enabled()
    assert capsys.readouterr().out == ""


def test_bad_input_is_refused_with_its_place(tmp_path):
    model = sparseid.SparseVAE(2, **SMOKE)
    wrong = TABLE.copy()
    wrong.iloc[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN or infinity: row 5 \('row4'\), column 'weight' is nan"):
        model.fit(wrong)
    with pytest.raises(InputError, match="X: row 1, column 'weight': 'tall' is not a number"):
        model.fit(TABLE.assign(weight="tall"))
    missing = RESPONSE.rename("response").copy()
    missing.iloc[5] = np.nan
    for X, y, column in (
        (TABLE, missing, "response"),
        (TABLE, missing.to_numpy(), "y0"),
        (TABLE.to_numpy(), missing, "response"),
    ):
        with pytest.raises(ValueError, match=rf"row 6 \('row5'\), column '{column}' is nan"):
            sparseid.TBR(**SMOKE).fit(X, y, TISSUES)
    with pytest.raises(InputError, match=r"^X: the columns 1 and 3 are both named 'height': make names unique$"):
        model.fit(TABLE.set_axis(["height", "weight", "height", "rent"], axis=1))
    with pytest.raises(InputError, match="the id 'row0' occurs twice"):
        model.fit(pd.concat([TABLE, TABLE]))
    with pytest.raises(InputError, match=r"method\.lrr|lrr"):
        sparseid.SparseVAE(settings={"method.lrr": 1}, **SMOKE).fit(TABLE)
    with pytest.raises(InputError, match="needs counts"):
        sparseid.SparseVAE(likelihood="multinomial", **SMOKE).fit(TABLE)
    with pytest.raises(InputError, match="pass environments="):
        sparseid.TBR(**SMOKE).fit(TABLE, RESPONSE)
    with pytest.raises(InputError, match="the tree has no node 'liver'"):
        sparseid.TBR(tree="(lung,gut);", **SMOKE).fit(TABLE, RESPONSE, TISSUES)
    with pytest.raises(InputError, match="y has 59 rows, X has 60"):
        sparseid.RegCL(**SMOKE).fit(TABLE, LABELS[1:])
    with pytest.raises(NotFittedError):
        model.transform(TABLE)


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (sparseid.SparseVAE(2, likelihood="multinomial", **SMOKE), {}, "^X: row 1 .*needs counts"),
        (
            sparseid.RegCL(2, **SMOKE),
            {"y": [0.5] * 60},
            "^X and y cannot be used: labels is constant in column 'y0': .*drop it$",
        ),
        (sparseid.RegCL(2, **SMOKE), {"y": LABELS.assign(y=0)}, "labels is constant in column 'y': "),
        (sparseid.RegCL(1, **SMOKE), {"y": LABELS}, "^latents include the 2 of the label .* 1 are not"),
        (sparseid.SparseVAE(2, settings={"data.held_out": 0.01}, **SMOKE), {}, "^1 of 60 rows would be held out"),
        (sparseid.TBR(2, tree="((lung,gut),liver;", **SMOKE), {}, r"^the tree '\(\(lung.*;': character 18: a paren"),
        (sparseid.TBR(2, tree="(lung,gut);", **SMOKE), {}, "^the tree has no node 'liver'"),
        (sparseid.TBR(2, tree="((lu\0ng,gut),liver);", **SMOKE), {}, r"\(\(lu\\x00ng,gut\),liver\);' has a NUL byte"),
        (sparseid.TBR(2, tree="a\0b", **SMOKE), {}, r"^tree: 'a\\x00b' has a NUL character: remove it"),
        (sparseid.TBR(2, tree=None, **SMOKE), {}, "^tree is None: name a file, write it in Newick format, or pass"),
        (sparseid.TBR(2, tree="none.nwk", **SMOKE), {}, "^tree: none.nwk does not exist: name a file, or write"),
    ],
)
def test_a_refusal_is_about_the_arguments_and_not_about_files_of_the_run(model, given, said):
    if isinstance(model, sparseid.TBR):
        given = {"y": RESPONSE, "environments": TISSUES}
    with pytest.raises(InputError, match=said) as caught:
        model.fit(TABLE, **given)
    assert isinstance(caught.value, ValueError)
    assert "inputs" not in str(caught.value)
    assert "data.path" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (sparseid.SparseVAE("a", preset="smoke"), "latents must be a whole number, not 'a'"),
        (sparseid.SparseVAE(0, preset="smoke"), "latents must be at least 1\n    latents = 0"),
        (sparseid.DiverseDictionary(0, preset="smoke"), "latents must be at least 1\n    latents = 0"),
        (sparseid.RegCL(0, preset="smoke"), "latents must be a whole number of at least 1, not 0"),
        (sparseid.RegCL("a", preset="smoke"), "latents must be a whole number of at least 1, not 'a'"),
        (
            sparseid.SparseVAE(device="tpu", preset="smoke"),
            "device must be auto or cpu or gpu or cuda; did you mean: cpu, gpu",
        ),
        (sparseid.SparseVAE(preset="tiny"), "preset=tiny does not exist\n  preset can be: smoke, small, paper"),
        (sparseid.SparseVAE(random_state=-1, preset="smoke"), "random_state must be at least 0\n    random_state = -1"),
        (
            sparseid.SparseVAE(settings={"method.lr": -1}, preset="smoke"),
            "method.lr must be above 0\n    method.lr = -1.0  (settings)",
        ),
    ],
)
def test_a_refusal_of_a_setting_is_about_its_argument(model, said):
    given = {"y": LABELS} if isinstance(model, sparseid.RegCL) else {}
    with pytest.raises(InputError) as caught:
        model.fit(TABLE, **given)
    assert str(caught.value) == said


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("device", ["gpu", "cuda", torch.device("cuda")])
def test_cuda_is_a_gpu(device):
    with pytest.raises(InputError, match=r"^this machine cannot train with device=gpu(.|\n)*device=cpu always works$"):
        sparseid.SparseVAE(2, preset="smoke", device=device).fit(TABLE)


def test_a_tree_may_begin_with_a_comment_and_be_in_a_gzipped_file(fitted, tmp_path):
    for name in ("t.nwk.gz", "t.NWK.GZ"):
        (tmp_path / name).write_bytes(gzip.compress(f"\ufeff{TREE}\n".encode()))
    for tree in (f"[&R] {TREE}", f" [one][two]\n{TREE}", str(tmp_path / "t.nwk.gz"), tmp_path / "t.NWK.GZ"):
        model = sparseid.TBR(latents=2, tree=tree, **SMOKE)
        with pytest.warns(UserWarning, match="not better"):
            model.fit(TABLE, RESPONSE, TISSUES)
        pd.testing.assert_frame_equal(model.weights_, fitted["tbr"].weights_)


def test_truths_are_labels():
    truths = RESPONSE.median() < RESPONSE
    with pytest.warns(UserWarning, match="not better"):
        models = [sparseid.TBR(2, tree=TREE, **SMOKE).fit(TABLE, y, TISSUES) for y in (truths, truths.astype(float))]
    found, expected = (model.predict(TABLE, TISSUES) for model in models)
    np.testing.assert_array_equal(found, expected)


BIG = [2**60 + number for number in range(60)]


@pytest.mark.parametrize(
    "values",
    [
        [[value, 0.5] for value in BIG],
        np.array([[value, 0] for value in BIG]),
        np.array([[value, 0] for value in BIG], object),
        np.array([[str(value), "0"] for value in BIG]),
        scipy.sparse.csr_array(np.array([[value, 0] for value in BIG])),
        pd.DataFrame({"x0": pd.arrays.SparseArray(BIG, dtype=pd.SparseDtype("int64")), "x1": 0}),
    ],
    ids=["list", "integers", "objects", "text", "sparse", "sparse frame"],
)
def test_values_that_double_precision_merges_are_refused_as_they_are_given(values):
    said = r"X: the values differ by less than double precision .* \(the 60 values of column 'x0' become 1\)"
    with pytest.raises(InputError, match=said):
        sparseid.SparseVAE(2, **SMOKE).fit(values)


def test_pairs_of_whole_labels_beyond_double_precision_are_refused():
    labels = np.array([[place * 2**53 + 2**53 + more] for place in range(30) for more in (0, 1)])
    for given in (labels[:, 0], labels[:, 0].tolist(), pd.Series(labels[:, 0])):
        with pytest.raises(InputError, match=r"differ by less than double precision .* \(the 60 values .* become 30\)"):
            sparseid.RegCL(**SMOKE).fit(TABLE, given)


def test_home_folders_are_expanded_where_a_model_is_kept(fitted, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    model = fitted["sparse_vae"]
    model.save("~/kept")
    assert (tmp_path / "kept" / "estimator.json").is_file()
    np.testing.assert_array_equal(sparseid.SparseVAE.load("~/kept").transform(TABLE), model.transform(TABLE))
    assert sparseid.load_run("~/kept").config.method.name == "sparse_vae"


def test_environments_may_be_a_frame_of_one_column(fitted):
    frame, names = pd.DataFrame({"tissue": TISSUES}), list(TISSUES)
    model = fitted["tbr"]
    np.testing.assert_array_equal(model.predict(TABLE, frame), model.predict(TABLE, names))


DATES = pd.date_range("2020-01-01", periods=60)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([2**70 + number for number in range(60)], "differ by less than double precision .* column 'y0' become 1"),
        ([2**63 + number if number % 2 else -number for number in range(60)], "of column 'y0' become 31"),
        ([Decimal(2**70 + number) for number in range(60)], "differ by less than double precision"),
        (pd.Series([2**70 + number for number in range(60)]), "differ by less than double precision"),
        (np.ma.array(np.arange(60.0), mask=np.arange(60) == 5), "row 6, column 'y0': the value is missing: fill it"),
        ([0.5, None, *range(58)], "row 2, column 'y0': the value is missing"),
        (np.where(np.arange(60) == 1, np.datetime64("NaT"), DATES.to_numpy()), r"the values are datetime64\[ns\]"),
        (pd.Series(DATES), r"the values are datetime64\[ns\]: convert dates and durations to numbers"),
        (pd.DataFrame({"t": DATES}), r"the values are datetime64\[ns\]"),
        ([*DATES], "row 1, column 'y0': 2020-01-01 00:00:00 is a Timestamp: convert dates"),
    ],
)
def test_labels_are_no_other_numbers_than_those_given(y, said):
    with pytest.raises(InputError, match=f"^y: .*{said}"):
        sparseid.RegCL(2, **SMOKE).fit(TABLE, y)
    with pytest.raises(InputError, match=f"^y: .*{said}"):
        sparseid.TBR(2, **SMOKE).fit(TABLE, y, TISSUES)


def test_missing_values_of_masked_arrays_are_refused():
    values = np.ma.array(TABLE.to_numpy(), mask=np.arange(240).reshape(60, 4) == 6)
    for masked in (values, [*values]):
        with pytest.raises(InputError, match="X: row 2, column 'x2': the value is missing: fill it"):
            sparseid.DiverseDictionary(2, **SMOKE).fit(masked)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (None, "row 1, environments: it is missing"),
        (np.nan, "row 1, environments: it is missing"),
        ("", "row 1, environments: it is missing"),
        (pd.NaT, "row 1, environments: it is missing"),
        ("nan", "row 1, environments: 'nan' stands for a missing value"),
        ("gut\0", r"environments, row 1: 'gut\\x00' ends with a NUL character"),
        (b"caf\xe9", r"environments, row 1: the bytes b'caf\\xe9' are not UTF-8"),
    ],
)
def test_a_row_without_an_environment_is_in_none_of_its_own(first, said, fitted):
    places = [first, *TISSUES[1:]]
    for given in (places, np.array(places, object), pd.Series(places)):
        with pytest.raises(InputError, match=said):
            sparseid.TBR(2, **SMOKE).fit(TABLE, RESPONSE, given)
        with pytest.raises(InputError, match=said):
            fitted["tbr"].predict(TABLE, given)
    masked = np.ma.array(TISSUES.to_numpy(str), mask=np.arange(60) == 3)
    with pytest.raises(InputError, match="row 4, environments: it is missing"):
        sparseid.TBR(2, **SMOKE).fit(TABLE, RESPONSE, masked)
    known = fitted["tbr"].predict(TABLE, TISSUES)
    np.testing.assert_array_equal(fitted["tbr"].predict(TABLE, [text.encode() for text in TISSUES]), known)
    np.testing.assert_array_equal(fitted["tbr"].predict(TABLE, pd.Categorical(TISSUES)), known)


def test_repeated_entries_of_annotated_data_are_added_without_overflow(fitted):
    repeated = scipy.sparse.csr_array(([200, 100], [0, 0], [0, 2]), shape=(1, 4), dtype=np.uint8)
    added = pd.DataFrame([[300, 0, 0, 0]], columns=TABLE.columns)
    cells = anndata.AnnData(repeated, var=pd.DataFrame(index=TABLE.columns))
    expected = fitted["ddl"].transform(added).to_numpy()
    np.testing.assert_array_equal(fitted["ddl"].transform(cells), expected)


def test_new_samples_beyond_single_precision_are_refused_and_not_infinite(fitted):
    with pytest.raises(InputError, match=r"X: row 1.*, column 'height': .* is beyond single precision \(3.4e\+38\)"):
        fitted["ddl"].transform(1e300 * TABLE)


def test_folders_that_hold_something_else_are_neither_read_nor_replaced(fitted, tmp_path):
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(InputError, match="exists and holds no estimator"):
        fitted["ddl"].save(tmp_path)
    with pytest.raises(InputError, match="holds no saved estimator"):
        sparseid.SparseVAE.load(tmp_path)
    fitted["ddl"].save(tmp_path / "model")
    with pytest.raises(InputError, match=r"holds a DiverseDictionary: read it with sparseid\.DiverseDictionary\.load"):
        sparseid.SparseVAE.load(tmp_path / "model")
