import pytest

from sparseid.config.compose import compose
from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory, run_name, semantic_settings
from sparseid.config.parents import parent_run, parent_settings
from sparseid.config.sweep import plan

SMOKE = ("experiment=digitcircle", "scale=smoke")
RETRAINED = (*SMOKE, "method.training=retrained", "trainer.max_samples=512", "method.retrained.source_samples=4096")


def test_most_runs_need_none():
    assert parent_run(compose([*SMOKE])) is None
    assert not any(parent_run(trial.run) for trial in plan(["experiment=tbr/fig3", "scale=smoke"]).trials)


def test_retrained_needs_the_run_that_is_otherwise_the_same():
    source = parent_run(compose([*RETRAINED, "seed=4", "method.encoder.width=4", "force=true"]))
    same = compose([*SMOKE, "seed=4", "method.encoder.width=4"])
    assert semantic_settings(source) == semantic_settings(same)
    assert run_directory(source) == run_directory(same)
    assert not source.force
    assert parent_run(source) is None


def test_samples_are_those_of_this_run_where_nothing_is_said():
    cfg = compose([*SMOKE, "method.training=retrained"])
    assert parent_settings(cfg)["trainer.max_samples"] == 4096


def test_where_weights_are_taken_is_part_of_a_runs_identity():
    names = {run_name(compose([*RETRAINED, *more])) for more in ([], ["method.retrained.steps_above=1"])}
    assert len(names) == 2


def test_a_plan_of_one_run_makes_the_needed_one_first():
    planned = plan(RETRAINED)
    assert [trial.run.method.training for trial in planned.trials] == ["sparling", "retrained"]
    assert planned.swept == ("method.training",)
    source, retrained = planned.trials
    assert source.run == parent_run(retrained.run)
    assert compose(list(source.overrides)).method == source.run.method, "also for a launcher that composes by itself"


def test_a_sweep_makes_every_needed_run_once_and_before():
    trials = plan([*RETRAINED, "seed=0,1", "method.retrained.steps_above=0,1"]).trials
    training = [(trial.run.seed, trial.run.method.training) for trial in trials]
    assert training == [(seed, how) for seed in (0, 1) for how in ("sparling", "retrained", "retrained")]


def test_a_run_that_is_asked_for_is_moved_and_not_repeated():
    variants = f"variants=['{' '.join(RETRAINED[2:])}','']"
    planned = plan([*SMOKE, variants, "seed=0,1"])
    assert planned.swept == ("variants", "seed")
    assert [trial.run.method.training for trial in planned.trials] == ["sparling", "retrained"] * 2
    assert [trial.variants for trial in planned.trials] == [("",), (" ".join(RETRAINED[2:]),)] * 2


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["method.training=again"], "method.training must be sparling or retrained or direct"),
        (["method.sparse.kind=l2"], "method.sparse.kind must be threshold or l1 or kl"),
        (["method.sparse.penalty_weight=0.1"], "a threshold has no penalty"),
        (["method.sparse.kind=l1", "method.sparse.penalty_weight=-1"], "penalty_weight must be at least 0"),
        (["method.sparse.kind=kl", "method.training=direct"], "has no sparse layer"),
        (["method.retrained.steps_above=1"], "method.retrained has no effect here"),
        (["method.training=retrained", "method.schedule.target_fall_per_sample=0"], "would never cut"),
        (["method.training=retrained", "method.retrained.source_samples=3"], "not even one batch"),
        (["method.evaluation.perturbed_items=-1"], "perturbed_items must be at least 0"),
    ],
)
def test_what_variants_cannot_be_is_refused(overrides, words):
    with pytest.raises(ConfigError, match=words):
        compose([*SMOKE, *overrides])
