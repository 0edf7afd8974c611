"""What a run takes, for known measurements."""

import subprocess

import pytest

from sparseid.config.choices import CONFIGS
from sparseid.config.identity import cell_keys, recipe_hash
from sparseid.config.sweep import plan
from sparseid.launching import estimate
from sparseid.launching.estimate import Cost, Estimator, WholeRun, costs_of_runs, machine_here, read_costs, write_costs
from sparseid.papers.presets import preset_recipes

SMALL = "experiment=digitcircle", "scale=small"  # 491,520 samples at most, 32 a step
RUNS = WholeRun(100_000, 200.0, 20.0), WholeRun(200_000, 300.0, 30.0), WholeRun(300_000, 600.0, 40.0)


@pytest.fixture
def cost(config):
    """A cost of the small recipe on this machine, or with other fields."""
    return lambda **fields: Cost(**{"recipe": recipe_hash(config(*SMALL)), "device": "cpu", **ANY, **fields})


ANY = {"experiment": "digitcircle", "scale": "small"}


def test_whole_runs_give_their_median_duration(config, cost):
    left = Estimator([cost(whole_runs=RUNS)]).left(config(*SMALL, "seed=7"))
    assert left.seconds == pytest.approx(330.0)  # of 220, 330, 640
    assert not left.at_most
    assert left.basis == "3 whole runs on cpu"


def test_a_run_that_is_partly_trained_takes_the_rest_only(config, cost):
    left = Estimator([cost(whole_runs=RUNS[1:])]).left(config(*SMALL), trained=150_000)
    assert left.seconds == pytest.approx(((50_000 * 1.5e-3 + 30) + (150_000 * 2e-3 + 40)) / 2)


def test_a_run_longer_than_all_before_it_is_bounded_by_its_cap(config, cost):
    left = Estimator([cost(whole_runs=RUNS)]).left(config(*SMALL), trained=400_000)
    assert left.seconds == pytest.approx(91_520 * 2e-3 + 30.0)  # median rate, median test
    assert left.at_most


@pytest.mark.parametrize(("trained", "steps"), [(0, 15360), (320_000, 5360), (600_000, 0)])
def test_step_times_say_at_most(config, cost, trained, steps):
    left = Estimator([cost(step_s=0.1, test_s=60.0)]).left(config(*SMALL), trained)
    assert left.seconds == pytest.approx(steps * 0.1 + 60)
    assert left.at_most
    assert left.basis == "step time on cpu"


def test_nearest_measurement_counts(config, cost):
    far = cost(device="NVIDIA H100", whole_runs=(WholeRun(100_000, 10.0, 1.0),))
    here, later = cost(whole_runs=RUNS[:1]), cost(step_s=1.0, test_s=1.0)
    assert Estimator([far, here, later]).left(config(*SMALL)).seconds == pytest.approx(220.0)
    elsewhere = Estimator([far]).left(config(*SMALL))
    assert elsewhere.seconds == pytest.approx(11.0)
    assert elsewhere.basis == "1 whole run on NVIDIA H100"


def test_several_devices_are_another_machine(config, cost):
    four = config(*SMALL, "trainer.devices=4", "trainer.strategy=ddp")
    left = Estimator([cost(whole_runs=RUNS[:1]), cost(world_size=4, whole_runs=RUNS[2:])]).left(four)
    assert (left.seconds, left.basis) == (640.0, "1 whole run on 4 x cpu")


def test_what_was_never_measured_stays_unknown(config, cost):
    assert Estimator([]).left(config(*SMALL)).seconds is None
    estimator = Estimator([cost(whole_runs=RUNS)])
    assert estimator.left(config(*SMALL, "method.encoder.width=8")).seconds is None  # no cell of the preset
    assert estimator.left(config("experiment=digitcircle", "scale=paper")).seconds is None
    assert Estimator([cost()]).left(config(*SMALL)).seconds is None  # an entry without numbers


def test_cells_of_one_preset_are_alike(config, cost, monkeypatch):
    first, second, third = (config(*SMALL, f"method.encoder.width={width}") for width in (8, 12, 16))
    recipes = frozenset(recipe_hash(run) for run in (first, second, third))
    monkeypatch.setattr("sparseid.papers.presets.preset_recipes", lambda experiment, scale, outputs: recipes)
    costs = [cost(recipe=recipe_hash(run), whole_runs=RUNS[i : i + 1]) for i, run in enumerate((first, second))]
    assert Estimator(costs).left(first).seconds == 220.0  # its own
    left = Estimator(costs).left(third)
    assert (left.seconds, left.basis) == ((220.0 + 330.0) / 2, "2 whole runs on cpu, other settings")


def test_a_shorter_cell_of_a_preset_takes_no_longer_than_its_cap(config, cost, monkeypatch):
    shorter = config(*SMALL, "trainer.max_samples=50000")
    recipes = frozenset(recipe_hash(run) for run in (config(*SMALL), shorter))
    monkeypatch.setattr("sparseid.papers.presets.preset_recipes", lambda experiment, scale, outputs: recipes)
    assert Estimator([cost(whole_runs=RUNS[:1])]).left(shorter).seconds == pytest.approx(100.0 + 20.0)


def test_the_cell_with_most_keys_in_common_counts(config, cost, monkeypatch):
    preset = "experiment=regcl/table1", "scale=smoke", "hydra.mode=RUN"
    runs = [config(*preset, f"method.training={training}", "data.latents=4") for training in ("supervised", "hybrid")]
    larger = config(*preset, "method.training=hybrid", "data.latents=6")
    recipes = frozenset(recipe_hash(run) for run in (*runs, larger))
    monkeypatch.setattr("sparseid.papers.presets.preset_recipes", lambda experiment, scale, outputs: recipes)
    costs = [
        cost(recipe=recipe_hash(run), keys=cell_keys(run), step_s=step, test_s=0.0)
        for run, step in zip(runs, (1.0, 2.0), strict=True)
    ]
    steps = larger.trainer.max_samples // larger.trainer.batch_size
    assert Estimator(costs).left(larger).seconds == 2.0 * steps
    assert Estimator(costs[:1]).left(larger).seconds == 1.0 * steps


def test_machine_here(config, monkeypatch):
    cpu, auto, gpu = (config(*SMALL, f"trainer.accelerator={name}").trainer for name in ("cpu", "auto", "gpu"))
    monkeypatch.setattr(estimate, "gpus", list)
    estimate._gpu_name.cache_clear()
    assert [machine_here(trainer) for trainer in (cpu, auto, gpu)] == ["cpu", "cpu", "gpu"]
    answer = subprocess.CompletedProcess([], 0, "NVIDIA H100\n")
    monkeypatch.setattr(estimate, "gpus", lambda: ["0"])
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    estimate._gpu_name.cache_clear()
    assert [machine_here(trainer) for trainer in (cpu, auto, gpu)] == ["cpu", "NVIDIA H100", "NVIDIA H100"]
    estimate._gpu_name.cache_clear()


def test_done_runs_give_costs_by_recipe(tmp_path, pretend, config):
    timings = [{"samples": 100_000, "train_s": 200.0, "test_s": 20.0}, {"samples": 2, "train_s": 3.0, "test_s": 4.0}]
    for seed, timing in enumerate(timings):
        pretend(*SMALL, f"seed={seed}", timing=timing)
    pretend(*SMALL, "seed=2", state="preempted", timing=timings[0])  # not whole
    pretend(*SMALL, "seed=3", timing={"samples": 5})  # not readable
    pretend(*SMALL, "seed=4")  # made before there was timing
    (found,) = costs_of_runs(tmp_path, "small")
    assert found.recipe == recipe_hash(config(*SMALL))
    assert (found.device, found.world_size) == ("cpu", 1)
    assert set(found.whole_runs) == {WholeRun(100_000, 200.0, 20.0), WholeRun(2, 3.0, 4.0)}
    assert list(costs_of_runs(tmp_path, "smoke")) == []


def test_costs_are_written_in_the_place_of_older_ones(tmp_path, cost):
    file = tmp_path / "costs.json"
    write_costs([cost(step_s=2.0, test_s=1.0, whole_runs=RUNS), cost(device="NVIDIA H100", step_s=0.1)], file)
    write_costs([cost(step_s=1.0, test_s=1.0, made_with={"torch": "2"})], file)
    gpu, cpu = read_costs(file)
    assert gpu == cost(device="NVIDIA H100", step_s=0.1)
    assert cpu == cost(step_s=1.0, test_s=1.0, whole_runs=RUNS, made_with={"torch": "2"})


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
    "experiment", sorted(path.stem for path in (CONFIGS / "experiment" / "sparling").glob("*.yaml"))
)
def test_how_long_the_small_runs_of_sparling_take_is_known(experiment):
    estimator = Estimator(read_costs())
    runs = [cell.run for cell in plan([f"experiment=sparling/{experiment}", "scale=small"]).cells]
    assert runs
    assert all(estimator.left(run).seconds is not None for run in runs)
