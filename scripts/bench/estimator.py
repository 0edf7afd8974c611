"""Fit of an estimator, from a csv file to its results, against the bare training loop of the same steps."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from timing import optimiser_steps, report

import sparseid
from sparseid.config.compose import compose
from sparseid.printing import protect_output
from sparseid.training.build import build_data, build_module
from sparseid.training.runtime import keep_freed_memory

ROWS, FEATURES, FACTORS = 10_000, 200, 10
NEVER = 50
"""Patience of an early stop that never comes: all validations are made, and all steps."""
TURNS = 2


def table() -> pd.DataFrame:
    """Return a table of noisy sparse factors."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(FACTORS, FEATURES)) * (rng.random((FACTORS, FEATURES)) < 0.2)
    return pd.DataFrame(rng.normal(size=(ROWS, FACTORS)) @ loadings + 0.1 * rng.normal(size=(ROWS, FEATURES)))


def bare_loop(file: Path) -> tuple[Callable[[], None], int]:
    """Return a function that performs all optimiser steps of the run that a fit makes, and their number."""
    words = [f"data.path={file}", "scale=small", "seeds=[]", "trainer=cpu", f"trainer.early_stop.patience={NEVER}"]
    run = compose(["experiment=sparse_vae/arrays", *words])
    data: Any = build_data(run)
    data.setup("fit")
    steps = run.trainer.max_samples // run.trainer.batch_size

    def loop() -> None:
        step = optimiser_steps(build_module(run, data), data)
        for _ in range(steps):
            step()

    return loop, steps


def fit(file: Path) -> None:
    """Read the file, fit, and transform it."""
    frame = pd.read_csv(file)
    sparseid.SparseVAE(patience=NEVER, device="cpu").fit(frame).transform(frame)


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    keep_freed_memory()
    turns: dict[str, list[float]] = {"bare loop": [], "fit": []}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table().to_csv(file, index=False)
        loop, steps = bare_loop(file)
        for _ in range(TURNS):
            for name, work in (("bare loop", loop), ("fit", lambda: fit(file))):
                start = time.process_time()
                work()
                turns[name].append(time.process_time() - start)
    times = {name: statistics.median(of_turns) for name, of_turns in turns.items()}
    ratio = times["fit"] / times["bare loop"]
    lines = [f"SparseVAE().fit of a csv file of {ROWS} x {FEATURES}, {steps} steps, processor seconds on one thread"]
    lines.append("  " + "   ".join(f"{name} {time:.1f}" for name, time in times.items()) + f"   ratio {ratio:.2f}")
    report("estimator", lines, times | {"ratio": ratio})
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
