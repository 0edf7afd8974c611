"""Estimates for known measurements."""

import pytest

from sparseid.config.identity import recipe_hash
from sparseid.config.search_path import CONFIGS
from sparseid.config.sweep import plan
from sparseid.launching import estimate
from sparseid.launching.estimate import Cost, Estimator, costs_of_runs, read_costs, write_costs
from sparseid.papers.presets import preset_recipes

SMALL = "experiment=digitcircle", "scale=small"  # 491,520 samples at most, 32 a step
ANY = {"experiment": "digitcircle", "scale": "small"}


@pytest.fixture
def cost(config):
    """A cost of the small recipe on this machine, or with other fields."""
    return lambda **fields: Cost(**{"recipe": recipe_hash(config(*SMALL)), "device": "cpu", **ANY, **fields})


@pytest.fixture
def runs(cost):
    """Three finished runs of 96,000, 192,000 and 288,000 samples."""
    return [
        cost(steps=steps, step_s=train_s / steps, test_s=test_s)
        for steps, train_s, test_s in ((3000, 200.0, 20.0), (6000, 300.0, 30.0), (9000, 600.0, 40.0))
    ]


def test_whole_runs_give_their_median_duration(config, runs):
    left = Estimator(runs).left(config(*SMALL, "seed=7"))
    assert left.seconds == pytest.approx(330.0)  # of 220, 330, 640
    assert not left.at_most
    assert left.basis == "3 whole runs on cpu"


def test_a_run_that_is_partly_trained_takes_the_rest_only(config, runs):
    left = Estimator(runs[1:]).left(config(*SMALL), trained=144_000)
    assert left.seconds == pytest.approx((1500 * 0.05 + 30 + 4500 * 600 / 9000 + 40) / 2)


def test_a_run_longer_than_all_before_it_is_bounded_by_its_cap(config, runs):
    left = Estimator(runs).left(config(*SMALL), trained=400_000)
    assert left.seconds == pytest.approx(2860 * 600 / 9000 + 30.0)  # median rate, median test
    assert left.at_most


@pytest.mark.parametrize(("trained", "steps"), [(0, 15360), (320_000, 5360), (600_000, 0)])
def test_step_times_say_at_most(config, cost, trained, steps):
    left = Estimator([cost(step_s=0.1, test_s=60.0)]).left(config(*SMALL), trained)
    assert left.seconds == pytest.approx(steps * 0.1 + 60)
    assert left.at_most
    assert left.basis == "step time on cpu"


def test_the_same_machine_comes_first_then_finished_runs(config, cost, runs):
    far = cost(device="NVIDIA H100", steps=3000, step_s=0.01, test_s=1.0)
    single = cost(step_s=1.0, test_s=1.0)
    assert Estimator([far, single, runs[0]]).left(config(*SMALL)).seconds == pytest.approx(220.0)
    assert Estimator([far, single]).left(config(*SMALL)).basis == "step time on cpu"
    elsewhere = Estimator([far]).left(config(*SMALL))
    assert elsewhere.seconds == pytest.approx(31.0)
    assert elsewhere.basis == "1 whole run on NVIDIA H100"


def test_several_devices_are_another_machine(config, cost, runs):
    four = config(*SMALL, "trainer.devices=4", "trainer.strategy=ddp")
    left = Estimator([runs[0], cost(world_size=4, steps=9000, step_s=0.1, test_s=1.0)]).left(four)
    assert (left.seconds, left.basis) == (pytest.approx(901.0), "1 whole run on 4 x cpu")


def test_a_gpu_is_another_machine(config, cost, runs, monkeypatch):
    gpu = cost(device="NVIDIA H100", steps=3000, step_s=0.01, test_s=1.0)
    estimator = Estimator([runs[0], gpu])

    def bases():
        asked = (config(*SMALL, f"trainer.accelerator={name}") for name in ("cpu", "auto", "gpu"))
        return [estimator.left(run).basis.removeprefix("1 whole run on ") for run in asked]

    monkeypatch.setattr(estimate, "gpus", list)
    assert bases() == ["cpu", "cpu", "NVIDIA H100"]
    monkeypatch.setattr(estimate, "gpus", lambda: ["0"])
    assert bases() == ["cpu", "NVIDIA H100", "NVIDIA H100"]


def test_what_was_never_measured_stays_unknown(config, runs):
    assert Estimator([]).left(config(*SMALL)).seconds is None
    estimator = Estimator(runs)
    assert estimator.left(config(*SMALL, "method.encoder.width=8")).seconds is None  # no trial of the preset
    assert estimator.left(config("experiment=digitcircle", "scale=paper")).seconds is None


def test_trials_of_one_preset_are_alike(config, cost, monkeypatch):
    first, second, third = (config(*SMALL, f"method.encoder.width={width}") for width in (8, 12, 16))
    recipes = frozenset(recipe_hash(run) for run in (first, second, third))
    monkeypatch.setattr("sparseid.launching.estimate.preset_recipes", lambda experiment, scale, outputs: recipes)
    costs = [
        cost(recipe=recipe_hash(first), steps=1000, step_s=0.2, test_s=20.0),
        cost(recipe=recipe_hash(second), steps=1000, step_s=0.3, test_s=30.0),
    ]
    assert Estimator(costs).left(first).seconds == pytest.approx(220.0)  # its own
    left = Estimator(costs).left(third)
    assert (left.seconds, left.basis) == (pytest.approx((220.0 + 330.0) / 2), "2 whole runs on cpu, other settings")


def test_a_shorter_trial_of_a_preset_takes_no_longer_than_its_cap(config, runs, monkeypatch):
    shorter = config(*SMALL, "trainer.max_samples=48000")
    recipes = frozenset(recipe_hash(run) for run in (config(*SMALL), shorter))
    monkeypatch.setattr("sparseid.launching.estimate.preset_recipes", lambda experiment, scale, outputs: recipes)
    assert Estimator(runs[:1]).left(shorter).seconds == pytest.approx(100.0 + 20.0)


def test_done_runs_give_costs(tmp_path, pretend, config):
    timings = [{"steps": 3125, "train_s": 200.0, "test_s": 20.0}, {"steps": 2, "train_s": 3.0, "test_s": 4.0}]
    for seed, timing in enumerate(timings):
        pretend(*SMALL, f"seed={seed}", timing=timing)
    pretend(*SMALL, "seed=2", state="preempted", timing=timings[0])  # not whole
    pretend(*SMALL, "seed=3", timing={"steps": 5})  # not readable
    pretend(*SMALL, "seed=4")  # made before there was timing
    expected = {"recipe": recipe_hash(config(*SMALL)), "device": "cpu", "experiment": "", "scale": "small"}
    assert sorted(costs_of_runs(tmp_path, "small"), key=lambda cost: cost.step_s) == [
        Cost(**expected, step_s=0.064, test_s=20.0, steps=3125),
        Cost(**expected, step_s=1.5, test_s=4.0, steps=2),
    ]
    assert list(costs_of_runs(tmp_path, "smoke")) == []


def test_costs_are_written_in_the_place_of_older_ones(tmp_path, cost, runs):
    file = tmp_path / "costs.json"
    write_costs([cost(step_s=2.0, test_s=1.0), *runs, cost(device="NVIDIA H100", step_s=0.1)], file)
    write_costs([cost(step_s=1.0, test_s=1.0, made_with={"torch": "2"})], file)
    gpu, cpu, *whole = read_costs(file)
    assert gpu == cost(device="NVIDIA H100", step_s=0.1)
    assert cpu == cost(step_s=1.0, test_s=1.0, made_with={"torch": "2"})
    assert whole == runs


def test_costs_kept_in_git_can_be_read_and_say_what_they_were_made_with():
    costs = read_costs()
    assert {cost.scale for cost in costs if cost.experiment == "digitcircle"} == {"smoke", "small", "paper"}
    for cost in costs:
        assert cost.step_s > 0
        assert cost.test_s > 0
        assert {"threads", "torch", "commit", "date", "timed", "clock", "load"} <= set(cost.made_with)


def test_every_cost_that_is_kept_is_of_a_preset_of_today():
    """An edited preset is another recipe: what it costs is to be measured again (scripts/costs.py), the old removed."""
    stale = [
        (cost.experiment, cost.scale, cost.recipe)
        for cost in read_costs()
        if cost.recipe not in preset_recipes(cost.experiment, cost.scale)
    ]
    assert not stale


@pytest.mark.parametrize(
    "experiment",
    sorted({path.stem for path in (CONFIGS / "experiment" / "sparling").glob("*.yaml")} - {"arrays"}),  # of any data
)
def test_how_long_the_small_runs_of_sparling_take_is_known(experiment):
    estimator = Estimator(read_costs())
    runs = [trial.run for trial in plan([f"experiment=sparling/{experiment}", "scale=small"]).trials]
    assert runs
    assert all(estimator.left(run).seconds is not None for run in runs)
