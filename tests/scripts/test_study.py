"""RegCL's study: relations and distances on made rows of its preset's runs, and the document made of them."""

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

from sparseid.config.identity import recipe_hash, row_keys
from sparseid.config.sweep import plan
from sparseid.launching.plan import all_artefacts
from sparseid.papers.presets import RECORDED, of_artefact, preset_recipes
from sparseid.papers.regcl.claims import REGCL
from sparseid.papers.regcl.study import (
    ANCHORS,
    ENTRIES,
    ID,
    RELATIONS,
    above_paper,
    anchors,
    leads,
    minimum_norm,
    study_rows,
)
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.reporting.collect import collect
from sparseid.training.rows import Row

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "study" / "study.py"
DOCUMENT = runpy.run_path(str(SCRIPT.with_name("document.py")))
QUESTIONS, study_text, variants, outcome = (
    DOCUMENT[name] for name in ("QUESTIONS", "study_text", "variants", "outcome")
)
BASE = {"run": "r", "paper": "regcl", "scale": "small", "unit": "", "n": 9, "commit": "a" * 40, "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
ADDITIVE = "data.mixing=additive"


def auc_of(**changed):
    """A value for each cell: those of `changed`, named by their anchor, else 70."""
    return dict.fromkeys(ENTRIES, 70.0) | {ANCHORS[name.replace("_", " ")]: value for name, value in changed.items()}


def rows(values, seeds=3):
    """Rows of the small preset's runs of some variants, text -> value of each cell; data sets differ by the seed."""
    made = []
    for cell in plan([f"experiment={ID}", "scale=small"]).trials:
        for text in set(cell.variants) & set(values):
            keys = row_keys(cell.run)
            fields = BASE | {"recipe": recipe_hash(cell.run)}
            for seed in range(seeds):
                for name, value in values[text].items():
                    if name[1:] == (keys["training"], keys["regularisation"]):
                        own = keys | {"attribution": name[0]}
                        made.append(Row(keys=own, seed=seed, metric="auc", value=value + seed, **fields))
                made.append(Row(keys=keys, seed=seed, metric="minimum_norm_auc", value=80.0 + seed, **fields))
                made.append(Row(keys=keys | {"explained": "z2"}, seed=seed, metric="r2", value=97.0, **fields))
    return newest(rows_frame(made))


def of(frame, text, scale="small"):
    return next(variant for variant in variants(scale) if variant.text == text).of(frame)


@pytest.mark.parametrize("scale", ["smoke", "small", "paper"])
def test_the_first_variant_is_table_1_and_every_other_one_has_a_question(scale):
    first, *others = variants(scale)
    assert (first.text, str(first)) == ("", "base")
    table1 = plan(["experiment=regcl/table1", f"scale={scale}"]).trials
    shared = {recipe_hash(cell.run) for cell in table1 if cell.run.method.training != "supervised_contrastive"}
    of_few = {recipe for recipe in first.recipes if recipe in preset_recipes("regcl/table1", scale)}
    assert of_few <= shared
    assert len(of_few) == 4 * len({cell.run.data.latents for cell in table1} & {4, 6, 8})
    asked = {key for keys in QUESTIONS.values() for key in keys}
    assert others
    assert all(variant.keys & asked for variant in others)
    assert len({str(variant) for variant in (first, *others)}) == 1 + len(others)


def test_variants_of_lambda_share_the_runs_without_regularisation():
    by_text = {variant.text: variant for variant in variants("small")}
    base, strong = by_text[""], by_text["method.penalty_weight=0.0,1.0"]
    assert len(base.recipes) == len(strong.recipes) == 12
    assert len(base.recipes & strong.recipes) == 6
    assert strong.run.method.penalty_weight == 1.0
    longer = next(variant for variant in variants("small") if variant.text == "trainer.max_samples=819200")
    assert str(longer) == "max_samples=819200, 3200 steps"


def test_relations_are_differences_on_the_same_data_sets():
    values = auc_of(supervised_J=79.0)
    values[ANCHORS["supervised J, regularised"]] = 93.0
    values[ANCHORS["hybrid J+"]] = 88.0
    values[REGCL] = 92.0
    found = leads(of(rows({"": values}), ""))
    assert list(found) == list(RELATIONS)
    assert [set(lead) for lead in found.values()] == [{14.0}, {4.0}, {22.0}, {-1.0}]
    assert {len(lead) for lead in found.values()} == {9}  # three seeds at 4, 6 and 8 latents
    assert [outcome(lead) for lead in found.values()] == ["holds", "holds", "holds", "fails"]


def test_the_papers_own_numbers_have_no_distance_and_all_relations():
    assert anchors() == {
        "supervised J": 79.2,
        "supervised J, regularised": 93.0,
        "hybrid J+": 87.9,
        "hybrid J+, regularised": 98.2,
    }
    values = dict.fromkeys(ENTRIES, 70.0) | {ANCHORS[name]: value for name, value in anchors().items()}
    own = of(rows({"": values}, seeds=1), "")
    assert {name: float(above.abs().max()) for name, above in above_paper(own).items()} == dict.fromkeys(anchors(), 0.0)
    assert all((lead > 0).all() for lead in leads(own).values())


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 2.0, 3.0], "holds"), ([-1.0, -2.0], "fails"), ([-1.0, 1.0], "open"), ([5.0], "open"), ([], "open")],
)
def test_a_relation_is_open_where_zero_lies_in_its_interval(values, expected):
    assert outcome(pd.Series(values, dtype=float)) == expected


def test_without_a_cell_a_relation_is_not_measured():
    values = auc_of()
    del values[ANCHORS["supervised J"]]
    found = leads(of(rows({"": values}), ""))
    assert [len(lead) for lead in found.values()] == [0, 9, 9, 0]
    assert {len(lead) for lead in leads(rows_frame([])).values()} == {0}


def test_the_artefact_has_every_measured_variant_and_no_number_of_the_paper():
    frame = of_artefact(rows({"": auc_of(), ADDITIVE: auc_of(supervised_J=60.0)}), ID, "small")
    entry = ARTEFACTS[ID]
    assert entry.targets == entry.statements == entry.unchecked == []
    made = entries(entry, frame, "small")
    assert {cell.verdict.word for cell in made} == {"no printed number"}
    raised = {
        cell.keys["variant"]: cell.ours.centre
        for cell in made
        if cell.keys.get("relation") == "regularisation raises supervised J"
    }
    assert raised["base"] == 0.0
    assert raised["mixing=additive"] == 10.0
    assert "penalty_weight=0.0,1.0" not in raised, "its regularised runs are not made"
    limits = {cell.keys["variant"]: cell.ours for cell in made if cell.metric == "minimum_norm_auc"}
    assert (limits["base"].centre, limits["base"].n) == (81.0, 9)
    assert entries(entry, frame.iloc[:0], "small") == []
    assert study_rows(frame.iloc[:0]).empty
    assert study_rows(frame.drop(columns="variants")).empty, "of other settings"


def test_the_study_is_planned_behind_the_papers_own_artefacts():
    names = [name for name, (paper, _) in all_artefacts().items() if paper == "regcl"]
    assert names[0] == "regcl/table1"
    assert names.index(ID) > names.index("regcl/table5")
    assert next(iter(all_artefacts())) == "digitcircle"


def test_the_document_says_what_the_rows_say():
    good = auc_of(supervised_J=60.0)
    good[REGCL] = 98.0
    text = study_text(rows({"": auc_of(), ADDITIVE: good}), ["small"], "Kept *as it is*.\n")
    assert "\nKept *as it is*.\n" in text
    assert "penalty_weight" not in text, "of those variants only the runs are made that they share"
    assert f"{len(variants('small'))} variants, 306 stacks of 5 data sets; rows of 24 of them." in text
    assert "20,000 samples, 800 steps with batches of 256" in text
    assert "Commits: `aaaaaaaaa`. Devices: cpu." in text
    assert (
        "- Regularisation raises supervised J: holds in 1 of 2 variants (`mixing=additive`), fails in 0, open in 1."
        in text
    )
    [line] = [line for line in text.splitlines() if line.startswith("| `mixing=additive` | 9 | +10.0")]
    assert line.split(" | ")[2:5] == ["+10.0 [+10.0, +10.0] holds"] + 2 * ["+28.0 [+28.0, +28.0] holds"]
    assert line.endswith("| 4 of 4 |")
    assert "| `mixing=additive` | 6 | 3 | 81.0 [" in text
    assert "97.0 / 97.0 |" in text
    assert "### Head" not in text, "nothing of it is measured"
    assert "Nearest to the four numbers together: `" in text


def test_without_rows_the_document_says_what_is_asked():
    text = study_text(rows_frame([]), ["small", "paper"], "Nothing.")
    assert "rows of 0 of them" in text
    assert "20,000 steps with batches of 5,000" in text
    assert "### Relations" not in text


def test_minimum_norm_needs_no_map():
    assert minimum_norm(of(rows({"": {}}), "")).mean() == 81.0


def test_the_document_in_git_is_made_of_the_rows_in_git(tmp_path):
    notes = SCRIPT.with_name("notes.md").read_text(encoding="utf-8")
    made = study_text(collect(tmp_path, recorded=RECORDED).rows, ["small", "paper"], notes)
    stated = SCRIPT.with_name("STUDY.md").read_text(encoding="utf-8")
    assert stated == made, "make keep, then make study, and commit both"


def test_the_study_is_written_from_whatever_there_is(tmp_path, monkeypatch, capsys):
    file = tmp_path / "STUDY.md"
    arguments = ["--outputs", str(tmp_path / "none"), "--scale", "smoke", "--file", str(file)]
    monkeypatch.setattr(sys, "argv", ["study.py", *arguments])
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ["scale=smoke: rows of 0 of 2 variants", f"Study: {file}"]
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# RegCL: what the headline of table 1 depends on\n")
    assert SCRIPT.with_name("notes.md").read_text(encoding="utf-8").strip() in text
