"""Composition and the answer to everything that can be wrong with it."""

import dataclasses
import re
import shutil
import subprocess
import sys

import pytest

from sparseid.config.compose import compose
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS
from sparseid.data.digit_circle.settings import DigitCircleSettings
from sparseid.errors import ConfigError
from sparseid.methods.sparling.settings import SparlingSettings


@pytest.fixture
def configs(tmp_path):
    return shutil.copytree(CONFIGS, tmp_path / "configs")


def message(overrides, configs=CONFIGS):
    with pytest.raises(ConfigError) as caught:
        compose(overrides, configs)
    return str(caught.value)


def test_defaults_compose_to_typed_resolved_objects():
    run = compose()
    assert isinstance(run, RunConfig)
    assert isinstance(run.method, SparlingSettings)
    assert isinstance(run.data, DigitCircleSettings)
    assert (run.experiment, run.scale, run.paper, run.seed) == ("digitcircle", "small", "sparling", 0)


def test_the_command_line_wins_over_the_scale():
    run = compose(["scale=smoke", "method.encoder.width=9", "++trainer.batch_size=64", "outputs=elsewhere"])
    assert (run.method.encoder.width, run.trainer.batch_size, run.outputs) == (9, 64, "elsewhere")


def test_composing_imports_nothing_heavy():
    heavy = ("torch", "pytorch_lightning", "wandb", "scanpy", "pandas", "matplotlib", "scipy")
    code = (
        "import sys; from sparseid.config.sweep import plan; from sparseid.config.identity import run_directory;"
        "import sparseid.launching.main, sparseid.launching.launch, sparseid.config.stored;"
        f"run_directory(plan(['seed=0,1']).trials[0].run); print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("prefix", ["", "+", "++"])
@pytest.mark.parametrize(
    ("key", "meant"),
    [("method.encoder.widht", "method.encoder.width"), ("sed", "seed"), ("trainer.max_sample", "trainer.max_samples")],
)
def test_unknown_key_on_the_command_line(prefix, key, meant):
    text = message([f"{prefix}{key}=3"])
    assert f"unknown key {key}" in text
    assert f"command line: {prefix}{key}=3" in text
    assert f"did you mean: {meant}" in text


def test_unknown_key_behind_plus_is_found_inside_a_mapping():
    assert "unknown key method.encoder.widht" in message(["+method.encoder={widht: 3}"])


@pytest.mark.parametrize(
    ("file", "line", "key", "meant"),
    [
        ("experiment/digitcircle.yaml", "trainer: {max_sample: 3}", "trainer.max_sample", "trainer.max_samples"),
        ("experiment/digitcircle.yaml", "papr: sparling", "papr", "paper"),
        ("experiment/at/digitcircle.small.yaml", "sede: 3", "sede", "seed"),
        ("data/digit_circle.yaml", "canvass: 40", "data.canvass", "data.canvas"),
        ("method/sparling.yaml", "optimiser: {lr: 1}", "method.optimiser", "method.optimizer"),
        ("logger/csv.yaml", "nme: csv", "logger.nme", "logger.name"),
        (
            "experiment/digitcircle.yaml",
            "hydra: {sweeper: {parms: {seed: 1}}}",
            "hydra.sweeper.parms",
            "hydra.sweeper.params",
        ),
    ],
)
def test_unknown_key_in_a_file(configs, file, line, key, meant):
    path = configs / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    text = message([], configs)
    assert f"unknown key {key}\n" in text
    assert f"from: configs/{file}" in text
    assert f"did you mean: {meant}" in text


@pytest.mark.parametrize(
    ("override", "wanted"),
    [
        ("method.encoder.width=wide", "method.encoder.width must be a whole number, not 'wide'"),
        ("seed=1.5", "seed must be a whole number, not 1.5"),
        ("method.optimizer.lr=fast", "method.optimizer.lr must be a number, not 'fast'"),
        ("force=maybe", "force must be true or false"),
        ("method.encoder=3", "method.encoder must be a group of settings"),
        ("method.optimizer.betas=[a,b]", "method.optimizer.betas[0]"),
        ("trainer=[a,b]", "trainer=[a,b] selects no trainer"),
    ],
)
def test_wrong_type_on_the_command_line(override, wanted):
    text = message([override])
    assert wanted in text
    assert f"command line: {override}" in text


def test_wrong_type_in_a_file(configs):
    path = configs / "experiment/at/digitcircle.small.yaml"
    path.write_text(path.read_text().replace("canvas: 40", "canvas: forty"))
    text = message([], configs)
    assert "data.canvas must be a whole number, not 'forty'" in text
    assert "from: configs/experiment/at/digitcircle.small.yaml" in text


@pytest.mark.parametrize(
    ("override", "meant"),
    [
        ("experiment=digitcircel", "digitcircle"),
        ("experiment=sparling/fg3", "sparling/fig3"),
        ("scale=papr", "paper"),
        ("trainer=dpp", "ddp"),
        ("method=sparing", "sparling"),
        ("data=digitcircle", "digit_circle"),
        ("hydra/launcher=basics", "basic"),
    ],
)
def test_misspelt_choice(override, meant):
    group, choice = override.split("=")
    text = message([override])
    assert f"{group}={choice} does not exist" in text
    assert f"command line: {override}" in text
    assert f"did you mean: {meant}" in text
    assert f"{group} can be: " in text


def test_misspelt_choice_in_a_preset(configs):
    path = configs / "experiment/digitcircle.yaml"
    path.write_text(path.read_text().replace("override /method: sparling", "override /method: sparlin"))
    text = message([], configs)
    assert "method=sparlin does not exist" in text
    assert "from: configs/experiment/digitcircle.yaml" in text
    assert "did you mean: sparling" in text


def test_misspelt_group_in_a_preset(configs):
    path = configs / "experiment/digitcircle.yaml"
    path.write_text(path.read_text().replace("override /method:", "override /methd:"))
    text = message([], configs)
    assert "methd" in text
    assert "configs/experiment/digitcircle.yaml" in text
    assert "did you mean: method" in text


def test_misspelt_group_on_the_command_line():
    assert "did you mean: trainer" in message(["trainr=ddp"])


def test_missing_value_names_the_key(configs):
    path = configs / "experiment/at/digitcircle.small.yaml"
    path.write_text(path.read_text().replace("  canvas: 40\n", ""))
    text = message([], configs)
    assert "no value for data.canvas" in text
    assert "data.canvas=<value>" in text
    assert "no value for seed" in message(["seed=???"])


@pytest.mark.parametrize("override", ["method=null", "data=null", "experiment=null"])
def test_no_choice(override):
    assert f"{override} selects no {override.split('=')[0]}" in message([override])


@pytest.mark.parametrize(
    ("override", "wanted"),
    [
        ("~seed", "removes a setting that every run needs"),
        ("+seed=3", "seed already exists"),
        ("+experiment=digitcircle", "experiment is already selected"),
        ("seed=[", "cannot read the override 'seed=['"),
        ("digitcircle", "did you mean: experiment=digitcircle"),
        ("--config-dir", "here a folder of YAML files is an override: hydra.searchpath=[FOLDER]"),
        ("--config-dir=presets", "hydra.searchpath=[presets]"),
        ("method.encoder.width=${no.such.key}", "no.such.key"),
        ("data=at/x", "data=at/x does not exist"),
        ("method=digit_circle", "method=digit_circle does not exist"),
    ],
)
def test_other_mistakes_on_the_command_line(override, wanted):
    assert wanted in message([override])


@pytest.mark.parametrize("broken", ["data: {canvas: 40", "\tdata: 3", "- 1\n- 2"])
def test_broken_yaml_names_the_file(configs, broken):
    (configs / "experiment/at/digitcircle.small.yaml").write_text(f"# @package _global_\n{broken}\n")
    assert "digitcircle.small" in message([], configs)


@pytest.mark.parametrize(
    ("depth", "said"), [(150, "of a setting are nested too deeply"), (3000, "cannot read the override '+x=[[[")]
)
def test_brackets_that_are_nested_too_deeply_are_refused(configs, depth, said):
    nested = "[" * depth + "]" * depth
    assert said in message([f"+x={nested}"])
    (configs / "experiment/at/digitcircle.small.yaml").write_text(f"# @package _global_\nx: {nested}\n")
    assert "its brackets or lists are nested too deeply" in (text := message([], configs))
    assert "digitcircle.small.yaml" in text


def test_choice_without_schema_is_refused(configs):
    (configs / "method/plain.yaml").write_text("name: plain\nwidth: 3\n")
    text = message(["method=plain", "experiment=digitcircle"], configs)
    assert "unknown key" in text or "has no schema" in text


def test_configs_folder_that_is_not_there(tmp_path):
    assert "does not exist" in message([], tmp_path)


def test_a_key_of_another_method_is_not_suggested_to_whoever_typed_it():
    with pytest.raises(ConfigError) as caught:
        compose(["experiment=ddl/table5", "variants=[]", "method.optimizer.lr=1e-3"])
    assert "method.optimizer.lr belongs to another method or data set" in str(caught.value)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("misspelled", "wanted"),
    [("data.sampels", ""), ("data.canvass", "did you mean: data.canvas"), ("data.samples", "data.samples belongs to")],
)
def test_only_keys_of_the_chosen_data_set_are_suggested(misspelled, wanted):
    text = message(["experiment=digitcircle", f"{misspelled}=3"])
    assert wanted in text
    suggested = re.findall(r"data\.\w+", text.partition("did you mean")[2])
    assert set(suggested) <= {f"data.{field.name}" for field in dataclasses.fields(DigitCircleSettings)}


@pytest.mark.parametrize("override", ["experiment=toy/first", "method=lasso", "data=toys"])
def test_an_unknown_name_may_be_that_of_an_extension(monkeypatch, override):
    monkeypatch.delenv("SPARSEID_EXTENSIONS", raising=False)
    assert "if an extension has it: set SPARSEID_EXTENSIONS to its folder, or install it" in message([override])
    assert "SPARSEID_EXTENSIONS" not in message(["scale=papr"])
