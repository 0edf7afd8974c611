from sparseid.config.choices import choices
from sparseid.config.compose import compose
from sparseid.config.identity import recipe_hash
from sparseid.papers.presets import artefact_runs, of_artefact, preset_recipes, preset_runs
from sparseid.papers.registry import ARTEFACTS
from sparseid.reporting.collect import newest, rows_frame


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


def test_every_artefact_reads_its_own_preset_and_those_of_other_artefacts():
    for name, entry in ARTEFACTS.items():
        assert not entry.presets or entry.presets[0] == name
        assert {*entry.presets} <= {*ARTEFACTS}


def test_every_artefact_has_a_preset_or_is_computed_and_asks_for_no_runs():
    presets = choices("experiment")
    assert {name for name, entry in ARTEFACTS.items() if name not in presets} == {"sparling/alpha"}
    assert [name for name, entry in ARTEFACTS.items() if entry.computed] == ["sparling/alpha"]
    assert preset_runs("sparling/alpha", "paper") == frozenset()
