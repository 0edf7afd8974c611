"""Estimates of the duration of runs: from finished runs with the same settings, else from step times, else unknown."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sparseid.config.identity import recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.files import write_text
from sparseid.launching.machine import gpus
from sparseid.papers.presets import preset_recipes
from sparseid.text import parsed_json
from sparseid.training.errors import RunError
from sparseid.training.rows import read_rows
from sparseid.training.run_folder import RunFolder

COSTS = Path(__file__).with_name("costs.json")
"""Recorded costs, written by ``scripts/costs.py``."""
CHECKED = "gpu_check.json"
"""Costs of the user's own machine below ``outputs``, written by ``scripts/gpu_check.py``."""


@dataclass(frozen=True)
class Cost:
    """Measured duration of a finished run, or of single steps."""

    experiment: str
    scale: str
    recipe: str
    """As in `config.identity.recipe_hash`."""
    device: str
    """``cpu`` or the name of a GPU."""
    world_size: int = 1
    """Number of devices of one run."""
    step_s: float = 0.0
    """Seconds of one optimiser step, including its fraction of the validations."""
    test_s: float = 0.0
    """Seconds of all tests."""
    steps: int | None = None
    """Steps of the finished run; None if only single steps were measured."""
    made_with: dict[str, Any] | None = None
    """Provenance: threads, torch, commit, date, load, note."""

    @property
    def machine(self) -> str:
        """Name of the device, with the number of them if there are several: ``2 x cpu``."""
        return self.device if self.world_size == 1 else f"{self.world_size} x {self.device}"


@dataclass(frozen=True)
class Estimate:
    """Remaining time of a run."""

    seconds: float | None
    """None if unknown."""
    at_most: bool = False
    """True if `seconds` assumes the maximal number of training samples, although the method may stop earlier."""
    basis: str = ""
    """The measurements, in words."""


NOTHING_LEFT = Estimate(0.0)
UNKNOWN = Estimate(None)


class Estimator:
    """Estimates of runs from costs of the same recipe, else from those of other runs of the same preset.

    Costs of the same type of device have priority, then finished runs over step times. Runs without a preset are
    unknown until one with their settings is done.
    """

    def __init__(self, costs: Iterable[Cost]):
        self.costs = list(costs)
        self._recipes = cache(preset_recipes)  # a preset's runs share them

    def left(self, run: RunConfig, trained: int = 0) -> Estimate:
        """Return the remaining time of a run after `trained` training samples."""
        recipe = recipe_hash(run)
        known, note = [cost for cost in self.costs if cost.recipe == recipe], ""
        if not known and recipe in (of_preset := self._recipes(run.experiment, run.scale, Path(run.outputs))):
            known, note = [cost for cost in self.costs if cost.recipe in of_preset], ", other settings"
        if not known:
            return UNKNOWN
        here = run.trainer.devices, _uses_gpu(run)
        best = min(known, key=lambda cost: ((cost.world_size, cost.device != "cpu") != here, cost.steps is None))
        alike = [cost for cost in known if (cost.machine, cost.steps is None) == (best.machine, best.steps is None)]

        most, begun = (samples // run.trainer.batch_size for samples in (run.trainer.max_samples, trained))
        longer = [cost for cost in alike if cost.steps is not None and cost.steps > begun]
        if longer:
            left = ((min(cost.steps or 0, most) - begun) * cost.step_s + cost.test_s for cost in longer)
            seconds = statistics.median(left)
        else:
            step_s, test_s = (statistics.median(getattr(cost, name) for cost in alike) for name in ("step_s", "test_s"))
            seconds = max(most - begun, 0) * step_s + test_s
        runs = "1 whole run" if len(alike) == 1 else f"{len(alike)} whole runs"
        return Estimate(seconds, not longer, f"{'step time' if best.steps is None else runs} on {best.machine}{note}")


def _uses_gpu(run: RunConfig) -> bool:
    """Return whether a run that starts here would use a GPU."""
    return run.trainer.accelerator in ("gpu", "cuda") or (run.trainer.accelerator == "auto" and bool(gpus()))


def read_costs(path: Path = COSTS) -> list[Cost]:
    """Return the costs in a file."""
    return [Cost(**entry) for entry in parsed_json(path.read_text(encoding="utf-8"))["costs"]]


def costs_of_check(outputs: Path) -> list[Cost]:
    """Return the costs that were measured on the user's machine; none if it was not checked."""
    path = outputs / CHECKED
    return read_costs(path) if path.is_file() else []


def write_costs(costs: Iterable[Cost], path: Path = COSTS) -> None:
    """Add step times to a file, replacing those of the same recipe, scale and machine but not finished runs."""
    known = [*(read_costs(path) if path.exists() else []), *costs]
    found = {(cost.experiment, cost.scale, cost.machine, cost.recipe, cost.steps or 0): cost for cost in known}
    entries = [
        {name: value for name, value in asdict(found[key]).items() if value is not None} for key in sorted(found)
    ]
    write_text(path, json.dumps({"costs": entries}, indent=2, allow_nan=False) + "\n")


def costs_of_runs(outputs: Path, scale: str) -> Iterator[Cost]:
    """Yield the costs of the finished runs of a scale, from ``timing.json`` and the rows in their folders."""
    for path in sorted(outputs.glob(f"{scale}/*/[!.]*/timing.json")):
        folder = RunFolder(path.parent)
        if (folder.read_status() or {}).get("state") != "done":
            continue
        try:
            recipe = read_rows(folder.result)[0].recipe
            timing = parsed_json(path.read_text(encoding="utf-8"))
            steps, device, world_size = int(timing["steps"]), str(timing["device"]), int(timing["world_size"])
            step_s, test_s = float(timing["train_s"]) / steps, float(timing["test_s"])
        except (RunError, OSError, ValueError, LookupError, TypeError, ZeroDivisionError):
            continue  # not needed for an estimate
        yield Cost("", scale, recipe, device, world_size, step_s, test_s, steps)
