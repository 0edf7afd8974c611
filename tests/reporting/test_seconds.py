"""Run times as rows."""

import json

import pytest

from sparseid.reporting.collect import collect, seconds_rows
from sparseid.training.rows import Row, write_rows
from sparseid.training.run_folder import RunFolder

BASE = {"run": "r", "paper": "tbr", "scale": "small", "recipe": "0" * 8, "unit": "u", "n": 500, "commit": "a" * 40}
BASE |= {"dirty": False, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
TIMING = {"prepare_s": 2.0, "train_s": 10.0, "test_s": 5.0, "device": "cpu", "world_size": 1, "samples": 5}


def stack(seeds):
    cell = {"domain": "treesimulation", "method": "tbr", "S": 1}
    found = [(cell | {"environment": place}, seed, "ate_mse") for seed in seeds for place in (1, "pooled")]
    found += [(cell | {"latent_dim": 5}, seed, "mse") for seed in seeds]
    return [Row(keys=keys, seed=seed, metric=metric, value=0.5, **BASE) for keys, seed, metric in found]


@pytest.fixture
def folder(tmp_path):
    run = RunFolder(tmp_path / "outputs" / "small" / "tbr" / "r")
    run.path.mkdir(parents=True)
    return run


def test_the_seconds_of_a_run_stand_under_the_keys_that_all_its_rows_have(folder):
    folder.timing.write_text(json.dumps(TIMING))
    (row,) = seconds_rows(folder, stack([3]))
    assert (row.seed, row.metric, row.value, row.unit, row.n) == (3, "seconds", 12.0, "second", 1)
    assert row.keys == {"domain": "treesimulation", "method": "tbr", "S": 1}
    assert (row.recipe, row.commit) == ("0" * 8, "a" * 40)


def test_a_share_of_a_stacks_time_is_no_run_time(folder):
    folder.timing.write_text(json.dumps(TIMING))
    assert seconds_rows(folder, stack([3, 7])) == []
    assert seconds_rows(folder, []) == []


@pytest.mark.parametrize("content", [None, "", "{}", "[1]", json.dumps(TIMING | {"train_s": None})])
def test_without_a_timing_there_are_none(folder, content):
    if content is not None:
        folder.timing.write_text(content)
    assert seconds_rows(folder, stack([0])) == []


def test_a_report_has_them_beside_the_rows_of_a_finished_run(folder, tmp_path):
    folder.timing.write_text(json.dumps(TIMING))
    write_rows(folder.result, stack([0]))
    folder.write_status("done")
    found = collect(tmp_path / "outputs").rows
    assert sorted(found["metric"]) == ["ate_mse", "ate_mse", "mse", "seconds"]
