"""Rows next to the AUC in RegCL's tables."""

import pytest

from sparseid.papers.regcl.artefacts import ARTEFACTS
from sparseid.papers.regcl.rows import with_gate
from sparseid.papers.registry import ARTEFACTS as ARTEFACTS_OF_ALL
from sparseid.papers.registry import run_summary
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.reporting.tables import lines
from sparseid.training.rows import Row

BASE = {"run": "r", "paper": "regcl", "scale": "small", "unit": "percent", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"recipe": "0" * 8, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
TABLES = {entry.id: entry for entry in ARTEFACTS}


@pytest.fixture
def measured():
    """The rows of two trainings on two data sets of 4 latents, in a setting."""

    def made(setting="a", r2=(99.0, 90.0)):
        rows = []
        for training in ("supervised", "hybrid_contrastive"):
            for seed in (0, 1):
                keys = {"training": training, "regularisation": "none", "dim": 4, "setting": setting}
                values = [("auc", {"attribution": "jf_plus"}, 70.0 + seed), ("minimum_norm_auc", {}, 80.0 + seed)]
                values += [("r2", {"explained": name}, r2[seed]) for name in ("labels", "z1", "z2")]
                values += [("saturated", {}, 3.0)]
                rows += [Row(keys=keys | own, seed=seed, metric=name, value=v, **BASE) for name, own, v in values]
        return newest(rows_frame(rows))

    return made


def test_the_untrained_map_is_one_line_of_all_trainings_and_data_sets(measured):
    found = {tuple(cell.keys.values()): cell.ours for cell in entries(TABLES["regcl/table1"], measured(), "small")}
    assert (found["minimum_norm",].centre, found["minimum_norm",].n) == (80.5, 2)
    assert found["jf_plus", "supervised", "none"].centre == 70.5
    assert not any("attribution" not in cell and "saturated" in cell for cell in found)


@pytest.mark.parametrize(("table", "setting", "other"), [("table1", "a", "z1"), ("table2", "b", "z2")])
def test_explained_variance_and_the_share_below_the_gate_stand_behind(measured, table, setting, other):
    made = [cell for cell in entries(TABLES[f"regcl/{table}"], measured(setting), "small") if "explained" in cell.keys]
    found = {(cell.metric, cell.keys["training"], cell.keys["explained"]): cell.ours.centre for cell in made}
    trainings = ("supervised", "hybrid_contrastive") if table == "table1" else ("hybrid_contrastive",)
    expected = {("r2", training, name): 94.5 for training in trainings for name in ("labels", other)}
    assert found == expected | {("r2_below_95", training, "labels"): 50.0 for training in trainings}


def test_how_it_reads(measured):
    table = lines(entries(TABLES["regcl/table1"], measured(), "small"), TABLES["regcl/table1"])
    texts = [line.texts[:2] for line in table if line.word != "missing"]
    assert ("minimum-norm inverse of the generator (untrained)", "AUC, %") in texts
    assert ("supervised, none, labels", "R2, %") in texts
    assert ("supervised, none, labels", "fraction of data sets with R2 below 95 %, %") in texts


def test_other_artefacts_and_the_claims_do_not_see_it(measured):
    assert set(with_gate(measured())["metric"]) == {"auc", "r2", "r2_below_95"}
    assert len(entries(TABLES["regcl/fig2"], measured(), "small")) == 2
    none = measured()[:0]
    assert with_gate(none).empty
    assert [cell.verdict.word for cell in entries(TABLES["regcl/table1"], none, "small")] == ["missing"] * 36


def test_a_run_on_ones_own_data_is_summed_up():
    keys = {"domain": "arrays", "method": "regcl", "source": "series"}
    values = [("auc", {"attribution": "jf_plus"}, 70.0), ("r2", {"explained": "labels"}, 98.0), ("saturated", {}, 3.0)]
    frame = rows_frame([Row(keys=keys | own, seed=0, metric=name, value=v, **BASE) for name, own, v in values])
    summary = run_summary("regcl", newest(frame))
    assert {(cell.metric, cell.ours.centre) for cell in entries(summary, newest(frame), "small")} == {
        (name, value) for name, _, value in values
    }
    assert summary.id not in ARTEFACTS_OF_ALL  # nothing to plan or to report: the file is a user's
