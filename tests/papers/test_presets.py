from sparseid.config.choices import choices
from sparseid.config.compose import compose
from sparseid.config.identity import recipe_hash
from sparseid.papers.presets import of_preset, preset_recipes, preset_runs
from sparseid.papers.registry import ARTEFACTS
from sparseid.reporting.collect import newest, rows_frame


def test_the_figures_read_the_runs_of_the_experiment():
    for scale in ("smoke", "small", "paper"):
        assert preset_recipes("sparling/fig3", scale) == preset_recipes("digitcircle", scale)
    assert preset_recipes("digitcircle", "smoke") != preset_recipes("digitcircle", "small")


def test_rows_of_other_settings_stay_out_and_other_seeds_stay_in(sparling_rows):
    wider = recipe_hash(compose(["experiment=digitcircle", "method.encoder.width=32"]))
    rows = newest(rows_frame(sparling_rows(0) + sparling_rows(77) + sparling_rows(0, recipe=wider)))
    kept = of_preset(rows, "sparling/fig3", "small")
    assert set(kept["seed"]) == {0, 77}
    assert wider not in set(kept["recipe"])
    assert wider in set(rows["recipe"]), "a row of other settings does not replace the preset's"
    assert of_preset(rows, "sparling/fig3", "paper").empty


def test_every_artefact_has_a_preset_or_is_computed_and_asks_for_no_runs():
    presets = choices("experiment")
    assert {name for name, entry in ARTEFACTS.items() if name not in presets} == {"sparling/alpha"}
    assert [name for name, entry in ARTEFACTS.items() if entry.computed] == ["sparling/alpha"]
    assert preset_runs("sparling/alpha", "paper") == frozenset()
