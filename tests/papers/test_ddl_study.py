"""DDL's study: readings of its preset, and distances to the paper's numbers on made rows."""

import numpy as np
import pytest

from sparseid.config.identity import recipe_hash, row_keys
from sparseid.config.sweep import plan
from sparseid.papers.ddl.study import ANCHORS, ID, distance, printed, reading, study_rows
from sparseid.papers.presets import VARIANTS, of_artefact, preset_recipes, variant_name
from sparseid.papers.registry import artefact
from sparseid.papers.rows import newest, no_rows, per_seed, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

BASE = {"run": "r", "paper": "ddl", "scale": "small", "unit": "correlation", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
FREE = "outputs_per_row=1, injective=none"


def readings(scale):
    """Return the trials of each reading: those of its variants."""
    found = {}
    for trial in plan([f"experiment={ID}", f"scale={scale}"]).trials:
        for text in trial.variants:
            found.setdefault(reading(variant_name(text, trial.run)), []).append(trial.run)
    return found


def rows(shift, without=()):
    """The paper's number plus the `shift` of the reading for every run of the small preset, 0.01 more for seed 1."""
    made = []
    for name, runs in readings("small").items():
        for run in runs:
            keys, recipe = row_keys(run), recipe_hash(run)
            anchor = (keys["structure"], keys["alpha"])
            if anchor not in without:
                value = (printed(*anchor, keys["dim"]) if anchor in ANCHORS else 0.5) + shift.get(name, 0.0)
                own = [
                    Row(keys=keys, seed=s, metric="mcc", value=value + 0.01 * s, recipe=recipe, **BASE) for s in (0, 1)
                ]
                made += [*own, Row(keys=keys, seed=0, metric="reconstruction", value=0.1, recipe=recipe, **BASE)]
    return of_artefact(newest(rows_frame(made)), ID, "small")


@pytest.mark.parametrize("scale", ["smoke", "small", "paper"])
def test_every_reading_has_the_runs_of_its_anchors_and_the_first_is_that_of_the_tables(scale):
    found = {name: {recipe_hash(run): row_keys(run) for run in runs} for name, runs in readings(scale).items()}
    assert next(iter(found)) == "base"
    assert sum(map(len, found.values())) == len(set().union(*found.values()))  # no two readings share a run
    for runs in found.values():
        dims = {own["dim"] for own in runs.values()}
        cells = {(own["structure"], own["alpha"], own["dim"]) for own in runs.values()}
        assert cells >= {(*anchor, dim) for anchor in ANCHORS for dim in dims}
    tables = preset_recipes("ddl/table5", scale) | preset_recipes("ddl/table6", scale)
    assert set(found["base"]) <= tables


def test_anchors_are_the_papers_numbers():
    assert printed("diverse", 0.0, 3) == 0.6789
    assert printed("diverse", 0.05, 5) == 0.8099
    assert printed("dense", 0.05, 4) == 0.5467


def test_the_distance_is_the_mean_over_anchors_of_absolute_differences():
    made = rows({"base": 0.1, FREE: -0.1})
    of = {name: made[[name in map(reading, names) for names in made[VARIANTS]]] for name in ("base", FREE)}
    assert distance(of["base"]).tolist() == pytest.approx([0.1, 0.11])
    assert distance(of[FREE]).tolist() == pytest.approx([0.1, 0.09])
    assert distance(rows({}, without=[ANCHORS[0]])).empty
    assert distance(no_rows()).empty


def test_rows_of_the_study_name_their_reading():
    found = study_rows(rows({FREE: 0.2}))
    assert set(found["metric"]) == {"mcc", "distance"}
    assert per_seed(found, "distance", reading="base").tolist() == pytest.approx([0.0, 0.01])
    assert per_seed(found, "distance", reading=FREE).tolist() == pytest.approx([0.2, 0.21])
    cell = per_seed(found, "mcc", reading=FREE, structure="dense", alpha=0.05, dim=3)
    np.testing.assert_allclose(cell, [0.5814, 0.5914])
    assert study_rows(no_rows()).empty


def test_the_table_has_a_distance_for_every_reading():
    made = entries(artefact(ID), rows({}), "small")
    assert [cell.keys["reading"] for cell in made if cell.metric == "distance"] == sorted(readings("small"))
    assert all(cell.ours.n == 2 for cell in made)
