"""Callbacks of runs: training curves with a check of the loss, early stop, timing and progress."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import RichProgressBar

from sparseid.files import write_json, write_text
from sparseid.stacking import best
from sparseid.training.environment import device_name
from sparseid.training.errors import RunDiverged
from sparseid.training.processes import gather

LOG_EVERY = 50
"""Number of steps between two points of the training curves, and between two checks of the loss on a GPU."""

HEADER = "step,samples,name,value\n"


class StepCurves(pl.Callback):
    """Append training curves to ``metrics.csv``, one value a line, and stop the run if the loss is not finite.

    Every `LOG_EVERY` steps: ``loss`` (mean over those steps and all processes) and what the module logged in
    ``training_step``. After every validation: the values logged under names that begin with ``val``. The loss is
    summed on the device and read every `LOG_EVERY` steps, so that no step waits for the device or for another process;
    a single process on the CPU checks every step.

    Parameters
    ----------
    path
        The file; lines after the step at which training starts are removed, so that a resume duplicates no line.
    batch_size
        Training samples per step.
    say
        Called with a line if lines of the file were damaged, which are removed, too.
    """

    def __init__(self, path: Path, batch_size: int, say: Callable[[str], None]):
        self.path = path
        self.batch_size = batch_size
        self.say = say
        self.loss = math.nan
        self._sum: torch.Tensor | None = None  # of this process's losses in the current interval
        self._sums = torch.zeros(0)  # of all processes, at the last check
        self._count = 0
        self._step = self._checked = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Truncate the file to the step at which training starts."""
        self._step = self._checked = trainer.global_step
        if self._count:
            own = self._sums[trainer.global_rank] if len(self._sums) == trainer.world_size else self._sums.mean()
            self._sum = own.to(pl_module.device)
        if trainer.is_global_zero:
            lines, damaged = _lines_until(self.path, trainer.global_step)
            if damaged:
                self.say(f"damaged lines of {self.path.name} are left out: {damaged}")
            write_text(self.path, HEADER + "".join(lines))

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the loss of a step; check and write at the end of an interval."""
        loss = outputs["loss"] if isinstance(outputs, Mapping) else outputs
        if loss is None:  # manual optimisation without a returned loss
            return
        loss = loss.detach().float()
        self._sum = loss if self._sum is None else self._sum + loss
        self._count += 1
        self._step = trainer.global_step
        if self._step % LOG_EVERY == 0:
            sums = self.check(trainer)
            self.loss = float(sums.mean()) / self._count
            self._sum, self._count = None, 0
            logged = {k: v for k, v in trainer.callback_metrics.items() if not k.startswith("val")}
            self._write(trainer, {"loss": self.loss, **logged})
        elif loss.device.type == "cpu" and trainer.world_size == 1:
            self.check(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write the logged values of the validation."""
        self._write(trainer, {k: v for k, v in trainer.callback_metrics.items() if k.startswith("val")})

    def check(self, trainer: pl.Trainer) -> torch.Tensor:
        """Check the summed losses of the current interval and return them, one per process.

        Raises
        ------
        RunDiverged
            If one is not finite.
        """
        first, self._checked = self._checked + 1, self._step
        self._sums = torch.zeros(0) if self._sum is None else torch.stack(gather(trainer, self._sum.cpu()))
        if not torch.isfinite(self._sums).all():
            steps = f"step {first}" if first >= self._step else f"a step from {first} to {self._step}"
            raise RunDiverged(f"the loss is not finite at {steps}")
        return self._sums

    def _write(self, trainer: pl.Trainer, values: Mapping[str, Any]) -> None:
        if values and trainer.is_global_zero:
            step = trainer.global_step
            lines = [f"{step},{step * self.batch_size},{k},{float(v)!r}\n" for k, v in sorted(values.items())]
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(lines))

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the unfinished interval at the last :meth:`check`, with the sum of every process."""
        return {"sums": self._sums, "count": self._count}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume an unfinished interval."""
        self._sums, self._count = state_dict["sums"], state_dict["count"]


class EarlyStop(pl.Callback):
    """Keep the weights of each member's best validation, and stop once none has improved for some validations.

    After training the module has these weights; a member without a finite validation keeps its last ones. The state is
    part of checkpoints, so that a resumed run stops where an undisturbed one does.

    Parameters
    ----------
    patience
        Validations without improvement after which a member is stopped.
    say
        Called with a line if the training stops before its last step.
    """

    def __init__(self, patience: int, say: Callable[[str], None]):
        self.patience, self.say = patience, say
        self._members: best.EarlyStop | None = None
        self._weights: best.BestState | None = None
        self._restored: dict[str, Any] = {}

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Keep the weights of members that have improved; request the end if none may improve any more."""
        errors, state = pl_module.validation_errors, pl_module.state_dict()
        if not isinstance(errors, torch.Tensor):  # a penalty that is not used yet
            return
        if self._members is None or self._weights is None:
            self._members = best.EarlyStop(len(errors), self.patience).to(errors.device)
            self._weights = best.BestState(state)
            if self._restored:
                self._members.load_state_dict(self._restored["members"])
                self._weights.load_state_dict(self._restored["weights"])
        self._weights.keep(self._members.update(errors), state)
        if bool(self._members.stopped.all()) and trainer.global_step < trainer.max_steps:
            trainer.should_stop = True
            self.say(f"stopped at step {trainer.global_step}: no improvement in {self.patience} validations")

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Give the module the best weights, before the last checkpoint is saved."""
        if self._members is not None and self._weights is not None:
            self._weights.keep(torch.isinf(self._members.best), pl_module.state_dict())
            pl_module.load_state_dict(self._weights.tensors())

    def state_dict(self) -> dict[str, Any]:
        """Return the best errors, waiting times and weights of the members."""
        if self._members is None or self._weights is None:
            return self._restored
        return {"members": self._members.state_dict(), "weights": self._weights.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore them at the next validation, when the module is on its device."""
        self._restored = state_dict


class Timing(pl.Callback):
    """Measure the seconds of training and tests over all starts of a run, and write them to ``timing.json``.

    The file also has the seconds of data preparation in the last start: from the creation of this callback to the first
    step. Checkpoints store the seconds of training, so that the time of work lost by a killed process does not count.
    (Lightning's `Timer` also counts saving, and only the last test.) A start repeats unfinished tests; the last ones
    count.

    Parameters
    ----------
    path
        The file.
    batch_size
        Training samples per step.
    """

    def __init__(self, path: Path, batch_size: int):
        self.path = path
        self.batch_size = batch_size
        self.trained: dict[str, Any] = {"train_s": 0.0, "steps": 0, "world_size": 1}
        self.test_s = 0.0
        self.prepare_s = 0.0
        self._since = time.monotonic()

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Store the seconds of data preparation, since the creation of this callback, and start the clock."""
        now = time.monotonic()
        self.prepare_s, self._since = now - self._since, now
        self.trained["world_size"] = trainer.world_size

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Count the step, and the seconds since the end of the last one."""
        now = time.monotonic()
        self.trained["train_s"] += now - self._since
        self.trained["steps"] = trainer.global_step
        self._since = now

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Count the seconds of the validation, before a checkpoint is saved."""
        now = time.monotonic()
        self.trained["train_s"] += now - self._since
        self._since = now

    def on_test_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._since = time.monotonic()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write the file."""
        self._write(trainer)

    def on_test_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Count the seconds of the test and write the file."""
        self.test_s += time.monotonic() - self._since
        self._write(trainer)

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        """Write the file if possible."""
        with contextlib.suppress(OSError):
            self._write(trainer)

    def state_dict(self) -> dict[str, Any]:
        """Return seconds and steps of training so far."""
        return dict(self.trained)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore seconds and steps of training."""
        self.trained = dict(state_dict)

    def _write(self, trainer: pl.Trainer) -> None:
        if trainer.is_global_zero:
            content = {
                "device": device_name(trainer.strategy.root_device),
                "threads": torch.get_num_threads(),
                "world_size": self.trained["world_size"],
                "prepare_s": round(self.prepare_s, 3),
                "train_s": round(self.trained["train_s"], 3),
                "test_s": round(self.test_s, 3),
                "samples": self.trained["steps"] * self.batch_size,
                "steps": self.trained["steps"],
            }
            write_json(self.path, content)


def _lines_until(path: Path, step: int) -> tuple[list[str], int]:
    """Return the readable lines of a curve file up to and including `step`, and the number of those that are not.

    The last line is not counted if it has no end: a killed process leaves that.
    """
    if not path.exists():
        return [], 0
    content = path.read_bytes().removeprefix(HEADER.encode())
    kept, damaged = [], 0
    for line in content.split(b"\n")[:-1]:
        try:
            text = line.decode()
            if _step_of(text) <= step:
                kept.append(f"{text}\n")
        except ValueError:
            damaged += 1
    return kept, damaged


def _step_of(line: str) -> int:
    """Return the step of a line of a curve file; ValueError if it is damaged."""
    step, samples, _, value = line.split(",")
    return (int(step), int(samples), float(value))[0]


class Progress(pl.Callback):
    """Print the progress of the run as one plain line every `every_s` seconds.

    Parameters
    ----------
    say
        Called with the line.
    curves
        Source of the loss.
    max_samples, batch_size
        Maximum number of training samples, and training samples per step.
    every_s
        Seconds between two lines.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        curves: StepCurves,
        max_samples: int,
        batch_size: int,
        every_s: float = 30.0,
    ):
        self.say = say
        self.curves = curves
        self.max_samples = max_samples
        self.batch_size = batch_size
        self.every_s = every_s
        self._said_at = 0.0
        self._said_samples = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._said_at = time.monotonic()
        self._said_samples = trainer.global_step * self.batch_size

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Print a line if it is due."""
        self._training_line(trainer, pl_module)

    def on_validation_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Say it if it is time."""
        self._training_line(trainer, pl_module)

    def on_test_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int, *_: Any
    ) -> None:
        """Say it if it is time."""
        now = time.monotonic()
        if now - self._said_at >= self.every_s:
            self._said_at = now
            self.say(f"testing {100 * (batch_idx + 1) / trainer.num_test_batches[0]:.0f} %")

    def _training_line(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        now = time.monotonic()
        if now - self._said_at < self.every_s:
            return
        samples = trainer.global_step * self.batch_size
        rate = (samples - self._said_samples) / (now - self._said_at)
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        left = timedelta(seconds=int((self.max_samples - samples) / rate)) if rate > 0 else "?"
        loss = f"loss {self.curves.loss:.4g}, " if math.isfinite(self.curves.loss) else ""  # NaN until the first point
        note = getattr(pl_module, "progress_note", "")
        self.say(
            f"{100 * samples / self.max_samples:.1f} % of at most {self.max_samples:,} samples, {speed} samples/s, "
            f"{loss}at most {left} left" + (f", {note}" if note else "")
        )
        self._said_at, self._said_samples = now, samples


class OnceReady(pl.Callback):
    """Call `start` in the first process once ``metrics.csv`` is truncated, even if only the tests are left.

    Parameters
    ----------
    start
        Called once.
    """

    def __init__(self, start: Callable[[], None]):
        self.start = start
        self._called = False

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Call `start` the first time."""
        if trainer.is_global_zero and not self._called:
            self._called = True
            self.start()

    on_test_start = on_train_start


class Bar(RichProgressBar):
    """Lightning's progress bar with the method's note."""

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        """Return the values shown after the bar."""
        metrics = super().get_metrics(trainer, pl_module)
        note = getattr(pl_module, "progress_note", "")
        return {**metrics, "note": note} if note else metrics
