"""Callbacks of every run: step curves with a watch on the loss, and progress lines."""

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
from sparseid.training.environment import device_name
from sparseid.training.errors import RunDiverged
from sparseid.training.processes import gather

LOG_EVERY = 50
"""Steps between two points of the training curves, and between two looks at the loss on a GPU."""

HEADER = "step,samples,name,value\n"


class StepCurves(pl.Callback):
    """Append curves to ``metrics.csv``, one value a line, and stop the run when the loss is no longer finite.

    Every `LOG_EVERY` steps: ``loss`` (mean over those steps and all processes) and what the module logged in
    ``training_step``. After every validation: what it logged under a name that begins with ``val``. The loss is summed
    on the device and read every `LOG_EVERY` steps, so that no step waits for the device or for another process; a
    single process on the CPU looks at every step.

    Parameters
    ----------
    path
        The file; lines beyond the step at which training starts are removed, so that a resume leaves no line doubled.
    batch_size
        Training samples per step.
    """

    def __init__(self, path: Path, batch_size: int):
        self.path = path
        self.batch_size = batch_size
        self.loss = math.nan
        self._sum: torch.Tensor | None = None  # of this process's losses in the present interval
        self._sums = torch.zeros(0)  # of all processes, at the last look
        self._count = 0
        self._step = self._checked = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Cut the file back to the step at which training starts."""
        self._step = self._checked = trainer.global_step
        if self._count:
            own = self._sums[trainer.global_rank] if len(self._sums) == trainer.world_size else self._sums.mean()
            self._sum = own.to(pl_module.device)
        if trainer.is_global_zero:
            write_text(self.path, HEADER + "".join(_lines_until(self.path, trainer.global_step)))

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the loss of a step; write and check at the end of an interval."""
        loss = outputs["loss"] if isinstance(outputs, Mapping) else outputs
        if loss is None:  # the module optimises by itself and returned nothing
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
        """Write what the validation logged."""
        self._write(trainer, {k: v for k, v in trainer.callback_metrics.items() if k.startswith("val")})

    def check(self, trainer: pl.Trainer) -> torch.Tensor:
        """Return the summed losses of the present interval, one for each process, after a look at them.

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
        """Return the unfinished interval as :meth:`check` saw it, with the sum of every process."""
        return {"sums": self._sums, "count": self._count}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with an unfinished interval."""
        self._sums, self._count = state_dict["sums"], state_dict["count"]


class Timing(pl.Callback):
    """Measure the seconds of training and of the tests, over all starts of a run, and keep them in ``timing.json``.

    With them those in which the data were made, by the last start: from when this callback is made to the first step.
    The seconds of training stand in the checkpoint: work that a killed process lost does not count, nor does its time.
    (Lightning's `Timer` counts saving too, and knows the last test only.)
    The tests are made anew by every start that comes to them; the last ones count.

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
        """Count the seconds since this callback was made, in which the data were, and start the clock."""
        now = time.monotonic()
        self.prepare_s, self._since = now - self._since, now
        self.trained["world_size"] = trainer.world_size

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Count the step, and the seconds since the last one ended."""
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
        """Write the file if that can be done."""
        with contextlib.suppress(OSError):
            self._write(trainer)

    def state_dict(self) -> dict[str, Any]:
        """Return what was trained so far."""
        return dict(self.trained)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from there."""
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


def _lines_until(path: Path, step: int) -> list[str]:
    """Return the complete lines of a curve file up to and including `step`."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    return [line for line in lines if line.endswith("\n") and int(line.partition(",")[0]) <= step]


class Progress(pl.Callback):
    """Say every `every_s` seconds how far the run is, in one plain line.

    Parameters
    ----------
    say
        Takes the line.
    curves
        Knows the loss.
    max_samples, batch_size
        Training samples of the run at most, and per step.
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
        """Say it if it is time."""
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
    """Call `start` in the first process once ``metrics.csv`` has been cut back, also where only the tests are left.

    Parameters
    ----------
    start
        Called once.
    """

    def __init__(self, start: Callable[[], None]):
        self.start = start
        self._called = False

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Call it if nothing has."""
        if trainer.is_global_zero and not self._called:
            self._called = True
            self.start()

    on_test_start = on_train_start


class Bar(RichProgressBar):
    """Lightning's bar with the method's note."""

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        """Return what stands behind the bar."""
        metrics = super().get_metrics(trainer, pl_module)
        note = getattr(pl_module, "progress_note", "")
        return {**metrics, "note": note} if note else metrics
