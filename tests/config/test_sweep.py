import shutil

import pytest

from sparseid.config.errors import ConfigError
from sparseid.config.search_path import CONFIGS
from sparseid.config.sweep import plan

SMOKE = "scale=smoke"
FIGURE = "experiment=sparling/fig3"


def seeds(*overrides):
    return [trial.run.seed for trial in plan([SMOKE, *overrides]).trials]


def message(*overrides, configs=CONFIGS):
    with pytest.raises(ConfigError) as caught:
        plan([SMOKE, *overrides], configs)
    return str(caught.value)


def test_one_run():
    planned = plan([SMOKE, "seed=3"])
    assert planned.swept == ()
    assert [trial.overrides for trial in planned.trials] == [(SMOKE, "seed=3")]


def test_preset_with_its_own_sweep_needs_no_flag():
    assert plan([SMOKE, FIGURE]).swept == ("seed",)
    assert seeds(FIGURE) == [0, 1]


def test_typed_values_replace_swept_ones():
    assert seeds(FIGURE, "seed=7") == [7]
    assert plan([SMOKE, FIGURE, "seed=7"]).swept == ("seed",)
    assert seeds(FIGURE, "seed=4,5,6") == [4, 5, 6]


def test_run_mode_asks_for_one_run():
    assert plan([SMOKE, FIGURE, "hydra.mode=RUN"]).swept == ()
    assert seeds(FIGURE, "hydra.mode=RUN") == [0]


def test_a_comma_or_a_range_sweeps():
    assert seeds("seed=2,1") == [2, 1]
    assert seeds("seed=range(0,3)") == [0, 1, 2]
    assert seeds("seed=0,1", "hydra.mode=MULTIRUN") == [0, 1]


def test_sweeps_multiply():
    trials = plan([SMOKE, FIGURE, "++method.encoder.width=4,8"]).trials
    assert [(trial.run.seed, trial.run.method.encoder.width) for trial in trials] == [(0, 4), (0, 8), (1, 4), (1, 8)]


def test_every_trial_is_checked_before_any_runs():
    text = message("seed=0,1,-1")
    assert "seed must be at least 0" in text
    assert "command line: seed=-1" in text


def test_swept_typo():
    assert "did you mean: seed" in message("sed=0,1")


@pytest.mark.parametrize(
    ("params", "wanted"), [("{sed: '0,1'}", "did you mean: seed"), ("{seed: '0,-1'}", "at least 0")]
)
def test_mistake_in_a_presets_sweep_is_blamed_on_the_preset(tmp_path, params, wanted):
    configs = shutil.copytree(CONFIGS, tmp_path / "configs")
    path = configs / "experiment/at/sparling/fig3.smoke.yaml"
    path.write_text(path.read_text().partition("hydra:")[0] + f"hydra: {{sweeper: {{params: {params}}}}}\n")
    text = message(FIGURE, configs=configs)
    assert wanted in text
    assert "hydra.sweeper.params of the preset" in text


@pytest.mark.parametrize("group", ["experiment", "scale", "method", "data"])
def test_sweep_over_what_decides_the_settings_is_refused_with_the_commands_to_use(group):
    text = message("seed=3", f"{group}=a,b")
    assert f"a command has one {group}" in text
    assert f"python run.py {group}=a scale=smoke seed=3" in text
    assert f"python run.py {group}=b scale=smoke seed=3" in text


@pytest.mark.parametrize(
    ("overrides", "wanted"),
    [
        (["seed=0,1", "hydra.mode=RUN"], "remove one of them"),
        (["method.optimizer.lr=interval(0,1)"], "no finite list of values"),
        (["hydra.sweeper.max_batch_size=1,2"], "sweeps over a setting of Hydra"),
    ],
)
def test_other_refused_sweeps(overrides, wanted):
    assert wanted in message(*overrides)


def test_trainers_may_be_swept():
    assert [trial.run.trainer.strategy for trial in plan([SMOKE, "trainer=single,ddp"]).trials] == ["auto", "ddp"]


# Keys that advance together


def pairs(*overrides):
    trials = plan([SMOKE, *overrides]).trials
    return [(trial.run.seed, trial.run.method.encoder.width, trial.run.data.canvas) for trial in trials]


def test_paired_keys_advance_together():
    assert pairs("seed=1,2", "method.encoder.width=4,8", "paired=[[seed,method.encoder.width]]") == [
        (1, 4, 40),
        (2, 8, 40),
    ]


def test_pairs_multiply_with_other_keys():
    swept = ["seed=1,2", "data.canvas=40,48", "method.encoder.width=4,8", "paired=[[method.encoder.width,seed]]"]
    assert pairs(*swept) == [(1, 4, 40), (1, 4, 48), (2, 8, 40), (2, 8, 48)]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["seed=1,2", "paired=[[seed,data.canvas]]"], ["data.canvas is not swept", "paired=[[seed,data.canvas]]"]),
        (["seed=1,2", "data.canvas=40,48,56", "paired=[[seed,data.canvas]]"], ["seed has 2, data.canvas has 3"]),
        (["seed=1,2", "paired=[[seed]]"], ["two keys or more"]),
        (["seed=1,2", "data.canvas=40,48", "paired=[seed,data.canvas]"], ["paired"]),
    ],
)
def test_impossible_pairs_are_refused(overrides, words):
    text = message(*overrides)
    assert all(word in text for word in words)


def test_pairs_do_not_change_the_run():
    from sparseid.config.identity import run_hash

    paired = plan([SMOKE, "seed=1,2", "data.canvas=40,48", "paired=[[seed,data.canvas]]"]).trials[0].run
    assert run_hash(paired) == run_hash(plan([SMOKE, "seed=1"]).trials[0].run)


def test_a_value_given_twice_is_one_run():
    assert seeds("seed=0,0,1") == [0, 1]


# Variants: the sweep, and again with other settings


def canvases(*overrides):
    return [(trial.variants, trial.run.seed, trial.run.data.canvas) for trial in plan([SMOKE, *overrides]).trials]


BASE_AND_WIDE = "variants=['','data.canvas=48']"


def test_each_variant_is_run_for_every_combination_of_the_sweep():
    base, wide = ("",), ("data.canvas=48",)
    expected = [(base, 0, 40), (base, 1, 40), (wide, 0, 48), (wide, 1, 48)]
    assert canvases("seed=0,1", BASE_AND_WIDE) == expected
    assert canvases(FIGURE, BASE_AND_WIDE) == expected
    assert plan([SMOKE, FIGURE, BASE_AND_WIDE]).swept == ("variants", "seed")


def test_variants_alone_are_a_sweep_and_change_several_settings_at_once():
    planned = plan([SMOKE, "variants=['','data.canvas=48 data.jitter=0']"])
    assert [(trial.run.data.canvas, trial.run.data.jitter) for trial in planned.trials] == [(40, 1), (48, 0)]
    assert planned.swept == ("variants",)


def test_values_of_a_variant_take_the_place_of_swept_ones_and_variants_share_runs():
    assert canvases("method.encoder.width=4", FIGURE, "variants=['','seed=1,2']") == [
        (("",), 0, 40),
        (("", "seed=1,2"), 1, 40),
        (("seed=1,2",), 2, 40),
    ]


def test_without_variants_trials_belong_to_none():
    assert canvases("variants=[]") == [((), 0, 40)]
    assert {trial.variants for trial in plan([SMOKE, FIGURE]).trials} == {()}


def test_a_variant_given_twice_is_one():
    assert len(canvases("variants=['data.canvas=48','  data.canvas=48 ']")) == 1


def test_a_run_is_that_of_its_settings_whichever_variant_asks_for_it():
    from sparseid.config.identity import run_hash

    _, wide = (trial.run for trial in plan([SMOKE, BASE_AND_WIDE]).trials)
    assert run_hash(wide) == run_hash(plan([SMOKE, "data.canvas=48"]).trials[0].run)
    assert wide.variants == []


def test_variants_of_a_preset(tmp_path):
    configs = shutil.copytree(CONFIGS, tmp_path / "configs")
    path = configs / "experiment/at/sparling/fig3.smoke.yaml"
    path.write_text(path.read_text() + 'variants: ["", data.canvas=48]\n')
    assert [trial.run.data.canvas for trial in plan([SMOKE, FIGURE], configs).trials] == [40, 40, 48, 48]
    assert len(plan([SMOKE, FIGURE, "variants=[]"], configs).trials) == 2
    assert len(plan([SMOKE, FIGURE, "hydra.mode=RUN"], configs).trials) == 1
    assert "variants=[] removes all variants" in message(FIGURE, "data.canvas=56", configs=configs)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["variants=['','data.canvsa=48']"], ["variants: data.canvsa=48", "did you mean: data.canvas"]),
        (["variants=['','data.canvas=3']"], ["the circle does not fit", "variants: data.canvas=3"]),
        (["variants=['','data.canvas']"], ["cannot read the override 'data.canvas'", "variants: data.canvas"]),
        (["variants=['','data.canvas=interval(0,1)']"], ["no finite list of values"]),
        (["variants=['','experiment=tbr/fig3']"], ["all runs of a command share experiment"]),
        (["variants=['','hydra.mode=RUN']"], ["all runs of a command share hydra.mode"]),
        (["variants=[[data.canvas]]"], ["not a text", "as they are typed"]),
        ([BASE_AND_WIDE, "data.canvas=40"], ["set by the variant 'data.canvas=48'", "command line: data.canvas=40"]),
        ([BASE_AND_WIDE, "hydra.mode=RUN"], ["remove one of them"]),
        (["seed=1,2", "data.canvas=40,48", "paired=[[seed,data.canvas]]", "variants=['data.jitter=0','seed=3']"],
         ["set by the variant 'seed=3'"]),
    ],
)  # fmt: skip
def test_impossible_variants_are_refused(overrides, words):
    text = message(*overrides)
    assert all(word in text for word in words)
