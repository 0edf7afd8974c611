"""Callbacks of every run: step curves with a watch on the loss, and progress lines."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import RichProgressBar

from sparseid.durations import clock
from sparseid.files import write_text
from sparseid.training.errors import RunDiverged

LOG_EVERY = 50
"""Steps between two points of the training curves, and between two looks at the loss on a GPU."""

HEADER = "step,samples,name,value\n"


class StepCurves(pl.Callback):
    """Append curves to ``metrics.csv``, one value a line, and stop the run when the loss is no longer finite.

    Every `LOG_EVERY` steps: ``loss`` (mean over those steps) and what the module logged in ``training_step``. After
    every validation: what it logged under a name that begins with ``val``. The loss is summed on the device and read
    every `LOG_EVERY` steps, so that no step waits for the device; on the CPU every step is looked at.

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
        self._sum: torch.Tensor | None = None
        self._count = 0
        self._step = self._checked = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Cut the file back to the step at which training starts."""
        self._step = self._checked = trainer.global_step
        if self._sum is not None:
            self._sum = self._sum.to(pl_module.device)
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
            self.check()
            self.loss = float(self._sum) / self._count
            self._sum, self._count = None, 0
            logged = {k: v for k, v in trainer.callback_metrics.items() if not k.startswith("val")}
            self._write(trainer, {"loss": self.loss, **logged})
        elif loss.device.type == "cpu":
            self.check()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write what the validation logged."""
        self._write(trainer, {k: v for k, v in trainer.callback_metrics.items() if k.startswith("val")})

    def check(self) -> None:
        """Look at the loss since the last look.

        Raises
        ------
        RunDiverged
            If it is not finite.
        """
        first, self._checked = self._checked + 1, self._step
        if self._sum is not None and not torch.isfinite(self._sum):
            steps = f"step {first}" if first >= self._step else f"a step from {first} to {self._step}"
            raise RunDiverged(f"the loss is not finite at {steps}")

    def _write(self, trainer: pl.Trainer, values: Mapping[str, Any]) -> None:
        if values and trainer.is_global_zero:
            step = trainer.global_step
            lines = [f"{step},{step * self.batch_size},{k},{float(v)!r}\n" for k, v in sorted(values.items())]
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(lines))

    def state_dict(self) -> dict[str, Any]:
        """Return the unfinished interval."""
        return {"sum": None if self._sum is None else self._sum.cpu(), "count": self._count}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on with an unfinished interval."""
        self._sum, self._count = state_dict["sum"], state_dict["count"]


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
        left = clock((self.max_samples - samples) / rate) if rate > 0 else "?"
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
        May be called more than once.
    """

    def __init__(self, start: Callable[[], None]):
        self.start = start

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Call it."""
        if trainer.is_global_zero:
            self.start()

    on_test_start = on_train_start


class Bar(RichProgressBar):
    """Lightning's bar with the method's note."""

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        """Return what stands behind the bar."""
        metrics = super().get_metrics(trainer, pl_module)
        note = getattr(pl_module, "progress_note", "")
        return {**metrics, "note": note} if note else metrics
