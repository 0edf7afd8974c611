"""Runs of several seeds: how they are asked for, named and refused."""

import copy
import dataclasses
import json
from pathlib import Path

import pytest

import sparseid.papers.sparling
from sparseid.config.compose import compose
from sparseid.config.errors import ConfigError
from sparseid.config.identity import member_seeds, recipe_hash, run_hash, run_name, seeds_text, semantic_settings
from sparseid.config.schema import run_config_text
from sparseid.config.stored import parse_run_config
from sparseid.config.validate import problems

TBR = ("experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", "data.S=1")


def message(*overrides):
    with pytest.raises(ConfigError) as caught:
        compose([*TBR, *overrides])
    return str(caught.value)


@pytest.fixture(scope="module")
def stack():
    return compose([*TBR, "seeds=[0,1,2]"])


def test_runs_of_one_seed_are_hashed_as_before_there_were_stacks():
    for path in (Path(sparseid.papers.sparling.__file__).parent / "measured").glob(
        "small-digitcircle-sparling_mt-seed*.json"
    ):
        row = json.loads(path.read_text())["rows"][0]
        run = compose(["experiment=digitcircle", "scale=small", f"seed={row['seed']}"])
        assert (run_name(run), recipe_hash(run)) == (row["run"], row["recipe"])
        assert "seeds" not in semantic_settings(run)


def test_the_seeds_of_a_stack_take_the_place_of_the_seed(stack):
    assert semantic_settings(stack)["seeds"] == [0, 1, 2]
    assert "seed" not in semantic_settings(stack)
    other = compose([*TBR, "seeds=[0,1,3]"])
    alone = compose([*TBR, "seeds=[]"])
    assert len({run_hash(run) for run in (stack, other, alone)}) == 3
    assert len({recipe_hash(run) for run in (stack, other, alone)}) == 1
    assert (member_seeds(stack), member_seeds(alone)) == ([0, 1, 2], [0])


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([], "seed0"),
        ([4], "seeds4"),
        ([0, 1, 2], "seeds0to2"),
        ([5, 6], "seeds5to6"),
        ([1, 4, 7], "seeds1_4_7"),
        ([2, 1], "seeds2_1"),
        ([0, 2, 4, 6, 8, 10], "6seeds"),
    ],
)
def test_seeds_are_short_in_a_runs_name(stack, seeds, text):
    run = copy.deepcopy(stack)
    run.seeds = seeds
    assert seeds_text(run) == text
    assert run_name(run) == f"treesimulation-tbr-S1-{text}-{run_hash(run)}"


def test_a_stack_is_frozen_and_read_back(stack):
    assert parse_run_config(run_config_text(stack), "text") == stack


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (("seeds=[1,1]",), "seeds contains a seed twice"),
        (("seeds=[-1,0]",), "seeds must be at least 0"),
        (("seed=3",), r"write seeds=[3]"),
        (("seeds=[a]",), "seeds"),
    ],
)
def test_seeds_that_cannot_be_are_refused(overrides, text):
    assert text in message(*overrides)


def test_a_method_of_one_seed_per_run_refuses_a_stack():
    with pytest.raises(ConfigError, match=r"sparling trains one seed per run: sweep over seeds with seed=0,1,2"):
        compose(["scale=smoke", "seeds=[0,1]"])


def test_a_method_refuses_the_data_of_another(stack):
    mixed = dataclasses.replace(stack, method=compose(["scale=smoke"]).method, seeds=[])
    [problem] = problems(mixed)
    assert problem.text.startswith("sparling cannot be trained on tree_simulation")


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("data.S=6", "data.S"),
        ("data.S=-1", "data.S"),
        ("data.depth=0", "data.depth"),
        ("data.depth=13", "data.depth"),
        ("data.samples=3", "data.samples"),
        ("data.observed=roots", "data.observed"),
        ("data.map=relu", "data.map"),
        ("data.changes=dense", "data.changes"),
        ("data.pi=1.5", "data.pi"),
        ("data.delta_std=-1", "data.delta_std"),
        ("data.noise_std_z=nan", "data.noise_std_z"),
        ("data.latents=0", "data.latents"),
        ("data.features=0", "data.features"),
        ("method.variant=base", "method.variant"),
        ("method.estimator=em", "method.estimator"),
        ("method.penalty=l0", "method.penalty"),
        ("method.latent_norm=layer", "method.latent_norm"),
        ("method.latents=0", "method.latents"),
        ("method.hidden=[64,0]", "method.hidden"),
        ("method.slope=-0.1", "method.slope"),
        ("method.penalty_weight=-1", "method.penalty_weight"),
        ("method.penalty_weight=inf", "method.penalty_weight"),
        ("method.lr=0", "method.lr"),
        ("trainer.batch_size=281", "trainer.batch_size"),
        ("trainer.devices=2", "trainer.devices"),
    ],
)
def test_settings_of_tbr_that_cannot_work_name_their_key(override, key):
    assert f"{key} = " in message(override)


def test_the_baseline_has_no_second_stage():
    assert "method.estimator=two_stage needs" in message("method.variant=baseline", "method.estimator=two_stage")


@pytest.mark.parametrize(
    ("overrides", "hint"),
    [
        (["method.estimator=warm_start"], "method.warm_up_samples must be above 0"),
        (["method.warm_up_samples=80"], "and 0 for the other estimators"),
        (["method.estimator=warm_start", "method.warm_up_samples=39"], "between the first and the last batch"),
        (["method.estimator=warm_start", "method.warm_up_samples=1680"], "between the first and the last batch"),
        (
            ["method.estimator=warm_start", "method.warm_up_samples=80", "method.latent_norm=batchnorm"],
            "would undo the rotation",
        ),
    ],
)
def test_a_warm_start_ends_within_the_training_and_has_latents_that_can_be_rotated(overrides, hint):
    assert hint in message(*overrides)
    compose([*TBR, "method.estimator=warm_start", "method.warm_up_samples=80"])


def test_a_single_sample_has_no_scale():
    assert "at least two samples" in message("trainer.batch_size=1")
    compose([*TBR, "trainer.batch_size=1", "method.latent_norm=none"])
