import json
import math

import numpy as np
import pytest

from sparseid.papers.recorded import record
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import key, newest, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.reporting.collect import collect
from sparseid.training.rows import write_rows


def make_run(outputs, name, rows, state="done", message="", scale="small"):
    folder = outputs / scale / "sparling" / name
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", rows)
    (folder / "status.json").write_text(json.dumps({"state": state, "message": message}))
    return folder


def test_only_finished_runs_give_rows_and_the_others_are_listed(tmp_path, sparling_rows):
    make_run(tmp_path, "one", sparling_rows(0))
    make_run(tmp_path, "two", sparling_rows(1), state="diverged", message="loss is NaN at step 12")
    make_run(tmp_path, "three", sparling_rows(2), state="failed")
    make_run(tmp_path, ".one.replaced", sparling_rows(3))
    found = collect(tmp_path)
    assert set(found.rows["seed"]) == {0}
    assert {run.path.name: run.state for run in found.runs} == {"one": "done", "two": "diverged", "three": "failed"}
    assert found.problems == []


@pytest.mark.parametrize("content", ['{"rows": [', "[]", '{"rows": [{"run": 3}]}'])
def test_an_unreadable_result_is_named_and_spoils_nothing_else(tmp_path, sparling_rows, content):
    make_run(tmp_path, "good", sparling_rows(0))
    (make_run(tmp_path, "broken", []) / "result.json").write_text(content)
    (make_run(tmp_path, "lost", []) / "status.json").write_text("{")
    found = collect(tmp_path)
    assert set(found.rows["seed"]) == {0}
    broken, lost = sorted(map(str, found.problems))
    assert "broken" in broken
    assert broken.endswith("Repeat the run with force=true.")
    assert "lost" in lost
    assert sorted(run.state for run in found.runs) == ["done", "unreadable", "unreadable"]


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_arrays_are_named_before_a_figure_needs_them_and_spoil_nothing_else(tmp_path, sparling_rows, damage):
    for seed, name in enumerate(("good", "broken")):
        folder = make_run(tmp_path, name, sparling_rows(seed))
        np.savez(folder / "arrays.npz", codes=np.arange(100.0))
    content = (folder / "arrays.npz").read_bytes()
    (folder / "arrays.npz").write_bytes(content[:300] if damage == "cut" else content.replace(bytes([64]), b"A"))
    found = collect(tmp_path)
    assert set(found.rows["seed"]) == {0}
    (problem,) = map(str, found.problems)
    assert problem.startswith(f"{folder / 'arrays.npz'} is damaged")
    assert "force=true" in problem
    assert sorted(run.state for run in found.runs) == ["done", "unreadable"]
    assert found.arrays("small")("good")["codes"].sum() == 4950
    assert found.arrays("small")("broken") == {}


def test_folders_that_are_no_scale_are_left_alone(tmp_path, sparling_rows):
    make_run(tmp_path, "one", sparling_rows(0), scale="smoke")
    make_run(tmp_path, "job", [], scale="jobs")
    found = collect(tmp_path)
    assert [run.path.name for run in found.runs] == ["one"]
    assert found.scales() == ["small", "smoke"], "the folder's scale and that of its rows"


def test_nothing_at_all(tmp_path):
    found = collect(tmp_path / "absent")
    assert found.rows.empty
    assert found.scales() == []


def test_the_newest_row_counts_and_numbers_of_older_code_are_flagged(sparling_rows):
    old = sparling_rows(0, commit="b" * 40, written="2026-04-01T10:00:00+00:00", run="old")
    other = sparling_rows(1, commit="b" * 40, written="2026-04-01T10:00:00+00:00")
    new = sparling_rows(0, densities=1, written="2026-05-01T12:00:00+02:00", run="new")
    rows = newest(rows_frame([*new, *old, *other]))
    final = rows[(rows["seed"] == 0) & (key(rows, "steps_above") == 0)]
    assert set(final["run"]) == {"new"}
    [fpe] = [cell for cell in entries(ARTEFACTS["sparling/fig3"], rows, "small") if cell.metric == "fpe" and cell.ours]
    assert fpe.older_commits == ("b" * 40,)
    assert fpe.ours.n == 2


def test_newer_rows_of_another_table_make_no_number_one_of_older_code(sparling_rows):
    """Figure 4 has all densities, figure 3 the final one, which comes first."""
    old = sparling_rows(0, densities=1, commit="b" * 40, written="2026-04-01T10:00:00+00:00")
    new = [row for row in sparling_rows(0, written="2026-05-01T10:00:00+00:00") if row.keys["steps_above"]]
    rows = newest(rows_frame([*old, *new]))
    marked = {
        name: {cell.older_commits for cell in entries(ARTEFACTS[name], rows, "small") if cell.ours}
        for name in ("sparling/fig3", "sparling/fig4")
    }
    assert marked == {"sparling/fig3": {()}, "sparling/fig4": {(), ("b" * 40,)}}


def test_recorded_rows_stand_beside_runs_and_obey_the_scale(tmp_path, sparling_rows):
    recorded, out = tmp_path / "recorded", tmp_path / "out"
    record(rows_frame([*sparling_rows(5, scale="paper", run="five"), *sparling_rows(6)]), recorded)
    make_run(out, "one", sparling_rows(0))
    found = collect(out, recorded=recorded)
    assert set(found.rows["seed"]) == {0, 5, 6}
    assert set(found.rows["source"]) == {"outputs", "recorded"}
    assert set(collect(out, "small", recorded=recorded).rows["seed"]) == {0, 6}
    assert found.scales() == ["paper", "small"]


def test_a_damaged_recorded_file_spoils_its_paper_only(tmp_path, sparling_rows):
    record(rows_frame([*sparling_rows(5), *sparling_rows(6, paper="tbr", run="six")]), tmp_path)
    (tmp_path / "tbr.csv").write_text("{")
    found = collect(tmp_path / "out", recorded=tmp_path)
    [problem] = found.problems
    assert problem.paper == "tbr"
    assert "restore tbr.csv" in problem.text
    assert "force=true" not in problem.text
    assert set(found.rows["seed"]) == {5}
    assert found.of_paper("tbr").problems == [problem]
    assert found.of_paper("sparling").problems == []


def test_cells_are_means_over_seeds_beside_the_papers_numbers(sparling_rows):
    rows = newest(rows_frame([row for seed in range(3) for row in sparling_rows(seed)]))
    made = {(cell.keys["domain"], cell.metric): cell for cell in entries(ARTEFACTS["sparling/fig3"], rows, "small")}
    fpe = made["digitcircle", "fpe"]
    assert fpe.ours.centre == pytest.approx(2.1)
    assert fpe.ours.n == 3
    assert fpe.target.value == 1.4795
    assert fpe.verdict.word == "not comparable"
    assert made["digitcircle", "confusion_accuracy"].ours.mean == pytest.approx(100 - 3.1)
    assert made["latex_ocr", "fne"].verdict.word == "missing"
    assert next(iter(made)) == ("digitcircle", "fpe")
    assert all(cell.verdict.word == "missing" for cell in entries(ARTEFACTS["sparling/fig3"], rows, "paper"))


def test_an_undefined_metric_is_missing(sparling_rows):
    rows = rows_frame(sparling_rows(0, densities=1))
    rows.loc[rows["metric"] == "ce", "value"] = math.nan
    made = {cell.metric: cell for cell in entries(ARTEFACTS["digitcircle"], newest(rows), "small")}
    assert made["ce"].verdict.word == "missing"
    assert made["fpe"].verdict.word == "not comparable"
