"""An artefact reads the rows of the runs that its presets ask for."""

import shutil

import pytest

from sparseid.config.choices import choices
from sparseid.config.compose import compose
from sparseid.config.identity import recipe_hash
from sparseid.config.search_path import CONFIGS
from sparseid.config.sweep import plan
from sparseid.errors import InputError
from sparseid.papers.presets import (
    PLANNED,
    artefact_runs,
    of_artefact,
    preset_recipes,
    preset_runs,
    recorded_presets,
    save_planned_runs,
    variant_name,
)
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, rows_frame


def test_the_figures_read_the_runs_of_the_experiment():
    for scale in ("smoke", "small", "paper"):
        for figure in ("fig3", "fig4", "fig6", "fig8", "fig10"):
            assert preset_recipes(f"sparling/{figure}", scale) == preset_recipes("digitcircle", scale)
            assert preset_runs(f"sparling/{figure}", scale) == preset_runs("sparling/fig3", scale)
        for artefact in ("fig5", "fig9", "fig11", "table1", "table2"):
            assert preset_runs("sparling/fig3", scale) < preset_runs(f"sparling/{artefact}", scale)
        for domain in ("latex_ocr", "audiomnist"):
            assert preset_recipes(domain, scale) < preset_recipes(f"sparling/{domain}", scale)
        assert preset_runs("sparling/fig11", scale) == preset_runs("sparling/fig9", scale)
    assert preset_recipes("digitcircle", "smoke") != preset_recipes("digitcircle", "small")


def test_rows_of_other_settings_stay_out_and_other_seeds_stay_in(sparling_rows):
    wider = recipe_hash(compose(["experiment=digitcircle", "method.encoder.width=32"]))
    rows = newest(rows_frame(sparling_rows(0) + sparling_rows(77) + sparling_rows(0, recipe=wider)))
    kept = of_artefact(rows, "sparling/fig3", "small")
    assert set(kept["seed"]) == {0, 77}
    assert wider not in set(kept["recipe"])
    assert wider in set(rows["recipe"]), "a row of other settings does not replace the preset's"
    assert of_artefact(rows, "sparling/fig3", "paper").empty


def test_a_figure_over_domains_reads_the_presets_of_all_of_them(sparling_rows):
    others = preset_runs("sparling/latex_ocr", "small") | preset_runs("sparling/audiomnist", "small")
    for name in ("fig3", "fig4", "fig5", "fig6", "fig8", "table2"):
        assert artefact_runs(f"sparling/{name}", "small") == preset_runs(f"sparling/{name}", "small") | others
    assert artefact_runs("sparling/fig10", "small") == preset_runs("sparling/fig10", "small")
    latex = next(iter(preset_recipes("latex_ocr", "small")))
    rows = newest(rows_frame(sparling_rows(0) + sparling_rows(0, recipe=latex, keys={"domain": "latex_ocr"})))
    assert latex in set(of_artefact(rows, "sparling/fig3", "small")["recipe"])
    assert latex not in set(of_artefact(rows, "sparling/fig10", "small")["recipe"])


def test_rows_name_the_variants_of_their_preset_that_share_their_run(sparling_rows):
    planned = plan(["experiment=regcl/study", "scale=small"]).trials
    named = {recipe_hash(of.run): tuple(variant_name(text, of.run) for text in of.variants) for of in planned}
    rows = rows_frame([row for recipe in named for row in sparling_rows(0, recipe=recipe, densities=1)])
    kept = of_artefact(rows, "regcl/study", "small")
    assert dict(zip(kept["recipe"], kept["variants"], strict=True)) == named
    assert max(map(len, named.values())) > 1
    assert ("max_samples=819200, batch_size=1024, 800 steps",) in named.values()
    assert "variants" not in of_artefact(rows, "regcl/table1", "small")


def test_every_artefact_reads_its_own_preset_and_those_of_other_artefacts():
    for name, entry in ARTEFACTS.items():
        assert not entry.presets or entry.presets[0] == name
        assert {*entry.presets} <= {*ARTEFACTS}


def test_every_artefact_has_a_preset_or_is_computed_and_asks_for_no_runs():
    presets = choices("experiment")
    assert {name for name, entry in ARTEFACTS.items() if name not in presets} == {"sparling/alpha"}
    assert [name for name, entry in ARTEFACTS.items() if entry.computed] == ["sparling/alpha"]
    assert preset_runs("sparling/alpha", "paper") == frozenset()


PRESET = "digitcircle", "smoke"


@pytest.fixture
def configs(tmp_path):
    """A copy of the presets."""
    return shutil.copytree(CONFIGS, tmp_path / "configs")


def ask(configs, outputs, *overrides):
    """Plan a command as run.py does."""
    command = ["experiment=digitcircle", "scale=smoke", f"outputs={outputs}", *overrides]
    save_planned_runs(plan(command, configs), command, configs)


def edit(configs, old="batch_size: 32", new="batch_size: 64"):
    path = configs / "experiment" / "at" / "digitcircle.smoke.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_what_the_project_has_written_down_is_not_written_again(configs, tmp_path):
    for overrides in ((), ("force=true", "trainer=cpu", "logger=wandb", "hydra.launcher.jobs=2"), ("seed=7",)):
        ask(configs, tmp_path / "out", *overrides)
    assert not (tmp_path / "out").exists()


def test_an_edited_preset_is_known_once_it_is_planned_and_forgotten_when_it_is_edited_back(configs, tmp_path):
    edit(configs)
    out = tmp_path / "out"
    assert preset_runs(*PRESET, out) == preset_runs(*PRESET)
    ask(configs, out)
    assert [path.name for path in (out / PLANNED).iterdir()] == ["digitcircle-smoke.csv"]
    assert preset_runs(*PRESET, out).isdisjoint(preset_runs(*PRESET))
    assert preset_runs(*PRESET, tmp_path / "elsewhere") == preset_runs(*PRESET)
    edit(configs, "batch_size: 64", "batch_size: 32")
    ask(configs, out)
    assert preset_runs(*PRESET, out) == preset_runs(*PRESET)
    assert list((out / PLANNED).iterdir()) == []


def test_a_new_preset_is_planned_without_the_overrides_of_the_command(configs, tmp_path):
    shutil.copy(configs / "experiment" / "digitcircle.yaml", configs / "experiment" / "mine.yaml")
    shutil.copy(configs / "experiment/at/digitcircle.smoke.yaml", configs / "experiment/at/mine.smoke.yaml")
    command = ["experiment=mine", "scale=smoke", f"outputs={tmp_path / 'out'}", "method.encoder.width=12"]
    assert preset_runs("mine", "smoke", tmp_path / "out") == frozenset()
    save_planned_runs(plan(command, configs), command, configs)
    assert preset_runs("mine", "smoke", tmp_path / "out") == preset_runs(*PRESET)


def test_a_new_preset_of_the_search_path_is_planned_too(tmp_path):
    (tmp_path / "experiment/at").mkdir(parents=True)
    shutil.copy(CONFIGS / "experiment" / "digitcircle.yaml", tmp_path / "experiment" / "mine.yaml")
    shutil.copy(CONFIGS / "experiment/at/digitcircle.smoke.yaml", tmp_path / "experiment/at/mine.smoke.yaml")
    command = ["experiment=mine", "scale=smoke", f"outputs={tmp_path}", f"hydra.searchpath=[{tmp_path}]"]
    for more in (["seed=7"], []):
        save_planned_runs(plan([*command, *more]), [*command, *more], CONFIGS)
        assert preset_runs("mine", "smoke", tmp_path) == preset_runs(*PRESET)


def test_a_file_that_the_user_has_placed_counts_by_its_content(configs, tmp_path, monkeypatch):
    path = configs / "experiment" / "at" / "tbr" / "fig5a.smoke.yaml"
    path.write_text(path.read_text().replace("source: pbmc68k", "source: atlas"))
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GTEX_H5AD", str(tmp_path / "atlas.h5ad"))
    found = []
    for content in ("trials", "other trials"):
        (tmp_path / "atlas.h5ad").write_text(content)
        command = ["experiment=tbr/fig5a", "scale=smoke", f"outputs={tmp_path / 'out'}"]
        save_planned_runs(plan(command, configs), command, configs)
        found.append(preset_runs("tbr/fig5a", "smoke", tmp_path / "out"))
    assert found[0].isdisjoint(found[1])


def test_a_damaged_table_is_named_with_its_remedy_and_replaced_by_planning(configs, tmp_path):
    edit(configs)
    ask(configs, tmp_path)
    path = tmp_path / PLANNED / "digitcircle-smoke.csv"
    path.write_text("half a line")
    with pytest.raises(InputError, match=r"digitcircle-smoke\.csv, line 1: .* Remove the file"):
        preset_runs(*PRESET, tmp_path)
    ask(configs, tmp_path)
    assert preset_runs(*PRESET, tmp_path)


def test_without_any_table_no_preset_asks_for_runs(tmp_path, monkeypatch):
    """As in an installed package, which has no outputs beside it."""
    monkeypatch.setattr("sparseid.papers.presets.RECORDED", tmp_path)
    recorded_presets.cache_clear()
    assert preset_runs(*PRESET, tmp_path) == frozenset()
    ask(CONFIGS, tmp_path)
    assert preset_runs(*PRESET, tmp_path)
    recorded_presets.cache_clear()
