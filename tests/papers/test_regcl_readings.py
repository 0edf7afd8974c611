"""RegCL's readings: their closeness to table 1, on made rows of the runs of its screen and confirmation."""

import math

import pytest

from sparseid.config.identity import recipe_hash, row_keys
from sparseid.config.sweep import plan
from sparseid.papers.presets import artefact_runs, of_artefact
from sparseid.papers.regcl.claims import REGCL
from sparseid.papers.regcl.closeness import PAIRS, clipped, closeness_rows, complete, distance, lead, raised
from sparseid.papers.regcl.readings import reading_rows
from sparseid.papers.regcl.study import printed
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import joined, key, newest, no_rows, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.training.rows import Row

BASE = {"run": "r", "paper": "regcl", "scale": "small", "unit": "", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00"}


ID = "regcl/screen"
READING = "data.gain_x1=10 data.gain_x2=10 data.dim_x1=35 data.dim_x2=15 method.penalty_weight=0.0,10.0"


def trials_of(reading):
    """The runs of a reading at small; to compose those of all takes longer."""
    return plan([f"experiment={ID}", "scale=small", f'variants=["{reading}"]']).trials


@pytest.fixture(scope="module")
def trials():
    """The runs of one of the preset's readings."""
    return trials_of(READING)


def rows_of(trials, values):
    """Rows of the runs with these values of the entries; three data sets that differ by their seed."""
    made = []
    for trial in trials:
        keys = row_keys(trial.run)
        fields = BASE | {"recipe": recipe_hash(trial.run)}
        for seed in (10, 11, 12):
            made.append(Row(keys=keys, seed=seed, metric="saturated", value=float(seed), **fields))
            for name, value in values.items():
                if name[1:] == (keys["training"], keys["regularisation"]):
                    own = keys | {"attribution": name[0]}
                    made.append(Row(keys=own, seed=seed, metric="auc", value=value + seed - 11, **fields))
    return newest(rows_frame(made))


def test_the_papers_own_numbers_are_at_distance_0(trials):
    assert len(printed()) == 36
    rows = rows_of(trials, printed())
    assert (distance(rows), raised(rows), clipped(rows)) == (pytest.approx(0), len(PAIRS), 12.0)
    assert set(lead(rows).round(6)) == {5.2}  # 98.2 less the regularised supervised gradient's 93.0
    assert len(lead(rows)) == 6  # three seeds at 4 and 6 latents


def test_the_distance_is_a_mean_over_entries_of_the_difference_of_means(trials):
    shifted = {name: value + (-2 if name[2] == "none" else 4) for name, value in printed().items()}
    assert distance(rows_of(trials, shifted)) == pytest.approx(3)


def test_a_pair_that_falls_is_not_counted(trials):
    values = printed()
    values["jf_plus", "supervised", "regularised"] = 70.0  # 76.9 without
    assert raised(rows_of(trials, values)) == 17


def test_nothing_is_said_without_all_entries(trials):
    values = printed()
    del values[REGCL]
    rows = rows_of(trials, values)
    assert math.isnan(distance(rows))
    assert math.isnan(raised(rows))
    assert lead(rows).empty
    assert closeness_rows(rows).empty
    assert reading_rows(of_artefact(rows, ID, "small")).empty
    assert reading_rows(no_rows()).empty


def test_only_data_sets_with_all_entries_count(trials):
    whole = rows_of(trials, printed())
    shifted = {name: value + 3 for name, value in printed().items()}
    part = rows_of(trials, shifted)
    part = part[(key(part, "training") != "supervised") | (key(part, "regularisation") != "regularised")]
    part = part.assign(key_dim=8)
    both = joined(whole, part)
    assert set(key(complete(both), "dim")) == set(key(whole, "dim"))
    found = closeness_rows(both)
    assert found[found["metric"] == "distance"]["value"].tolist() == [pytest.approx(0)]
    assert closeness_rows(part).empty
    assert list(complete(whole.iloc[:0])) == list(whole)


def test_rows_name_their_reading(trials):
    found = reading_rows(of_artefact(rows_of(trials, printed()), ID, "small"))
    name = "gain_x1=10, gain_x2=10, dim_x1=35, dim_x2=15, penalty_weight=0.0,10.0"
    ours = found[key(found, "variant") == name]
    pooled = ours[ours["seed"] == -1].set_index("metric")["value"]
    assert dict(pooled) == {"distance": pytest.approx(0), "raised": 18.0, "saturated": 12.0}
    assert len(ours[ours["metric"] == "lead"]) == 6


def test_table_1_says_how_close_it_is_as_a_whole(trials):
    cells = entries(ARTEFACTS["regcl/table1"], rows_of(trials, printed()), "small")
    found = {cell.metric: (cell.ours.centre, cell.ours.n) for cell in cells if not cell.keys}
    assert found == {
        "distance": (pytest.approx(0), 1),
        "raised": (18.0, 1),
        "lead": (pytest.approx(5.2), 6),
        "saturated": (12.0, 1),
    }


@pytest.mark.parametrize("name", ["table1", "table2", "fig2", "table3", "table4", "table5"])
def test_the_nearest_reading_is_compared_like_the_public_example(name):
    first, second = ARTEFACTS[f"regcl/{name}"], ARTEFACTS[f"regcl/{name}_nearest"]
    assert second.targets == first.targets
    assert second.statements == first.statements
    assert len(second.statements) > 0
    assert second.aggregation == first.aggregation
    runs = [artefact_runs(entry.id, "small") for entry in (first, second)]
    assert not runs[0] & runs[1]
    assert {seed for _, seed in runs[1]} == set(range(20, 25 if name == "table2" else 30))


def test_data_sets_of_the_screen_are_in_no_other_table():
    rows = rows_of(trials_of("method.penalty_weight=0.0,0.1"), printed())
    older = rows.assign(seed=rows["seed"] - 10)
    assert set(of_artefact(rows, ID, "small")["seed"]) == {10, 11, 12}
    assert of_artefact(rows, "regcl/table1", "small").empty
    assert set(of_artefact(older, "regcl/table1", "small")["seed"]) == {0, 1, 2}
    assert of_artefact(older, ID, "small").empty


def test_the_reading_that_was_chosen_is_judged_on_data_sets_of_its_own():
    rows = rows_of(trials_of("data.n_square_layers=1 method.penalty_weight=0.0,0.1"), printed())
    for seed, shown in ((0, set()), (10, set()), (20, {20, 21, 22})):
        of_seeds = rows.assign(seed=rows["seed"] - 10 + seed)
        for name in ("regcl/table1_nearest", "regcl/confirm"):
            assert set(of_artefact(of_seeds, name, "small")["seed"]) == shown


def test_data_sets_of_the_confirmation_are_not_those_of_the_public_example():
    rows = rows_of(trials_of("method.penalty_weight=0.0,0.1"), printed())
    confirming = rows.assign(seed=rows["seed"] + 10)
    assert set(of_artefact(confirming, "regcl/confirm", "small")["seed"]) == {20, 21, 22}
    assert of_artefact(confirming, "regcl/table1", "small").empty
