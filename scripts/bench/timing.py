"""Timing of the benchmarks: interleaved repetitions, median, and the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from sparseid.files import write_json
from sparseid.training.runtime import keep_freed_memory

OUT = Path("outputs/bench")


def seconds(
    work: dict[str, Callable[[], object]],
    repeats: int = 7,
    at_least: float = 0.2,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median seconds of one call of each piece of work.

    The pieces take turns, so that a busy moment of the machine affects all of them; each turn repeats its piece for
    about `at_least` seconds, with the process settings of a training. A `clock` of processor time
    (``time.process_time``) excludes other processes, including those started here.
    """
    keep_freed_memory()
    calls = {}
    for name, call in work.items():
        call()
        start = clock()
        call()
        calls[name] = max(1, round(at_least / max(clock() - start, 1e-6)))
    turns: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, call in work.items():
            start = clock()
            for _ in range(calls[name]):
                call()
            turns[name].append((clock() - start) / calls[name])
    return {name: statistics.median(times) for name, times in turns.items()}


def optimiser_steps(module: Any, data: Any) -> Callable[[], None]:
    """Return a function that performs the next optimiser step of a module on its next batch; the data are set up."""
    configured = module.configure_optimizers()
    optimiser = configured["optimizer"] if isinstance(configured, dict) else configured
    numbers = iter(range(10**9))

    def step() -> None:
        optimiser.zero_grad()
        output = module.training_step(data.training_batch(next(numbers)), 0)
        (output["loss"] if isinstance(output, dict) else output).backward()
        optimiser.step()

    return step


def report(name: str, lines: list[str], values: dict[str, Any]) -> None:
    """Print the lines and write the values to ``outputs/bench/<name>.json``."""
    print("\n".join(lines), "\n", flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "load": os.getloadavg()[0],
        "written": time.strftime("%Y-%m-%dT%H:%M:%S"),
    }
    write_json(OUT / f"{name}.json", json.loads(json.dumps(values)) | {"machine": machine})
