"""Measure the costs of a run on this machine: a few training steps, a slice of validation and of test (make costs).

Writes src/sparseid/launching/costs.json, from which make plan estimates runs. Commit this file.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch

from sparseid.config.choices import scales
from sparseid.config.identity import recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.config.sweep import plan
from sparseid.errors import ConfigError, InputError
from sparseid.launching.estimate import COSTS, Cost, write_costs
from sparseid.printing import protect_output
from sparseid.streams import Streams
from sparseid.training import environment
from sparseid.training.build import build_data, build_module, build_trainer
from sparseid.training.preemption import Preemption
from sparseid.training.recipe import quieten
from sparseid.training.run_folder import RunFolder
from sparseid.training.runtime import prepare_runtime
from sparseid.training.seeding import seed_everything

BLOCKS = 5
"""Number of blocks of timed steps; the fastest counts, which excludes busy moments of the machine."""


class Clock(pl.Callback):
    """Recorder of the end time of each step, after all work on the device has finished; stops after some steps."""

    def __init__(self, steps: int) -> None:
        self.steps, self.ends = steps, list[float]()

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Record the time."""
        self.ends.append(now(pl_module.device))
        trainer.should_stop = len(self.ends) >= self.steps


def begin_at(trainer: pl.Trainer, step: int) -> None:
    """Let a training begin at a step, as if it were resumed: penalties and phases that begin late are then on."""
    loop = trainer.fit_loop.epoch_loop
    loop.automatic_optimization.optim_progress.optimizer.step.total.completed = step
    loop.manual_optimization.optim_step_progress.total.completed = step


def now(device: torch.device) -> float:
    """Return the time in seconds, once the device has finished its work.

    With one CPU thread it is processor time, which excludes other processes on the machine.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.process_time() if processor_time(device) else time.perf_counter()


def processor_time(device: torch.device) -> bool:
    """Return whether one thread does all the work."""
    return device.type == "cpu" and torch.get_num_threads() == 1


def measure(cfg: RunConfig, warm_up: int, steps: int, items: int) -> Cost:
    """Return the costs of a run of `cfg`, timed in the middle of its training.

    Parameters
    ----------
    cfg
        A checked configuration.
    warm_up, steps
        Numbers of untimed and of timed training steps.
    items
        Number of test items; validation uses about as many.
    """
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        folder.checkpoints.mkdir()
        quieten()
        prepare_runtime(cfg.trainer)
        seed_everything(Streams(cfg.seed).integer("init"))
        data: Any = build_data(cfg)
        module: Any = build_module(cfg, data)
        trainer = build_trainer(cfg, folder, Preemption())
        begin_at(trainer, min(trainer.max_steps // 2, max(trainer.max_steps - warm_up - steps, 0)))
        clock = Clock(warm_up + steps)
        trainer.callbacks.append(clock)  # type: ignore[attr-defined]
        trainer.limit_val_batches = 0
        trainer.fit(module, datamodule=data)
        step_s = per_step(clock.ends, warm_up)
        device = trainer.strategy.root_device
        period, most_items = data.train_dataloader().length, module.most_test_items

        validate = 0.0
        if validated(data):
            batches, batch_items = validation_set(data)
            trainer.limit_val_batches = slice_of = min(max(items // batch_items, 1), batches)
            part = seconds(lambda: trainer.validate(module, datamodule=data, verbose=False), device)
            validate = part * batches / slice_of
        tested = partial(trainer.test, module, datamodule=data, verbose=False)
        test = test_seconds(tested, data, items, most_items, device)
    made_with = environment.describe(cfg.seed, str(device))
    return Cost(
        experiment=cfg.experiment,
        scale=cfg.scale,
        recipe=recipe_hash(cfg),
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        world_size=trainer.world_size,
        step_s=round(step_s + validate / period, 6),
        test_s=round(test, 3),
        made_with={
            "timed": f"{steps} steps, fastest of {BLOCKS} blocks; {items}, {2 * items} test items, faster of two times",
            "threads": torch.get_num_threads(),
            "clock": "processor time" if processor_time(device) else "wall time",
            "cores": os.cpu_count(),
            "load": round(load, 1),
            "torch": torch.__version__,
            "commit": made_with["commit"],
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        },
    )


def per_step(ends: list[float], warm_up: int) -> float:
    """Return the seconds of one step, from the fastest block of steps."""
    timed = ends[warm_up - 1 :]
    size = max((len(timed) - 1) // BLOCKS, 1)
    starts = range(0, len(timed) - size, size)
    return min((timed[start + size] - timed[start]) / size for start in starts)


def validated(data: Any) -> bool:
    """Return whether trainings on the data are validated."""
    overridden = type(data).val_dataloader is not pl.LightningDataModule.val_dataloader
    return overridden and len(data.val_dataloader()) > 0


def validation_set(data: Any) -> tuple[int, int]:
    """Return the batches of the validation set and the items of each."""
    loader = data.val_dataloader()
    return len(loader), len(next(iter(loader)).inputs)


def test_seconds(work: Callable[[], object], data: Any, items: int, most: int, device: torch.device) -> float:
    """Return the seconds of a test of `most` items, from one of `items` and one of twice as many.

    What does not depend on the items, such as maps of training samples, counts once.
    """
    times = []
    for number in (items, 2 * items):
        data.test_items = number
        times.append(seconds(work, device))
    of_one = max(times[1] - times[0], 0.0) / items
    return times[0] + of_one * max(most - items, 0)


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Return the duration of `work`, the faster of two times."""

    def once() -> float:
        start = now(device)
        work()
        return now(device) - start

    return min(once(), once())


@contextmanager
def within(longest: float) -> Iterator[None]:
    """Raise a RuntimeError in what takes longer than some seconds; 0 for any number."""

    def stop(*_: object) -> None:
        raise RuntimeError(f"not measured within {longest:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("overrides", nargs="*", help="further settings; they also choose the run")
    parser.add_argument(
        "--experiment", nargs="+", default=["digitcircle"], help="the first run of the sweep of each is measured"
    )
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], help="default: all of its scales")
    parser.add_argument("--steps", type=int, default=100, help="timed steps (default: 100)")
    parser.add_argument("--warm-up", type=int, default=10, help="steps before them (default: 10)")
    parser.add_argument("--items", type=int, default=256, help="items of the test that is timed (default: 256)")
    parser.add_argument("--longest", type=float, default=0.0, help="seconds for one of several (default: any number)")
    parser.add_argument("--costs", type=Path, default=COSTS, help="the file to write")
    arguments = parser.parse_intermixed_args()
    failed = 0
    for experiment in arguments.experiment:
        try:
            for scale in [arguments.scale] if arguments.scale else scales(experiment):
                trials = plan([f"experiment={experiment}", f"scale={scale}", *arguments.overrides]).trials
                with within(arguments.longest):
                    cost = measure(trials[0].run, max(arguments.warm_up, 1), arguments.steps, arguments.items)
                write_costs([cost], arguments.costs)
                print(
                    f"{cost.experiment}, {scale} on {cost.machine}: {cost.step_s:.4g} s a step with its fraction of "
                    f"validation, {cost.test_s:.4g} s for all tests",
                    flush=True,
                )
        except (InputError, RuntimeError, OSError, ValueError) as error:  # no data, too little memory: others go on
            print(f"error: {experiment}: {error}", file=sys.stderr, flush=True)
            failed = max(failed, 2 if isinstance(error, ConfigError) else 1)
    return failed


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
