import dataclasses
from collections import defaultdict

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.data.folds import fold_numbers
from sparseid.data.movielens.datamodule import MovielensData
from sparseid.data.movielens.prepare import prepared
from sparseid.data.movielens.settings import MadeRatingsSettings
from sparseid.data.movielens.synthetic import draw_ratings
from sparseid.settings import settings_errors
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder


def ready(config, seeds=(0,)):
    data = MovielensData(config, seeds, batch_size=4)
    data.setup()
    return data


def test_a_fold_is_held_out(settings):
    config = settings(min_positives=2, fold=1)
    matrix, data = prepared(config).matrix, ready(config, [0, 1])
    held_out = fold_numbers(len(matrix), 2) == 1
    assert torch.equal(data.test[1], torch.from_numpy(matrix[held_out]).float())
    assert torch.equal(data.train[0], torch.from_numpy(matrix[~held_out]).float())
    assert data.likelihood == "multinomial"
    assert not data.row_normalised
    assert (data.features, len(data.feature_names)) == (5, 5)
    np.testing.assert_allclose(data.column_sd[0], matrix.std(axis=0), rtol=1e-5)
    assert "not MovieLens" in data.note


def test_files_are_told_of(settings, write):
    data = ready(settings(source="ml-100k", path=str(write("ml-100k"))))
    assert len(data.files) == 2
    assert any("u.data (SHA-256" in remark for remark in data.remarks)
    assert data.note == "ml-100k, where the paper has ml-25m"
    assert ready(settings(source="ml-25m", path=str(write("ml-25m")))).note == ""


def test_ratings_of_ones_own_are_compared_with_baselines(settings, write):
    assert not ready(settings(min_positives=2)).has_baselines
    assert ready(settings(source="ml-25m", path=str(write("ml-25m")))).has_baselines
    write("data/movielens/ml-25m")
    write("data/movielens/ml-1m")
    assert not ready(settings(source="ml-25m")).has_baselines
    assert ready(settings(source="ml-1m")).has_baselines


def test_a_folder_of_ratings_is_trained_on_with_an_early_stop_and_baselines(write, tmp_path):
    table, _ = draw_ratings(MadeRatingsSettings(150, 30, 3))
    titles = {movie: str(movie) for movie in range(1, 31)}
    folder = write("ml-latest-small", list(table.itertuples(index=False)), titles)
    words = ["scale=smoke", "data.source=ml-latest-small", f"data.path={folder}", "data.movies=20", "method.lr=0.01"]
    words += ["method.latents=4", "method.hidden=16", "trainer.max_samples=16000", "trainer.accelerator=cpu"]
    run = execute(compose(["experiment=sparse_vae/movielens", *words, f"outputs={tmp_path / 'outputs'}"]))
    means = defaultdict(list)
    for row in read_rows(run / "result.json"):
        means[row.keys["method"], row.metric].append(row.value)
    assert {method for method, _ in means} == {"sparse_vae", "popularity", "nmf"}
    losses, recalls = (
        {method: np.mean(means[method, metric]) for method in ("sparse_vae", "popularity", "nmf")}
        for metric in ("log_loss", "recall_at_5")
    )
    assert losses["sparse_vae"] < losses["popularity"]
    assert recalls["sparse_vae"] > recalls["popularity"]
    told = "".join(RunFolder(run).remarks)
    assert "popularity" not in told
    assert ("log loss" in told) == (losses["sparse_vae"] >= losses["nmf"])
    assert ("recall@5" in told) == (recalls["sparse_vae"] <= recalls["nmf"])
    assert "val_log_loss" in (run / "metrics.csv").read_text()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"source": "netflix"}, "data.source"),
        ({"path": "/somewhere"}, "data.path"),
        ({"movies": 1}, "data.movies"),
        ({"min_positives": 0}, "data.min_positives"),
        ({"min_rating": float("nan")}, "data.min_rating"),
        ({"min_rating": 6.0}, "data.min_rating"),
        ({"movies": 10**6}, "data.movies"),
        ({"fold": 2}, "data.fold"),
        ({"fold": -1}, "data.fold"),
    ],
)
def test_impossible_settings(settings, changes, key):
    assert [keys[0] for keys, _ in settings_errors(settings(**changes), "data.", None)] == [key]
    assert list(settings_errors(settings(), "data.", None)) == []


def test_files_are_looked_at_before_a_run(settings, write):
    config = settings(source="ml-1m", path=str(write("ml-1m")))
    assert list(config.missing_files()) == []
    assert list(settings().missing_files()) == []
    ((keys, text),) = dataclasses.replace(config, path="/nowhere").missing_files()
    assert "data.path" in keys
    assert "/nowhere/ratings.dat does not exist" in text
