"""Tables of runs: a line per combination of settings, main metrics with intervals over seeds."""

import json
import re

import pytest
import yaml

from sparseid.reporting.page import build_report
from sparseid.reporting.runs_table import csv_text, labels_text, run_labels, runs_tables
from sparseid.reporting.summary import finish_artefact, show_run, show_runs
from sparseid.training.rows import Row, write_rows


@pytest.fixture
def make(tmp_path):
    """Make the folder of a finished run of regcl/arrays, with these settings of its data and these rows."""

    def finished(name, seed, r2, auc=None, latents=4, experiment="regcl/arrays", recipe=None, config=True):
        folder = tmp_path / "small" / "regcl" / name
        folder.mkdir(parents=True)
        (folder / "status.json").write_text(json.dumps({"state": "done"}))
        settings = {"experiment": experiment, "seed": seed, "outputs": str(tmp_path), "force": False}
        settings["method"] = {"name": "regcl", "tuning": {"tolerance": 1.0}}
        settings |= {"data": {"name": "arrays", "latents": latents}, "trainer": {"devices": seed + 1}}
        if config:
            (folder / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False))
        fields = {"run": name, "paper": "regcl", "scale": "small", "recipe": recipe or f"of{latents}", "seed": seed}
        fields |= {"n": 100, "commit": "a", "dirty": False, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
        own = {"domain": "arrays", "source": "series"}
        numbers = [("r2", r2, "percent", {"explained": "labels"}), ("saturated", 0.0, "percent", {})]
        numbers += [("r2", 1.0, "percent", {"explained": "z1"})]  # no main number
        numbers += [("auc", auc, "AUC in percent", {"attribution": "jf_plus"})] if auc is not None else []
        rows = [
            Row(metric=metric, value=value, unit=unit, keys=own | keys, **fields)
            for metric, value, unit, keys in numbers
        ]
        write_rows(folder / "result.json", rows)
        return folder

    return finished


def test_a_line_has_the_settings_that_differ_and_the_interval_over_seeds(make):
    folders = [make(f"{k}-{seed}", seed, r2=10.0 * k + seed, latents=k) for k in (6, 4) for seed in (0, 1, 2)]
    [table] = runs_tables(folders)
    assert table.header == ("data.latents", "R2, % (labels)", "n")
    assert table.texts == [("4", "41.0 [40.0, 42.0]", "3"), ("6", "61.0 [60.0, 62.0]", "3")]
    assert table.title == "regcl/arrays (scale=small; mean [95 % bootstrap interval] over n seeds)"
    assert table.directions == "better: high R2"
    assert [line.folders for line in table.lines] == [tuple(folders[3:]), tuple(folders[:3])]


def test_a_single_run_has_numbers_without_an_interval(make):
    [table] = runs_tables([make("one", 0, r2=12.5, auc=99.0)])
    assert table.header == ("AUC, % (pseudo-inverse Jacobian)", "R2, % (labels)", "n")
    assert table.texts == [("99.0", "12.5", "1")]
    assert table.title == "regcl/arrays (scale=small)"


def test_an_undefined_number_says_of_how_many_seeds_the_others_are(make):
    [table] = runs_tables([make("a", 0, r2=None), make("b", 1, r2=50.0)])
    assert table.texts == [("50.0 (1 of 2)", "2")]


def test_runs_without_main_numbers_show_those_that_have_a_direction(make):
    folder = make("a", 0, r2=50.0)
    rows = [Row(**row) for row in json.loads((folder / "result.json").read_text())["rows"]]
    write_rows(folder / "result.json", [row for row in rows if row.keys.get("explained") != "labels"])
    [table] = runs_tables([folder])
    assert table.header == ("R2, %", "clipped outputs, %", "n")
    assert table.texts == [("1.00", "0", "1")]


def test_numbers_of_several_kinds_have_a_line_each(tmp_path, make):
    folder = make("a", 0, r2=50.0)
    content = json.loads((folder / "result.json").read_text())
    further = content["rows"][0] | {"keys": content["rows"][0]["keys"] | {"explained": "z2"}, "value": 7.0}
    write_rows(folder / "result.json", [Row(**row) for row in (*content["rows"], further)])
    [table] = runs_tables([folder])
    assert table.header == ("of", "R2, %", "n")
    assert [texts[1:] for texts in table.texts] == [("50.0", "1"), ("7.00", "1")]
    assert "key_explained,metric" in csv_text([table])


def test_experiments_have_a_table_each_and_runs_without_a_configuration_their_name(make):
    known = make("known", 0, r2=1.0)
    bare = [make(f"bare{k}", 0, r2=1.0, latents=k, config=False) for k in (1, 2)]
    other = make("other", 0, r2=3.0, experiment="regcl/mine")
    tables = runs_tables([known, *bare, other])
    assert [table.experiment for table in tables] == ["regcl", "regcl/arrays", "regcl/mine"]
    assert [texts[0] for texts in tables[0].texts] == ["bare1", "bare2"]


def test_files_of_the_same_name_are_told_apart_by_their_runs(make):
    folders = [make(name, 0, r2=1.0, recipe=name) for name in ("first", "second")]
    [table] = runs_tables(folders)
    assert table.settings == ("run",)
    assert [texts[0] for texts in table.texts] == ["first", "second"]


def test_csv_has_a_line_per_number_with_all_digits(make):
    text = csv_text(runs_tables([make("a", 0, r2=1 / 3), make("b", 1, r2=1.0), make("c", 0, r2=5.0, latents=6)]))
    assert text.splitlines() == [
        "experiment,scale,data.latents,metric,unit,value,low,high,n,runs",
        "regcl/arrays,small,4,r2,percent,0.6666666666666666,0.3333333333333333,1.0,2,a b",
        "regcl/arrays,small,6,r2,percent,5.0,,,1,c",
    ]


def test_warnings_name_runs_by_their_settings(make):
    folders = [make(f"{k}-{seed}", seed, r2=1.0, latents=k) for k in (4, 6) for seed in (0, 1)]
    labels = run_labels(folders)
    assert list(labels.values()) == [f"data.latents={k}, seed={seed}" for k in (4, 6) for seed in (0, 1)]
    assert labels_text(folders[:1], labels) == "data.latents=4, seed=0"
    assert labels_text(folders, labels).endswith("; data.latents=6, seed=0; and 1 more")
    assert run_labels(folders[:1]) == {folders[0]: "4-0"}


def test_a_table_wider_than_the_terminal_is_printed_as_paragraphs(make, capsys, monkeypatch):
    folders = [make(f"{k}", 0, r2=10.0 * k, auc=90.0, latents=k) for k in (4, 6)]
    show_runs(folders)
    wide = capsys.readouterr().out
    assert re.search(r"4 +│ +90\.0 │ +40\.0 │ 1", wide)
    monkeypatch.setattr("sparseid.reporting.summary.WIDTH", 30)
    show_runs(folders)
    narrow = capsys.readouterr().out
    assert "│" not in narrow
    assert "data.latents: 4; AUC, % (pseudo-inverse Jacobian): 90.0;" in " ".join(narrow.split())
    assert max(map(len, narrow.splitlines())) <= 30


def test_a_run_of_a_paper_without_a_table_of_single_runs_prints_its_numbers(tmp_path, make, capsys):
    folder = make("a", 0, r2=50.0)
    rows = [Row(**row) for row in json.loads((folder / "result.json").read_text())["rows"]]
    plain = tmp_path / "small" / "tbr" / "run"
    plain.mkdir(parents=True)
    keys = {"domain": "treesimulation", "S": 1}
    write_rows(plain / "result.json", [Row(**{**vars(rows[0]), "paper": "tbr", "metric": "mcc", "value": 0.5,
                                              "unit": "correlation in [0,1]", "keys": keys})])  # fmt: skip
    show_run(plain)
    said = capsys.readouterr().out
    assert "MCC" in said
    assert "0.500" in said


def test_a_sweep_over_settings_that_are_no_key_of_the_artefact_averages_nothing(
    tmp_path, sparling_rows, capsys, monkeypatch
):
    page = tmp_path / "report" / "index.html"
    monkeypatch.setattr("sparseid.reporting.summary.build_report", lambda *given, **named: page)
    for width in (8, 16):
        folder = tmp_path / "small" / "sparling" / f"width{width}"
        folder.mkdir(parents=True)
        rows = sparling_rows(width, run=folder.name, recipe=f"w{width}")
        write_rows(folder / "result.json", [Row(**{**vars(row), "seed": 0}) for row in rows])
        (folder / "status.json").write_text(json.dumps({"state": "done"}))
        settings = {"experiment": "sparling/fig3", "method": {"encoder": {"width": width}}}
        (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    finish_artefact("sparling/fig3", tmp_path, "small", frozenset({"w8", "w16"}))
    said = capsys.readouterr().out
    assert "method.encoder.width" in said
    assert re.search(r"8 +│ +2\.80 │", said), "FPE of the narrow one at the lowest density: 2 + 0.1 * 8"
    assert re.search(r"16 +│ +3\.60 │", said)
    kept = (tmp_path / "report" / "small" / "sparling-fig3-other-settings.md").read_text()
    assert "| method.encoder.width | FPE" in kept
    monkeypatch.undo()
    monkeypatch.setenv("SPARSEID_RECORDED", str(tmp_path / "none"))
    build_report(tmp_path, papers=["sparling"])
    html = (tmp_path / "report" / "sparling.html").read_text()
    assert '<a href="small/sparling-fig3-other-settings.md">' in html
    assert '<a href="../small/sparling/width8/">width8</a>' in html
    assert "2 runs with other settings" in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    ("paper", "keys", "unit"),
    [
        ("ddl", {"domain": "matrix", "method": "ours", "alpha": 0.05}, "squared data unit"),
        ("sparse_vae", {"domain": "matrix", "method": "sparse_vae"}, "squared data unit"),
    ],
)
def test_a_run_of_which_the_paper_reports_nothing_shows_its_main_metrics(tmp_path, capsys, paper, keys, unit):
    folder = tmp_path / "small" / paper / "own"
    folder.mkdir(parents=True)
    fields = {"n": 9, "commit": "a", "dirty": False, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
    write_rows(
        folder / "result.json",
        [Row("own", paper, "small", "r", keys, seed, "mse", 0.25 + seed / 100, unit, **fields) for seed in (0, 1)],
    )
    (folder / "config.yaml").write_text(yaml.safe_dump({"experiment": f"{paper}/arrays"}))
    show_run(folder)
    said = capsys.readouterr().out
    assert f"{paper}/arrays (scale=small; mean [95 % bootstrap interval] over n seeds)" in said
    assert "0.255 [0.250, 0.260]" in said
    assert "no printed number" not in said
