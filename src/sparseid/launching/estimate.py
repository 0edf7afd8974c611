"""How long a run takes: from whole runs with the same settings, else from measured step times, else unknown."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from sparseid.config.identity import cell_keys, recipe_hash
from sparseid.config.schema import RunConfig, TrainerConfig
from sparseid.files import write_text
from sparseid.launching.machine import gpus
from sparseid.training.run_folder import RunFolder

COSTS = Path(__file__).with_name("costs.json")
"""What was measured and is kept in git: written by ``scripts/costs.py``."""


@dataclass(frozen=True)
class WholeRun:
    """A run that was made to its end: training samples until it ended, seconds of training and of all its tests."""

    samples: int
    train_s: float
    test_s: float


@dataclass(frozen=True)
class Cost:
    """What the runs of one recipe cost on one kind of device.

    Parameters
    ----------
    experiment, scale, recipe
        Whose settings were measured; `recipe` as in `config.identity.recipe_hash`.
    device, world_size
        Name of the device (``cpu`` or a GPU's name) and how many of them train one run.
    keys
        Of the cell that was measured, as in `config.identity.cell_keys`.
    step_s
        Seconds of one optimiser step, its share of the validations in it; None where only whole runs are known.
    test_s
        Seconds of all tests of a run that goes all the way; None as for `step_s`.
    whole_runs
        Runs made to their end.
    made_with
        Provenance: threads, torch, commit, date, load, note.
    """

    experiment: str
    scale: str
    recipe: str
    device: str
    world_size: int = 1
    keys: Mapping[str, Any] = field(default_factory=dict)
    step_s: float | None = None
    test_s: float | None = None
    whole_runs: tuple[WholeRun, ...] = ()
    made_with: dict[str, Any] | None = None

    @property
    def machine(self) -> str:
        """Name of the device, how many where there are several: ``2 x cpu``."""
        return machine_name(self.device, self.world_size)


@dataclass(frozen=True)
class Estimate:
    """Seconds that a run still takes.

    Parameters
    ----------
    seconds
        None if nothing comparable was ever measured.
    at_most
        True if only the cap on training samples is known, and the method may stop before it.
    basis
        What was measured, in words; empty if nothing was or nothing is left.
    """

    seconds: float | None
    at_most: bool = False
    basis: str = ""


NOTHING_LEFT = Estimate(0.0)
UNKNOWN = Estimate(None)


def machine_name(device: str, world_size: int) -> str:
    """Return the name of a device, or of several that train one run together."""
    return device if world_size == 1 else f"{world_size} x {device}"


def machine_here(trainer: TrainerConfig) -> str:
    """Return the name of what a run would be trained on if it began here, as in `Cost.machine`.

    ``gpu`` stands for a GPU that is asked for and that this machine does not have.
    """
    wants_gpu = trainer.accelerator in ("gpu", "cuda")
    name = _gpu_name() if wants_gpu or trainer.accelerator == "auto" else None
    return machine_name(name or ("gpu" if wants_gpu else "cpu"), trainer.devices)


@cache
def _gpu_name() -> str | None:
    """Name of the first GPU as torch writes it; None without one."""
    if not (found := gpus()):
        return None
    command = ["nvidia-smi", f"--id={found[0]}", "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


class Estimator:
    """Estimates runs from what was measured.

    The nearest measurement counts: the same recipe before the preset's other cells, this machine before another, a cell
    with more keys in common before one with fewer, a run in the folder of runs before what is kept in git. Settings
    that are no preset's are unknown until one such run is done.

    Parameters
    ----------
    costs
        In the order in which they are preferred.
    """

    def __init__(self, costs: Iterable[Cost]):
        self.costs = list(costs)

    def left(self, run: RunConfig, trained: int = 0) -> Estimate:
        """Return what a run still takes.

        Parameters
        ----------
        run
            A checked configuration.
        trained
            Training samples it has behind it.
        """
        machine, recipe = machine_here(run.trainer), recipe_hash(run)
        known = [cost for cost in self.costs if cost.recipe == recipe]
        same = bool(known)
        if not same and recipe in (of_preset := _preset_recipes(run)):
            known = [cost for cost in self.costs if cost.recipe in of_preset]
        if not known:
            return UNKNOWN
        keys = cell_keys(run).items()

        def distance(cost: Cost) -> tuple[bool, int]:
            return cost.machine != machine, -len(keys & cost.keys.items())

        cost = min(known, key=distance)
        if not same:
            near = [other for other in known if (other.machine, distance(other)) == (cost.machine, distance(cost))]
            cost = replace(cost, whole_runs=tuple(whole for other in near for whole in other.whole_runs))
        cap = run.trainer.max_samples
        if cost.whole_runs:
            seconds, at_most = _from_whole_runs(cost.whole_runs, trained, cap)
            basis = "1 whole run" if len(cost.whole_runs) == 1 else f"{len(cost.whole_runs)} whole runs"
        elif cost.step_s is not None and cost.test_s is not None:
            steps = max(cap - trained, 0) // run.trainer.batch_size
            seconds, at_most, basis = steps * cost.step_s + cost.test_s, True, "step time"
        else:
            return UNKNOWN
        return Estimate(seconds, at_most, f"{basis} on {cost.machine}" + ("" if same else ", other settings"))


def _preset_recipes(run: RunConfig) -> frozenset[str]:
    """Return the recipes of the preset's cells: a cell without a measurement of its own is like the others."""
    from sparseid.papers.presets import preset_recipes  # pandas: only where it is needed

    return preset_recipes(run.experiment, run.scale, Path(run.outputs))


def _from_whole_runs(runs: Sequence[WholeRun], trained: int, cap: int) -> tuple[float, bool]:
    """Return seconds left and whether they are a bound: median over the runs that went beyond `trained` samples.

    No run is thought to go beyond its own `cap`.
    """
    longer = [run for run in runs if run.samples > trained]
    if longer:
        return statistics.median(
            (min(run.samples, cap) - trained) * run.train_s / run.samples + run.test_s for run in longer
        ), False
    per_sample = statistics.median(run.train_s / run.samples for run in runs)
    return max(cap - trained, 0) * per_sample + statistics.median(run.test_s for run in runs), True


def read_costs(path: Path = COSTS) -> list[Cost]:
    """Return the costs kept in a file."""
    entries = json.loads(path.read_text(encoding="utf-8"))["costs"]
    return [Cost(**{**entry, "whole_runs": tuple(WholeRun(**run) for run in entry["whole_runs"])}) for entry in entries]


def write_costs(costs: Iterable[Cost], path: Path = COSTS) -> None:
    """Add costs to a file, each in the place of an older one of the same recipe, scale and machine.

    Whole runs known from the older one stay.
    """
    kept = {(cost.recipe, cost.scale, cost.machine): cost for cost in (read_costs(path) if path.exists() else [])}
    for cost in costs:
        key = cost.recipe, cost.scale, cost.machine
        whole_runs = cost.whole_runs or (kept[key].whole_runs if key in kept else ())
        kept[key] = replace(cost, whole_runs=whole_runs)
    ordered = sorted(kept.values(), key=lambda cost: (cost.experiment, cost.scale, cost.machine, cost.recipe))
    text = json.dumps({"costs": [asdict(cost) for cost in ordered]}, indent=2, allow_nan=False)
    write_text(path, text + "\n")


def costs_of_runs(outputs: Path, scale: str) -> Iterator[Cost]:
    """Yield what the done runs of a scale cost, from the ``timing.json`` in their folders: one cost per recipe."""
    found: dict[tuple[str, str, int], list[WholeRun]] = {}
    keys: dict[str, Mapping[str, Any]] = {}
    for path in sorted(outputs.glob(f"{scale}/*/*/timing.json")):
        folder = RunFolder(path.parent)
        row = _first_row(folder) if folder.state == "done" else None
        if row is None or folder.path.name.startswith("."):
            continue
        recipe, keys[recipe] = row
        try:
            timing = json.loads(path.read_text(encoding="utf-8"))
            whole = WholeRun(int(timing["samples"]), float(timing["train_s"]), float(timing["test_s"]))
            machine = str(timing["device"]), int(timing["world_size"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # an estimate can do without it
        if whole.samples > 0:
            found.setdefault((recipe, *machine), []).append(whole)
    for (recipe, device, world_size), runs in found.items():
        yield Cost("", scale, recipe, device, world_size, keys[recipe], whole_runs=tuple(runs))


def _first_row(folder: RunFolder) -> tuple[str, Mapping[str, Any]] | None:
    """Recipe and keys of a done run, from the first row of its ``result.json``: the file has a line per row."""
    try:
        with folder.result.open(encoding="utf-8") as file:
            file.readline()
            row = json.loads(file.readline().rstrip().rstrip(","))
            return str(row["recipe"]), dict(row["keys"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
