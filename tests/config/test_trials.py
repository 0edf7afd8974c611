"""Trials filled in from values are the trials that composing each alone gives."""

import dataclasses

import pytest

from sparseid.config import trials
from sparseid.config.compose import compose
from sparseid.config.sweep import plan
from sparseid.errors import ConfigError

SMOKE = ["experiment=digitcircle", "scale=smoke"]


@pytest.fixture
def composed(monkeypatch):
    """Count the compositions of trials, beside that of what they share."""
    calls = []
    load = trials.load
    monkeypatch.setattr(trials, "load", lambda origins: calls.append(origins) or load(origins))
    return calls


def alone(planned):
    return [compose(trial.overrides) for trial in planned.trials]


@pytest.mark.parametrize(
    "swept",
    [
        ["seed=0,1,2"],
        ["method.optimizer.lr=1e-3,2e-3", "trainer.batch_size=16,32"],
        ["method.optimizer.betas=[0.9,0.99],[0.8,0.9]"],
        ["method.optimizer.lr=1,2"],  # integers become floats, as the schema says
        ["method.encoder.bf16=true,false", "data.jitter=0,1", "data.canvas=40,48"],
        ["trainer.precision=32,bf16-mixed"],  # the first is text, though it looks like a number
        ["force=true,false", "seed=range(3)"],
    ],
)
def test_values_are_filled_in_as_composed(swept, composed):
    planned = plan([*SMOKE, *swept])
    assert not composed
    assert [trial.run for trial in planned.trials] == alone(planned)


def test_variants_are_filled_into_a_first_one_without_settings_of_its_own(composed):
    variants = "variants=['','data.canvas=48','method.optimizer.lr=1 data.jitter=0','trainer=cpu','data.canvas=56']"
    planned = plan([*SMOKE, "seed=0,1", variants])
    assert len(composed) == 1  # what picks a group
    assert [trial.run for trial in planned.trials] == [dataclasses.replace(run, variants=[]) for run in alone(planned)]
    assert [trial.run.data.canvas for trial in planned.trials[::2]] == [40, 48, 40, 40, 56]


def test_what_the_first_variant_sets_is_no_others(composed):
    planned = plan([*SMOKE, "variants=['data.canvas=48','','data.canvas=56']"])
    assert [trial.run.data.canvas for trial in planned.trials] == [48, 40, 56]
    assert not composed


def test_runs_of_a_variant_that_picks_a_group_are_one_composition(composed):
    variants = "variants=['data.canvas=48','method.optimizer.lr=1 data.jitter=0','trainer=cpu method.optimizer.lr=2']"
    planned = plan([*SMOKE, variants, "seed=range(5)", "trainer.batch_size=16,32"])
    assert [trial.run for trial in planned.trials] == [dataclasses.replace(run, variants=[]) for run in alone(planned)]
    assert len(composed) == 1


@pytest.mark.parametrize(
    "swept", [["trainer=cpu,single"], ["++seed=0,1"], ["method.encoder={width:8},{width:16}"], ["logger=csv,wandb"]]
)
def test_what_is_no_plain_value_is_composed(swept, composed):
    planned = plan([*SMOKE, *swept])
    assert [trial.run for trial in planned.trials] == alone(planned)


def test_a_value_computed_from_another_is_composed(composed):
    planned = plan([*SMOKE, "trainer.max_samples=${seed}000", "seed=4,5"])
    assert [trial.run.trainer.max_samples for trial in planned.trials] == [4000, 5000]
    assert len(composed) == 2


@pytest.mark.parametrize(
    ("swept", "words"),
    [
        ("seed=0,-1", ["seed must be at least 0", "command line: seed=-1"]),
        ("seed=0,one", ["seed=one"]),
        ("method.encoder.widht=3,4", ["method.encoder.width"]),
        ("trainer.batch_size=32,512", ["check_every to a multiple", "command line: trainer.batch_size=512"]),
    ],
)
def test_a_trial_that_cannot_be_says_what_it_says_alone(swept, words):
    with pytest.raises(ConfigError) as caught:
        plan([*SMOKE, swept])
    assert all(word in str(caught.value) for word in words)


def test_trials_share_nothing():
    first, second = plan([*SMOKE, "seed=0,1"]).trials
    first.run.method.optimizer.betas[0] = 0.5
    assert second.run.method.optimizer.betas[0] == 0.9


def test_thousands_of_trials_need_no_composition(composed):
    planned = plan([*SMOKE, "seed=range(2000)"])
    assert [trial.run.seed for trial in planned.trials] == list(range(2000))
    assert not composed
