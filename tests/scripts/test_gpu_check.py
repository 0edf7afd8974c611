"""``scripts/gpu_check.py`` measures what it can, lists what it cannot, and is read by the plan."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from sparseid.config.compose import compose
from sparseid.launching.estimate import CHECKED, costs_of_check
from sparseid.launching.plan import _planner
from sparseid.training.rows import Row

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_check.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("gpu_check", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(value, **changes):
    fields = {"run": "r", "paper": "p", "scale": "smoke", "keys": {}, "seed": 0, "metric": "mse", "value": value}
    fields |= {"unit": "", "n": 1, "commit": "a" * 40, "dirty": False, "recipe": "0" * 8, "device": "cpu"}
    return Row(**fields | {"written": "2026-05-01T10:00:00+00:00"} | changes)


def test_what_works_is_measured_and_the_rest_is_listed(tmp_path, script, monkeypatch, capsys):
    output = tmp_path / CHECKED
    options = ["--minutes", "20", "--scale", "smoke", "--steps", "5", "--items", "8", "--output", str(output)]
    names = ["--experiments", "ddl/nothing", "digitcircle", "sparling/fig12"]
    parts = ["--compared", "--stacks", "ddl/table5", "--members", "2"]
    settings = ["trainer=cpu", "trainer.threads=1", "trainer.max_samples=512"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *settings, *options, *names, *parts])
    assert script.main() == 0
    found = json.loads(output.read_text())
    assert [cost["experiment"] for cost in found["costs"]] == ["digitcircle", "sparling/fig12"]
    assert all(0 < cost["step_s"] < 60 for cost in found["costs"])
    assert "does not exist" in found["problems"]["ddl/nothing"]
    assert 0 < found["stacks"]["ddl/table5"]["2"] < 60
    assert found["numbers"] == {}
    assert "2 step times, 1 not measured" in capsys.readouterr().out

    run = compose(["experiment=digitcircle", "scale=smoke", f"outputs={tmp_path}", *settings])
    left = _planner("smoke", tmp_path)(run).left
    (cost,) = [cost for cost in costs_of_check(tmp_path) if cost.experiment == "digitcircle"]
    assert left.seconds == pytest.approx(512 / 32 * cost.step_s + cost.test_s)
    assert costs_of_check(tmp_path / "elsewhere") == []


def test_numbers_of_two_devices_are_compared_by_name(script):
    ours = [row(1.0), row(3.0, metric="mcc"), row(5.0, seed=1), row(9.0, metric="seconds"), row(None, metric="r2")]
    theirs = [row(5.0, seed=1), row(2.0, metric="mcc"), row(1.0), row(1.0, metric="seconds"), row(None, metric="r2")]
    found = script.compared(ours, theirs)
    assert found == {"numbers": 3, "largest_relative_difference": pytest.approx(1 / 3), "of": "mcc seed=0"}
    assert script.compared(ours, theirs[:-1]) == {"problem": "other numbers were measured"}
    assert script.compared("no GPU", theirs) == {"problem": "no GPU"}


def test_a_command_is_stopped_in_time_and_its_error_is_told(script):
    sleeps = [sys.executable, "-c", "import time; print('error: a: b', flush=True); time.sleep(600)"]
    assert script.call(sleeps, 1.5) == ("stopped after 2 s", ["a: b"], False)
    assert script.call(sleeps, 0.5) == ("not reached in time", [], False)
    fails = [sys.executable, "-c", "raise SystemExit('error: no room')"]
    assert script.call(fails, 60) == ("no room", ["no room"], True)
    assert script.call([sys.executable, "-c", "print(1)"], 60) == ("", [], True)


def test_a_process_that_is_killed_costs_one_experiment(script, monkeypatch):
    calls = []

    def timed(names, arguments, clock):
        calls.append(names)
        return {}, {"a": "no data"} if "a" in names else {}, script.Call("killed", [], ended=True)

    monkeypatch.setattr(script, "timed", timed)
    assert script.steps(["a", "b", "c"], None, None) == ([], {"a": "no data", "b": "killed", "c": "killed"})
    assert calls == [["a", "b", "c"], ["c"]]


def test_every_experiment_of_a_scale_but_those_on_ones_own_data_is_timed(script):
    names = script.experiments("paper")
    assert {"digitcircle", "ddl/fig9", "tbr/fig5b"} < set(names)
    assert not any(name.endswith("/arrays") for name in names)
    shared = {"regcl/table1", "regcl/table3", "regcl/table4", "regcl/table5", "regcl/fig2"}
    assert len(shared & set(names)) <= 1  # they have the same runs
