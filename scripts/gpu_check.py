"""Check a machine in ten minutes: step times, stacks, several devices, numbers against the CPU's (make gpu-check).

    python scripts/gpu_check.py                          # the presets of scale=paper
    python scripts/gpu_check.py --minutes 3 --experiments digitcircle ddl/table1

Writes outputs/gpu_check.json, whose step times make plan takes for its estimates. What does not work or was not reached
in time is listed there, and ends nothing else.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sparseid.files import write_json
from sparseid.launching.estimate import CHECKED, Cost, read_costs
from sparseid.launching.machine import cores, gpus
from sparseid.papers.presets import preset_recipes, recorded_presets
from sparseid.printing import protect_output
from sparseid.training.rows import Row, read_rows

ROOT = Path(__file__).parents[1]
COSTS = [sys.executable, str(ROOT / "scripts" / "costs.py")]
RUN = [sys.executable, str(ROOT / "run.py"), "hydra/launcher=basic"]
STACKS = ("ddl/table5", "regcl/table1", "sparse_vae/fig3", "tbr/fig4")
"""Experiments whose stacks are timed, one a method."""
COMPARED: dict[str, tuple[str, ...]] = {
    "digitcircle": ("seed=0",),
    "regcl/table1": ("data.latents=4", "method.training=hybrid", "method.penalty_weight=0.1"),
    "ddl/table4": ("data.latents=3",),
    "sparse_vae/fig3": ("data.rho=0.0",),
    "tbr/fig4": ("data.S=1", "method.variant=tbr"),
}
"""Experiments whose numbers at smoke are compared with the CPU's, one a method -> settings that leave few runs."""
SHARES = {"numbers": 0.2, "devices": 0.1, "stacks": 0.2, "steps": 0.5}
"""Parts, in their order -> share of the time that each may take; what one leaves is for the next."""


class Clock:
    """Time that is left to the parts of the check."""

    def __init__(self, seconds: float) -> None:
        self.start, self.seconds, self.granted = time.monotonic(), seconds, 0.0

    def begin(self, part: str) -> None:
        """Grant a part its share of the time."""
        self.granted += SHARES[part] * self.seconds
        print(f"{part}: at most {self.left:.0f} s", flush=True)

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    @property
    def left(self) -> float:
        """Seconds left to the present part."""
        return max(self.granted - self.spent, 0.0)


class Call(NamedTuple):
    """Outcome of a command."""

    problem: str
    """Its last error; empty without one."""
    errors: list[str]
    """Its error messages."""
    ended: bool
    """False if it was stopped or not even begun, for want of time."""


def call(command: Sequence[str], limit_s: float) -> Call:
    """Run a command for at most some seconds."""
    if limit_s < 1:
        return Call("not reached in time", [], ended=False)
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    try:
        said, _ = process.communicate(timeout=limit_s)
        ended = True
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        ended = False
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    if not ended:
        return Call(f"stopped after {limit_s:.0f} s", errors, ended)
    if process.returncode == 0:
        return Call("", errors, ended)
    return Call((errors or lines or [f"exit code {process.returncode}"])[-1], errors, ended)


def experiments(scale: str) -> list[str]:
    """Return the experiments with a preset at a scale, one of those that share all their runs; no data of one's own."""
    seen: set[str] = set()
    found = []
    for experiment, of_scale in sorted(recorded_presets()):
        if of_scale != scale or experiment.endswith("/arrays"):
            continue
        recipes = preset_recipes(experiment, scale)
        if not recipes <= seen:
            found.append(experiment)
        seen |= recipes
    return found


def timed(
    names: Sequence[str], arguments: argparse.Namespace, clock: Clock, *settings: str
) -> tuple[dict[str, Cost], dict[str, str], Call]:
    """Return the measured costs by experiment, the problems of others, and the outcome of the whole."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "costs.json"
        command = [*COSTS, "--experiment", *names, "--scale", arguments.scale, "--costs", str(file), "--warm-up", "3"]
        for option in ("steps", "items", "longest"):
            command += [f"--{option}", str(getattr(arguments, option))]
        done = call([*command, *settings, *arguments.settings], clock.left)
        costs = {cost.experiment: cost for cost in (read_costs(file) if file.exists() else [])}
    said = dict(line.split(": ", 1) for line in done.errors if ": " in line)
    return costs, {name: said[name] for name in names if name in said}, done


def steps(names: Sequence[str], arguments: argparse.Namespace, clock: Clock) -> tuple[list[Cost], dict[str, str]]:
    """Return the costs of the experiments' steps, and what went wrong by experiment."""
    costs: list[Cost] = []
    problems: dict[str, str] = {}
    todo = list(names)
    while todo:
        measured, failed, done = timed(todo, arguments, clock)
        costs += measured.values()
        problems |= failed
        todo = [name for name in todo if name not in measured and name not in failed]
        if todo and not done.ended:
            problems |= dict.fromkeys(todo, "not reached in time")
            break
        if todo:  # the process has ended at this one, for want of memory or by an error of the driver
            problems[todo.pop(0)] = done.problem
    for name in names:
        print(f"  {name}: {problems.get(name) or next(f'{c.step_s:.4g} s' for c in costs if c.experiment == name)}")
    return costs, problems


def stacks(names: Iterable[str], arguments: argparse.Namespace, clock: Clock) -> dict[str, dict[str, Any]]:
    """Return the seconds of a step of stacks by experiment and members, or what went wrong."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        found[name] = {}
        for members in arguments.members:
            seeds = f"seeds=[{','.join(map(str, range(members)))}]"
            measured, failed, done = timed([name], arguments, clock, seeds)
            found[name][str(members)] = measured[name].step_s if measured else failed.get(name, done.problem)
        print(f"  {name}: {', '.join(f'{m} members {s}' for m, s in found[name].items())}", flush=True)
    return found


def devices(count: int, arguments: argparse.Namespace, clock: Clock) -> dict[str, Any]:
    """Return the largest difference between the numbers of a run on all devices and on one, or what went wrong."""
    if count < 2:
        return {"skipped": f"{count} GPUs"}
    of_all, of_one = (
        rows_of("digitcircle", (*COMPARED["digitcircle"], f"trainer.devices={n}"), arguments, clock) for n in (count, 1)
    )
    return {"devices": count, **compared(of_all, of_one)}


def numbers(names: Iterable[str], arguments: argparse.Namespace, clock: Clock) -> dict[str, dict[str, Any]]:
    """Return the largest difference of each experiment's numbers at smoke to those of the CPU, or what went wrong."""
    found = {}
    for name in names:
        here, on_cpu = (
            rows_of(name, (*COMPARED[name], *settings), arguments, clock) for settings in ((), ("trainer=cpu",))
        )
        found[name] = compared(here, on_cpu)
        print(f"  {name}: {found[name]}", flush=True)
    return found


def rows_of(experiment: str, settings: Sequence[str], arguments: argparse.Namespace, clock: Clock) -> list[Row] | str:
    """Return the rows of an experiment's runs at smoke, or what went wrong."""
    with tempfile.TemporaryDirectory() as place:
        command = [*RUN, f"experiment={experiment}", "scale=smoke", f"outputs={place}", *settings]
        if problem := call(command, clock.left).problem:
            return problem
        return [row for path in sorted(Path(place).glob("smoke/*/*/result.json")) for row in read_rows(path)]


def compared(ours: list[Row] | str, theirs: list[Row] | str) -> dict[str, Any]:
    """Return the largest difference of two lists of rows, relative to the larger number, and the metric with it."""
    if isinstance(ours, str):
        return {"problem": ours}
    if isinstance(theirs, str):
        return {"problem": theirs}
    mine, other = ({name_of(row): row.value for row in rows if row.metric != "seconds"} for rows in (ours, theirs))
    if mine.keys() != other.keys():
        return {"problem": "other numbers were measured"}
    pairs = {name: (value, other[name]) for name, value in mine.items()}
    differences = {
        name: abs(a - b) / max(abs(a), abs(b), 1e-12)
        for name, (a, b) in pairs.items()
        if a is not None and b is not None
    }
    worst = max(differences, key=lambda name: differences[name], default=None)
    if worst is None:
        return {"problem": "no numbers"}
    return {"numbers": len(differences), "largest_relative_difference": differences[worst], "of": " ".join(worst)}


def name_of(row: Row) -> tuple[str, ...]:
    """Return what a number is of: metric, seed and keys."""
    return (row.metric, f"seed={row.seed}", *sorted(f"{key}={value}" for key, value in row.keys.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", help="further settings of all timed runs, such as trainer=cpu")
    parser.add_argument("--minutes", type=float, default=10.0, help="time for all of it (default: 10)")
    parser.add_argument("--longest", type=float, default=90.0, help="seconds for one step time (default: 90)")
    parser.add_argument(
        "--scale", choices=["smoke", "small", "paper"], default="paper", help="scale of the timed runs (default: paper)"
    )
    parser.add_argument("--experiments", nargs="+", help="the timed ones (default: all with a preset at the scale)")
    parser.add_argument("--stacks", nargs="*", default=list(STACKS), help=f"default: {' '.join(STACKS)}")
    parser.add_argument("--members", nargs="+", type=int, default=[1, 10, 100], help="of stacks (default: 1 10 100)")
    parser.add_argument("--compared", nargs="*", default=list(COMPARED), help=f"default: {' '.join(COMPARED)}")
    parser.add_argument("--steps", type=int, default=20, help="timed steps of a run (default: 20)")
    parser.add_argument("--items", type=int, default=64, help="items of the test that is timed (default: 64)")
    parser.add_argument("--output", type=Path, default=Path("outputs") / CHECKED, help="the file to write")
    arguments = parser.parse_intermixed_args()
    clock, found = Clock(60 * arguments.minutes), gpus()
    report: dict[str, Any] = {
        "devices": found or ["cpu"],
        "cores": cores(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "costs": [],
    }

    def save(**parts: Any) -> None:
        report.update(parts, seconds=round(clock.spent, 1))
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.output, report)  # after each part: an interrupted check keeps the others

    clock.begin("numbers")
    save(numbers=numbers(arguments.compared, arguments, clock))
    clock.begin("devices")
    save(all_devices=devices(len(found), arguments, clock))
    clock.begin("stacks")
    save(stacks=stacks(arguments.stacks, arguments, clock))
    clock.begin("steps")
    costs, problems = steps(arguments.experiments or experiments(arguments.scale), arguments, clock)
    entries = [{name: value for name, value in asdict(cost).items() if value is not None} for cost in costs]
    save(costs=entries, problems=problems)
    print(f"{arguments.output}: {len(costs)} step times, {len(problems)} not measured, {clock.spent:.0f} s")
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
