"""scale=paper is the published setting, number by number."""

import functools
import itertools
from pathlib import Path

import pytest
import yaml

import sparseid.papers.ddl
import sparseid.papers.regcl
import sparseid.papers.sparling
import sparseid.papers.sparse_vae
import sparseid.papers.tbr
from sparseid.config.choices import dotted_keys
from sparseid.config.compose import compose
from sparseid.config.identity import row_keys, run_directory
from sparseid.config.sweep import plan
from sparseid.data.cars3d.settings import Cars3DSettings
from sparseid.data.digit_circle.settings import DigitCircleSettings
from sparseid.data.fashion_mnist.settings import FashionMNISTSettings
from sparseid.data.gtex.settings import GtexSettings
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.latent_walk.settings import LatentWalkSettings
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_mixture.settings import MLPMixtureSettings
from sparseid.data.mpi3d.settings import MPI3DSettings
from sparseid.data.seven_features.settings import SevenFeaturesSettings
from sparseid.data.shapes3d.settings import Shapes3DSettings
from sparseid.data.tree_simulation.settings import TreeSimulationSettings
from sparseid.methods.ddl.settings import DDLSettings
from sparseid.methods.disco.settings import DisCoSettings
from sparseid.methods.encdiff.settings import EncDiffSettings
from sparseid.methods.factor_vae.settings import FactorVAESettings
from sparseid.methods.gin.settings import GINSettings
from sparseid.methods.regcl.settings import RegCLSettings
from sparseid.methods.sae.settings import SAESettings
from sparseid.methods.sparling.densities import density_grid
from sparseid.methods.sparling.settings import SparlingSettings
from sparseid.methods.sparse_vae.settings import SparseVAESettings
from sparseid.methods.tbr.settings import TBRSettings
from sparseid.papers.presets import artefact_runs, preset_runs
from sparseid.papers.sparling.rows import BINS, DENSITIES_BINNED, KL_WEIGHTS, L1_WEIGHTS, STARTS
from sparseid.settings import TrainerSettings

PUBLISHED = yaml.safe_load((Path(sparseid.papers.sparling.__file__).parent / "published.yaml").read_text())


@pytest.fixture(scope="module")
def paper():
    return compose(["experiment=digitcircle", "scale=paper"])


def value_of(run, key):
    return functools.reduce(getattr, key.split("."), run)


def leaves(keys):
    """The keys that contain no other one."""
    return {key for key in keys if not any(other.startswith(f"{key}.") for other in keys)}


@pytest.mark.parametrize("key", PUBLISHED["settings"])
def test_every_published_value_is_what_scale_paper_composes_to(paper, key):
    value = value_of(paper, key)
    assert value == PUBLISHED["settings"][key]["value"]
    assert type(value) is type(PUBLISHED["settings"][key]["value"])
    assert PUBLISHED["settings"][key]["source"]


def test_no_setting_of_method_and_data_is_left_out(paper):
    keys = [*dotted_keys(SparlingSettings, "method."), *dotted_keys(DigitCircleSettings, "data.")]
    assert leaves(keys) - {"method.name", "data.name"} <= set(PUBLISHED["settings"])


DOMAINS = {"digitcircle": PUBLISHED, **PUBLISHED["domains"]}
VARIANTS = {name: PUBLISHED["domains"].get(entry.get("domain"), {}) for name, entry in PUBLISHED["variants"].items()}
"""Variant -> what differs from DigitCircle on its domain."""


def published_settings(*parts):
    """The settings of a domain or variant: those of DigitCircle, and what differs in `parts`, the last one counts."""
    return {key: entry["value"] for part in (PUBLISHED, *parts) for key, entry in part.get("settings", {}).items()}


CUTS = {"digitcircle": 32, "latex_ocr": 38, "audiomnist": 21, "splicing": 19}
PRESET = {"splicing": "sparling/fig12"}
"""Preset of a domain, if it is not named like it."""


@pytest.mark.parametrize("domain", DOMAINS)
def test_density_grids_end_where_the_published_ones_do(domain):
    settings = published_settings(DOMAINS[domain])
    schedule = [settings[f"method.schedule.{name}"] for name in ("start_density", "min_density", "cut_factor")]
    grid, densities = density_grid(*schedule), DOMAINS[domain]["densities"]
    assert len(grid) - 1 == densities["cuts"]["value"] == CUTS[domain]
    assert grid[-1] == pytest.approx(densities["last"]["value"], rel=1e-5)


@pytest.mark.parametrize("domain", PUBLISHED["domains"])
def test_scale_paper_of_the_other_domains_is_the_published_setting(domain):
    run = compose([f"experiment={PRESET.get(domain, domain)}", "scale=paper"])
    settings = published_settings(DOMAINS[domain])
    assert {key: value_of(run, key) for key in settings if not key.startswith("data.")} == {
        key: value for key, value in settings.items() if not key.startswith("data.")
    }
    facts = {name: entry["value"] for name, entry in DOMAINS[domain]["data"].items()}
    ours = {"dots_per_inch": "dpi", "turned_black": "white_flip", "longest_label": "longest", "noise": "noise_std"}
    named = {name: ours.get(name, name) for name in facts}
    stated = {name: getattr(run.data, field) for name, field in named.items() if hasattr(run.data, field)}
    assert stated == {name: facts[name] for name in stated}
    assert len(stated) >= 5


def test_what_the_other_domains_and_the_variants_change_are_settings_and_all_has_a_source():
    known = {*dotted_keys(SparlingSettings, "method."), *dotted_keys(TrainerSettings, "trainer.")}
    parts = [*PUBLISHED["domains"].values(), *PUBLISHED["variants"].values(), PUBLISHED["unmeasured"]]
    assert {key for part in parts for key in part["settings"]} <= known
    groups = [group for part in parts for group in (part, *part.values()) if isinstance(group, dict)]
    numbers = [entry for group in (*groups, PUBLISHED["evaluations"]) for entry in group.values()]
    assert all(entry["source"] for entry in numbers if isinstance(entry, dict) and "value" in entry)
    assert len([entry for entry in numbers if isinstance(entry, dict) and "value" in entry]) > 80


def test_published_settings_of_variants_differ_where_they_should():
    settings = {name: published_settings(VARIANTS[name], entry) for name, entry in PUBLISHED["variants"].items()}
    starts = [settings[f"no_annealing_{start}"]["method.schedule.start_density"] for start in STARTS]
    grid = density_grid(0.5, 4.492e-5, 0.75)
    assert starts == [pytest.approx(grid[-1], rel=1e-5), pytest.approx(grid[-2], rel=1e-5)]
    latex = PUBLISHED["variants"]["retrained_latex"]["starts_above"]["value"]
    assert density_grid(0.5, 6.973e-6, 0.75)[-1 - latex] == pytest.approx(2.8252e-5, rel=1e-4)
    assert tuple(PUBLISHED["variants"]["l1"]["weights"]["value"]) == L1_WEIGHTS
    assert tuple(PUBLISHED["variants"]["kl"]["weights"]["value"]) == KL_WEIGHTS
    assert tuple(PUBLISHED["evaluations"]["bins"]["value"]) == BINS
    assert PUBLISHED["evaluations"]["binned_densities"]["value"] == len(DENSITIES_BINNED)
    assert settings["direct_latex"]["method.encoder.blocks"] == 16


def test_figure_3_runs_the_published_seeds_with_the_published_setting(paper):
    trials = plan(["experiment=sparling/fig3", "scale=paper"]).trials
    assert [trial.run.seed for trial in trials] == PUBLISHED["seeds"]["value"]
    for trial in trials:
        assert (trial.run.method, trial.run.data, trial.run.trainer) == (paper.method, paper.data, paper.trainer)


BASELINES = {
    "fig5": {"non_sparse", "retrained"},
    "fig9": {"sparling_st"},
    "fig11": {"sparling_st"},
    "table1": {"l1"},
    "kl": {"kl"},
    "ablation": {"no_bn_mt", "no_bn_st", "no_annealing_final", "no_annealing_penultimate"},
    "table2": {"direct"},
    "latex_ocr": {"retrained_latex", "direct_latex"},
    "audiomnist": {"retrained_audio", "direct_audio"},
}
"""Preset of Sparling -> the variants that it runs."""


def variant_of(run):
    """The name of a run in ``variants``; sparling_mt is the main run of its domain."""
    keys = row_keys(run)
    name = "_".join(str(keys[key]) for key in ("method", "start") if key in keys)
    suffix = {"latex_ocr": "_latex", "audiomnist": "_audio"}.get(keys["domain"], "")
    return name if name == "sparling_mt" else name + suffix


def published_variant(name, domain, weight):
    """Every setting of a variant: what is published, and what the names in ``variants`` stand for."""
    entry = PUBLISHED["variants"].get(name, {})
    parts = [PUBLISHED["unmeasured"]] if name in PUBLISHED["unmeasured"]["variants"] else []
    settings = published_settings(PUBLISHED["domains"].get(domain, {}), *parts, entry)
    if name.startswith("retrained"):
        settings["method.training"] = "retrained"
        settings["method.retrained.source_samples"] = published_settings(DOMAINS[domain])["trainer.max_samples"]
        settings["method.retrained.steps_above"] = entry["starts_above"]["value"]
    if name.startswith("direct"):
        settings["method.training"] = "direct"
    if "weights" in entry:
        assert weight in entry["weights"]["value"]
        settings |= {"method.sparse.kind": name, "method.sparse.penalty_weight": weight}
    return {key: value for key, value in settings.items() if domain == "digitcircle" or not key.startswith("data.")}


@pytest.mark.parametrize("preset", BASELINES)
def test_every_trial_of_sparlings_baselines_has_the_published_setting(preset):
    runs = [trial.run for trial in plan([f"experiment=sparling/{preset}", "scale=paper"]).trials]
    seeds = {}
    for run in runs:
        name, weight = variant_of(run), run.method.sparse.penalty_weight
        wanted = published_variant(name, row_keys(run)["domain"], weight)
        assert {key: value_of(run, key) for key in wanted} == wanted
        seeds.setdefault((name, weight), []).append(run.seed)
    assert {name for name, _ in seeds} - {"sparling_mt"} == BASELINES[preset]
    for (name, _), made in seeds.items():
        once = "seeds" in PUBLISHED["variants"].get(name, {})
        assert made == (PUBLISHED["seeds"]["value"][:1] if once else PUBLISHED["seeds"]["value"])
    for name in BASELINES[preset]:
        assert len([of for of in seeds if of[0] == name]) == len(
            PUBLISHED["variants"][name].get("weights", {"value": [0.0]})["value"]
        )


def test_every_published_variant_of_sparling_has_a_preset():
    assert set().union(*BASELINES.values()) == set(PUBLISHED["variants"])


TBR = yaml.safe_load((Path(sparseid.papers.tbr.__file__).parent / "published.yaml").read_text())


def test_every_trial_of_tbr_figure_4_has_the_published_setting():
    trials = plan(["experiment=tbr/fig4", "scale=paper"]).trials
    swept = {key: entry["value"] for key, entry in TBR["sweep"].items()}
    assert [tuple(value_of(trial.run, key) for key in swept) for trial in trials] == list(
        itertools.product(*swept.values())
    )
    for trial in trials:
        assert trial.run.seeds == TBR["seeds"]["value"]
        for key, entry in TBR["settings"].items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key
            assert entry["source"]


def test_no_setting_of_tbr_and_its_data_is_left_out():
    keys = {*dotted_keys(TBRSettings, "method."), *dotted_keys(TreeSimulationSettings, "data.")}
    assert leaves(keys) - {"method.name", "data.name"} == {
        key for key in (*TBR["settings"], *TBR["sweep"]) if not key.startswith("trainer.")
    }


CELLS = TBR["cells"]


@pytest.mark.parametrize("figure", CELLS["figures"])
def test_every_trial_of_tbr_figure_5_has_the_published_setting(figure):
    published = CELLS["figures"][figure]
    swept = {key: entry.get("value") or list(range(entry["count"])) for key, entry in published["sweep"].items()}
    trials = plan([f"experiment=tbr/{figure}", "scale=paper"]).trials
    asked = [tuple(value_of(trial.run, key) for key in swept) for trial in trials]
    assert sorted(asked) == sorted(itertools.product(*swept.values()))
    for trial in trials:
        run = trial.run
        assert run.seeds == list(range(published["seeds"]["first"], published["seeds"]["last"] + 1))
        assert run.data.held_out.train_on == CELLS["trained_on"][figure][run.method.variant]
        assert len(run.method.candidates) == {"tbr": 10, "baseline": 2}[run.method.variant]
    for key, entry in CELLS["settings"].items():
        values = [value_of(trial.run, key) for trial in trials]
        assert all((value, type(value)) == (entry["value"], type(entry["value"])) for value in values), key


def test_no_setting_of_tbr_on_cells_is_left_out_and_all_have_a_source():
    keys = leaves({*dotted_keys(TBRSettings, "method."), *dotted_keys(GtexSettings, "data.")})
    for figure in CELLS["figures"].values():
        named = {*CELLS["settings"], *figure["sweep"], "data.held_out.train_on"}
        assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
        assert all(entry["source"] for entry in (*CELLS["settings"].values(), *figure["sweep"].values()))


def test_the_atlas_has_the_papers_types_cells_and_genes():
    atlas = SOURCES["atlas"]
    assert atlas.expected == (43, 15256)
    assert " ".join(atlas.latents) == "C1orf43 CHMP2A EMC7 PSMB2 PSMB4 REEP5 SNRPD3 VCP VPS29"
    assert (atlas.groupby, atlas.exclude) == ("Broad cell type", ("Unknown",))


REGCL = yaml.safe_load((Path(sparseid.papers.regcl.__file__).parent / "published.yaml").read_text())


@pytest.mark.parametrize(
    ("table", "changes"), [("table1", {}), ("table2", {**REGCL["table2"], "method.training": {"value": ["hybrid"]}})]
)
def test_every_trial_of_regcl_tables_has_the_published_setting(table, changes):
    trials = plan([f"experiment=regcl/{table}", "scale=paper"]).trials
    entries = REGCL["settings"] | REGCL["sweep"] | changes
    swept = {key: entries[key]["value"] for key in REGCL["sweep"]}
    assert [tuple(value_of(trial.run, key) for key in swept) for trial in trials] == list(
        itertools.product(*swept.values())
    )
    for trial in trials:
        assert trial.run.seeds == REGCL["seeds"]["value"]
        for key in REGCL["settings"]:
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entries[key]["value"], type(entries[key]["value"])), key


def test_regcl_names_a_source_of_every_setting():
    assert all(entry["source"] for part in ("settings", "sweep", "table2") for entry in REGCL[part].values())
    keys = [*dotted_keys(RegCLSettings, "method."), *dotted_keys(LatentWalkSettings, "data.")]
    assert leaves(keys) - {"method.name", "data.name"} == {
        key for key in (*REGCL["settings"], *REGCL["sweep"]) if not key.startswith("trainer.")
    }


SPARSE_VAE = yaml.safe_load((Path(sparseid.papers.sparse_vae.__file__).parent / "published.yaml").read_text())
NOT_PUBLISHED = {"method.beta": 1.0, "method.prior.warm_up": 0.0}
"""Settings of only some models of the Sparse VAE's figure 3."""


def test_every_trial_of_the_sparse_vaes_figure_3_has_the_published_setting():
    trials = plan(["experiment=sparse_vae/fig3", "scale=paper"]).trials
    models = [{**NOT_PUBLISHED, **entry} for entry in SPARSE_VAE["models"]]
    correlations = SPARSE_VAE["sweep"]["data.rho"]["value"]
    keys = ("data.rho", *NOT_PUBLISHED, "method.model")
    asked = [tuple(value_of(trial.run, key) for key in keys) for trial in trials]
    assert sorted(asked) == sorted((rho, *(model[key] for key in keys[1:])) for rho in correlations for model in models)
    for trial in trials:
        assert trial.run.seeds == SPARSE_VAE["seeds"]["value"]
        for key, entry in SPARSE_VAE["settings"].items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key


def test_no_setting_of_the_sparse_vae_and_its_seven_features_is_left_out():
    keys = {*dotted_keys(SparseVAESettings, "method."), *dotted_keys(SevenFeaturesSettings, "data.")}
    named = {*SPARSE_VAE["settings"], *SPARSE_VAE["sweep"], *NOT_PUBLISHED, "method.model"}
    assert leaves(keys) - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
    entries = [*SPARSE_VAE["settings"].values(), *SPARSE_VAE["sweep"].values(), *SPARSE_VAE["models"]]
    assert all(entry["source"] for entry in entries)


DDL = yaml.safe_load((Path(sparseid.papers.ddl.__file__).parent / "published.yaml").read_text())


def test_every_trial_of_ddls_table_6_has_the_stated_setting():
    trials = plan(["experiment=ddl/table6", "scale=paper"]).trials
    swept = {key: entry["value"] for key, entry in DDL["sweep"].items()}
    assert [tuple(value_of(trial.run, key) for key in swept) for trial in trials] == list(
        itertools.product(*swept.values())
    )
    for trial in trials:
        assert trial.run.seeds == DDL["seeds"]["value"]
        for key, entry in DDL["settings"].items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key


def test_no_setting_of_ddl_and_its_mixtures_is_left_out():
    keys = {*dotted_keys(DDLSettings, "method."), *dotted_keys(MLPMixtureSettings, "data.")}
    named = {*DDL["settings"], *DDL["sweep"]}
    assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
    assert all(entry["source"] for part in ("settings", "sweep") for entry in DDL[part].values())


IMAGES = yaml.safe_load((Path(sparseid.papers.ddl.__file__).parent / "published_images.yaml").read_text())


@pytest.mark.parametrize(("preset", "data"), [("table1", "shapes3d"), ("table8", "cars3d"), ("table8_mpi3d", "mpi3d")])
def test_every_trial_of_ddls_tables_of_factor_vae_has_the_stated_setting(preset, data):
    trials = plan([f"experiment=ddl/{preset}", "scale=paper"]).trials
    names = ("none", "latent", "dependency") if preset == "table1" else tuple(IMAGES["weights"])
    weights = {name: IMAGES["weights"][name]["value"] for name in names}
    asked = [(trial.run.method.penalty, trial.run.method.alpha, trial.run.seed) for trial in trials]
    assert asked == [(*weight, seed) for weight in weights.items() for seed in IMAGES["seeds"]["value"]]
    for trial in trials:
        assert trial.run.data.name == data
        for key, entry in (IMAGES["settings"] | IMAGES["of_data"][data]).items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key


OF_IMAGES = {"cars3d": Cars3DSettings, "mpi3d": MPI3DSettings, "shapes3d": Shapes3DSettings}


@pytest.mark.parametrize(("data", "settings"), OF_IMAGES.items())
def test_no_setting_of_factor_vae_and_its_images_is_left_out(data, settings):
    keys = leaves({*dotted_keys(FactorVAESettings, "method."), *dotted_keys(settings, "data.")})
    named = {*IMAGES["settings"], *IMAGES["of_data"][data], "method.penalty", "method.alpha"}
    assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
    parts = (*IMAGES["of_data"].values(), *(IMAGES[name] for name in ("settings", "weights", "upsampled")))
    assert all(entry["source"] for part in parts for entry in part.values())


ENCDIFF = IMAGES["encdiff"]


@pytest.mark.parametrize(("preset", "data"), [("fig9", "shapes3d"), ("fig10", "cars3d"), ("fig11", "mpi3d")])
def test_every_run_of_encdiff_has_the_stated_setting_and_starts_from_a_shared_autoencoder(preset, data):
    trials = plan([f"experiment=ddl/{preset}", "scale=paper"]).trials
    asked = [trial.run for trial in trials if trial.run.method.training == "encdiff"]
    weights = {name: entry["value"] for name, entry in ENCDIFF["weights"].items()}
    found = [(run.method.penalty, run.method.alpha, run.seed) for run in asked]
    assert found == [(*weight, seed) for weight in weights.items() for seed in IMAGES["seeds"]["value"]]
    stated = ENCDIFF["settings"] | ENCDIFF["of_data"][data]
    for run in asked:
        assert run.data.name == data
        for key, entry in stated.items():
            value = value_of(run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key
    autoencoders = [trial.run for trial in trials if trial.run.method.training == "autoencoder"]
    assert [run.seed for run in autoencoders] == IMAGES["seeds"]["value"]
    for run in autoencoders:
        assert run.trainer.max_samples == stated["method.autoencoder.samples"]["value"]
        assert run.trainer.batch_size == stated["method.autoencoder.batch_size"]["value"]


@pytest.mark.parametrize(("data", "settings"), OF_IMAGES.items())
def test_no_setting_of_encdiff_and_its_images_is_left_out(data, settings):
    keys = leaves({*dotted_keys(EncDiffSettings, "method."), *dotted_keys(settings, "data.")})
    named = {*ENCDIFF["settings"], *ENCDIFF["of_data"][data], "method.penalty", "method.alpha"}
    assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
    parts = (*ENCDIFF["of_data"].values(), ENCDIFF["settings"], ENCDIFF["weights"])
    assert all(entry["source"] for part in parts for entry in part.values())


def test_table_1_shares_runs_with_table_8_and_traversals_those_of_swaps():
    names = ("table1", "table8", "table8_mpi3d", "fig9", "fig10", "fig11")
    parts = [preset_runs(f"ddl/{name}", "paper") for name in names]
    assert preset_runs("ddl/fig8_shapes3d", "paper") < parts[3]
    assert frozenset().union(*parts) <= artefact_runs("ddl/table1", "paper")


def test_table_7_shares_runs_with_table_8_and_upsamples_the_images_of_the_others():
    table7, table8 = (plan([f"experiment=ddl/{name}", "scale=paper"]).trials for name in ("table7", "table8"))
    assert [trial.run.method.penalty for trial in table7[::3]] == ["none", "latent", "dependency", "dependency"]
    assert {run_directory(trial.run) for trial in table7[:9]} < {run_directory(trial.run) for trial in table8}
    for trial in table7[9:]:
        for key, entry in (IMAGES["settings"] | IMAGES["of_data"]["cars3d"] | IMAGES["upsampled"]).items():
            assert value_of(trial.run, key) == entry["value"], key


FLOW, DISCO = (
    yaml.safe_load((Path(sparseid.papers.ddl.__file__).parent / f"published_{name}.yaml").read_text())
    for name in ("flow", "disco")
)


@pytest.mark.parametrize(
    ("preset", "published", "data"),
    [
        ("fig8", FLOW, "fashion_mnist"),
        ("table1_disco", DISCO, "shapes3d"),
        ("table1_disco_cars3d", DISCO, "cars3d"),
        ("table1_disco_mpi3d", DISCO, "mpi3d"),
    ],
)
def test_every_trial_of_ddls_flow_and_disco_has_the_stated_setting(preset, published, data):
    trials = plan([f"experiment=ddl/{preset}", "scale=paper"]).trials
    weights = {name: entry["value"] for name, entry in published["weights"].items()}
    asked = [(trial.run.method.penalty, trial.run.method.alpha, trial.run.seed) for trial in trials]
    assert asked == [(*weight, seed) for weight in weights.items() for seed in published["seeds"]["value"]]
    for trial in trials:
        assert trial.run.data.name == data
        for key, entry in (published["settings"] | published.get("of_data", {}).get(data, {})).items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key


@pytest.mark.parametrize(
    ("published", "method", "settings", "data"),
    [
        (FLOW, GINSettings, FashionMNISTSettings, ""),
        (DISCO, DisCoSettings, Cars3DSettings, "cars3d"),
        (DISCO, DisCoSettings, MPI3DSettings, "mpi3d"),
    ],
)
def test_no_setting_of_flow_and_disco_is_left_out(published, method, settings, data):
    keys = leaves({*dotted_keys(method, "method."), *dotted_keys(settings, "data.")})
    of_data = published.get("of_data", {}).get(data, {})
    named = {*published["settings"], *of_data, "method.penalty", "method.alpha"}
    assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
    assert all(
        entry["source"] for part in (of_data, published["settings"], published["weights"]) for entry in part.values()
    )


def test_tables_and_figure_5_share_the_runs_of_table_6():
    runs = {
        name: {run_directory(trial.run) for trial in plan([f"experiment=ddl/{name}", "scale=paper"]).trials}
        for name in ("table4", "table5", "table6", "fig5")
    }
    assert all(len(runs["table6"] & runs[name]) == 3 for name in ("table4", "table5", "fig5"))
    assert len(runs["table5"] & runs["fig5"]) == 6


TRANSFORMERS = yaml.safe_load((Path(sparseid.papers.ddl.__file__).parent / "published_transformers.yaml").read_text())


def test_every_trial_of_ddls_table_3_has_the_stated_setting():
    trials = plan(["experiment=ddl/table3", "scale=paper"]).trials
    kinds = TRANSFORMERS["of_kind"]
    assert [(t.run.method.kind, t.run.seed) for t in trials] == [
        (kind, seed) for kind in kinds for seed in TRANSFORMERS["seeds"]["value"]
    ]
    for trial in trials:
        for key, entry in (TRANSFORMERS["settings"] | kinds[trial.run.method.kind]).items():
            value = value_of(trial.run, key)
            assert (value, type(value)) == (entry["value"], type(entry["value"])), key
            assert entry["source"]


def test_no_setting_of_sparse_autoencoders_and_their_data_is_left_out():
    keys = leaves({*dotted_keys(SAESettings, "method."), *dotted_keys(MLPActivationsSettings, "data.")})
    named = {*TRANSFORMERS["settings"], *TRANSFORMERS["of_kind"]["jsae"], "method.kind"}
    assert keys - {"method.name", "data.name"} == {key for key in named if not key.startswith("trainer.")}
