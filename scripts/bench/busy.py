"""Training steps beside other programs: how CPU threads wait for each other, as ratios within one run.

Threads of a parallel loop end at a barrier. By default they spin there for milliseconds; if another program has the
core of one of them, the others burn their cores until it is back. Every policy steps in a process of its own; they take
turns, first alone, then beside a program per core.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import Any

from timing import optimiser_steps, report

from sparseid.launching.machine import WAITING, cores
from sparseid.printing import protect_output

POLICIES: dict[str, dict[str, str]] = {
    "by default": {},
    "as in runs": WAITING,
    "asleep": {"OMP_WAIT_POLICY": "passive"},
}
"""Environment variables by policy."""
MODELS = {"digitcircle": 1, "sparse_vae/fig3": 10}
"""Presets, and training steps per turn."""
TURNS = 6


def work(experiment: str, steps: int) -> None:
    """Step a preset's model whenever a line arrives, and answer with the seconds."""
    import torch

    from sparseid.config.sweep import plan
    from sparseid.training.build import build_data, build_module
    from sparseid.training.runtime import keep_freed_memory

    keep_freed_memory()
    torch.set_num_threads(cores())
    run = plan([f"experiment={experiment}", "scale=small", "seed=0", "hydra.mode=RUN"]).trials[0].run
    data: Any = build_data(run)
    data.setup("fit")
    step = optimiser_steps(build_module(run, data), data)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(steps):
            step()
        print(time.perf_counter() - start, flush=True)


def measure(experiment: str, steps: int, others: int) -> dict[str, float]:
    """Return the median seconds of a turn of each policy beside `others` programs that are never idle."""
    spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
    workers: dict[str, subprocess.Popen[str]] = {
        policy: subprocess.Popen(
            [sys.executable, __file__, experiment, str(steps)],
            env={**{k: v for k, v in os.environ.items() if not k.startswith(("OMP", "GOMP", "KMP"))}, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for policy, variables in POLICIES.items()
    }
    seconds: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    try:
        for _ in range(TURNS):
            for policy, worker in workers.items():
                assert worker.stdin is not None
                assert worker.stdout is not None
                worker.stdin.write("\n")
                worker.stdin.flush()
                seconds[policy].append(float(worker.stdout.readline()))
    finally:
        everyone: list[subprocess.Popen[Any]] = [*spin, *workers.values()]
        for process in everyone:
            process.kill()
            process.wait()
    return {policy: statistics.median(turns[1:]) for policy, turns in seconds.items()}


def main() -> None:
    """Measure each model alone and beside a program per core."""
    lines: list[str] = [f"Load before: {os.getloadavg()[0]:.1f}"]
    values: dict[str, dict[str, float]] = {}
    lines.append(f"Speed of training on {cores()} threads, relative to the default alone")
    for experiment, steps in MODELS.items():
        alone = measure(experiment, steps, 0)
        busy = measure(experiment, steps, cores())
        for policy in POLICIES:
            here = {"alone": alone["by default"] / alone[policy], "busy": alone["by default"] / busy[policy]}
            lines.append(f"  {experiment:16s} {policy:11s} alone {here['alone']:5.2f}   busy {here['busy']:5.2f}")
            values[f"{experiment}, {policy}"] = here
    report("busy", lines, values)


if __name__ == "__main__":
    protect_output()
    if sys.argv[1:]:
        work(sys.argv[1], int(sys.argv[2]))
    else:
        main()
