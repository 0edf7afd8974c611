"""``scripts/costs.py`` measures a preset, and its estimate is about what the run then takes."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sparseid.config.compose import compose
from sparseid.launching.estimate import Estimator, read_costs

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "costs.py"


def load():
    spec = importlib.util.spec_from_file_location("costs_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def costs(monkeypatch):
    """Run the script with arguments, in this process; return its exit code."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
        return load().main()

    return run


def test_smoke_scale_is_measured(tmp_path, costs, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "costs.json"
    options = ["--scale", "smoke", "--steps", "10", "--items", "64", "--costs", str(file), "trainer=cpu"]
    assert costs(*options) == 0
    (cost,) = read_costs(file)
    assert (cost.experiment, cost.scale, cost.machine) == ("digitcircle", "smoke", "cpu")
    assert 0 < cost.step_s < 60
    assert 0 < cost.test_s < 600
    assert cost.made_with["clock"] in ("processor time", "wall time")
    left = Estimator([cost]).left(compose(["experiment=digitcircle", "scale=smoke", "trainer=cpu"]))
    assert left.seconds == pytest.approx(4096 / 32 * cost.step_s + cost.test_s)
    assert list(tmp_path.iterdir()) == [file]


def test_a_method_without_validation_is_measured(tmp_path, costs):
    file = tmp_path / "costs.json"
    options = ["--experiment", "ddl/table6", "--scale", "smoke", "--steps", "5", "--items", "32", "--costs", str(file)]
    assert costs(*options, "trainer=cpu") == 0
    (cost,) = read_costs(file)
    assert 0 < cost.step_s < 60


def test_mistake_is_refused(costs, capsys):
    assert costs("trainer.max_sample=3") == 2
    assert "did you mean: trainer.max_samples" in capsys.readouterr().err


def test_the_fastest_block_of_steps_counts():
    ends = [0.0, 10.0, 11.0, 12.0, 16.0, 20.0, 21.5, 23.0, 24.0, 25.0, 30.0, 35.0]  # two steps to warm up, ten timed
    assert load().per_step(ends, warm_up=2) == pytest.approx(1.0)
    assert load().per_step([0.0, 3.0, 5.0], warm_up=1) == pytest.approx(2.0)


def test_items_that_testing_takes_at_most():
    from sparseid.training.build import build_data, build_module

    for scale, items in (
        ("smoke", 3 * 64 + 2 * 8 + 3 * 5 * 64),  # densities, exchanges tried, densities without and with four bins
        ("small", 10_000 + 16 * 2_000 + 2 * 1_000 + 5 * 5 * 2_000),
    ):
        cfg = compose(["experiment=digitcircle", f"scale={scale}"])
        assert build_module(cfg, build_data(cfg)).most_test_items == items


@pytest.mark.parametrize("overrides", [["experiment=regcl/table1", "data.latents=4"], ["experiment=ddl/table1"]])
def test_steps_are_timed_in_the_middle_of_a_training(overrides, monkeypatch):
    from sparseid.training.build import build_data, build_module

    cfg = compose([*overrides, "scale=smoke", "trainer=cpu"])
    steps = cfg.trainer.max_samples // cfg.trainer.batch_size
    kind = type(build_module(cfg, build_data(cfg)))
    step, seen = kind.training_step, []

    def watched(module, batch, batch_idx):
        seen.append(module.global_step)
        return step(module, batch, batch_idx)

    monkeypatch.setattr(kind, "training_step", watched)
    load().measure(cfg, warm_up=1, steps=2, items=8)
    first = min(steps // 2, steps - 3)
    assert first > 0
    assert seen == [first, first + 1, first + 2]


def test_a_slice_of_the_test_of_data_with_known_factors_is_measured(tmp_path, costs):
    file = tmp_path / "costs.json"
    options = ["--experiment", "sparse_vae/fig3", "--scale", "smoke", "--steps", "2", "--items", "8"]
    assert costs(*options, "--costs", str(file), "trainer=cpu") == 0
    assert [cost.experiment for cost in read_costs(file)] == ["sparse_vae/fig3"]


def test_what_a_test_does_once_counts_once(monkeypatch):
    script, data = load(), SimpleNamespace(test_items=0)
    monkeypatch.setattr(script, "seconds", lambda work, device: 5.0 + 0.1 * data.test_items)
    assert script.test_seconds(None, data, 10, 1000, None) == pytest.approx(105.0)
    assert script.test_seconds(None, data, 10, 4, None) == pytest.approx(6.0)
