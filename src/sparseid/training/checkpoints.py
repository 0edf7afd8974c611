"""Checkpoints: written atomically between two steps, loaded with ``weights_only=True``.

A checkpoint is saved *before* a step begins: all hooks of the previous step and validation have ended, so the state is
consistent whichever hooks a method uses. It contains Lightning's own dictionary without the state of its loops: batches
are functions of their number and periods end at multiples of their length, so the step number determines where to
resume.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins import TorchCheckpointIO
from pytorch_lightning.callbacks import Checkpoint

from sparseid.files import replace_file
from sparseid.training.errors import RunError
from sparseid.training.preemption import Preemption, preempted
from sparseid.training.processes import gather, largest
from sparseid.training.seeding import restore_rng, rng_state

LAST, PREVIOUS, NEXT = "last.ckpt", "previous.ckpt", "next.ckpt"
RUN_STATE = "sparseid"
"""Key of our part of a checkpoint: run hash and, unless it holds only weights, random generators and more."""

AGREE_EVERY = 10
"""Number of steps after which several processes agree on whether to save or stop."""


def load(path: Path) -> dict[str, Any]:
    """Load a checkpoint to the CPU; anything but tensors and plain values is refused.

    Raises
    ------
    Exception
        If it is not readable or not as it was written: torch stores checksums of its parts but does not check them, so
        that damaged weights would be trained further.
    """
    with zipfile.ZipFile(path) as archive:
        if part := archive.testzip():
            raise ValueError(f"its part {part} is not as it was written")
        if any(part.external_attr for part in archive.infolist()):  # without checksum; torch reads zeros for a folder
            raise ValueError("its list of parts is not as it was written")
    content = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(content, dict) or "state_dict" not in content:
        raise ValueError("it has no state_dict")
    return content


def weights(path: Path, run: str) -> dict[str, Any]:
    """Return the weights and buffers in a checkpoint, by name.

    Parameters
    ----------
    path
        The checkpoint.
    run
        Hash of the run that it must be of.

    Raises
    ------
    RunError
        If it is missing, damaged or of another run.
    """
    try:
        content = load(path)
    except Exception as error:  # torch raises many types for a damaged file
        raise RunError(f"{path} is damaged ({error}). Repeat the run with force=true.") from error
    if other := _other_owner(content, run):
        text = f"{path} is a checkpoint of another run, {other}; this one is {run}."
        raise RunError(f"{text} Put its own there again, or repeat the run with force=true.")
    state: dict[str, Any] = content["state_dict"]
    return state


def _other_owner(content: dict[str, Any], run: str) -> str:
    """Return the hash of the run of a checkpoint; empty for `run`, and of an earlier version, which does not say."""
    owner = str(content.get(RUN_STATE, {}).get("run", run))
    return owner if owner != run else ""


def usable_checkpoint(folder: Path, run: str, say: Callable[[str], None]) -> Path | None:
    """Return the newest readable checkpoint of a run, or None without checkpoints.

    Parameters
    ----------
    folder
        The run's ``checkpoints`` folder.
    run
        The run's hash.
    say
        Called with a message if the newest checkpoint is damaged and the previous one is used.

    Raises
    ------
    RunError
        If no existing checkpoint can be read, or the newest readable one is of another run.
    """
    damaged = []
    for path in (folder / LAST, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            content = load(path)
            if "rng" not in content.get(RUN_STATE, {}):
                raise ValueError("it was not written by this program, or holds only weights")
        except Exception as error:  # torch raises many types for a damaged file
            reason, *_ = str(error).splitlines() or [type(error).__name__]
            advice = "torch.load" in reason  # how to load a file that may execute code
            damaged.append(f"{path}: {'it is no checkpoint' if advice else reason}")
            continue
        if other := _other_owner(content, run):
            raise RunError(
                f"{path} is a checkpoint of another run, {other}; this one is {run}. Nothing was changed.\n"
                f"Move it elsewhere: the same command then continues from the other checkpoint in {folder} or, without "
                "one, begins again."
            )
        if damaged:
            say(f"damaged checkpoint, resuming from {path.name}; {damaged[0]}")
        return path
    if damaged:
        raise RunError(
            "No checkpoint can be read; nothing was changed.\n  " + "\n  ".join(damaged) + "\n"
            f"To start again, delete {folder} or set force=true."
        )
    return None


class AtomicCheckpointIO(TorchCheckpointIO):
    """Write checkpoints such that a killed process or a full disk leaves the old ones unchanged.

    ``last.ckpt`` becomes ``previous.ckpt`` once a new one is completely written. Other files are simply replaced. Each
    says whose it is.

    Parameters
    ----------
    run
        The run's hash.
    """

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run

    def save_checkpoint(self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None) -> None:
        """Save `checkpoint` as `path`."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        # serialised in memory first: torch's own writer reports a full disk as a RuntimeError without an error number
        buffer = io.BytesIO()
        torch.save(checkpoint | {RUN_STATE: checkpoint.get(RUN_STATE, {}) | {"run": self.run}}, buffer)

        def write(file: BinaryIO) -> None:
            file.write(buffer.getbuffer())

        complete = path.with_name(NEXT) if path.name == LAST else path
        replace_file(complete, write)
        if path.name == LAST:
            if path.exists():
                path.replace(path.with_name(PREVIOUS))
            complete.replace(path)

    def load_checkpoint(
        self, path: str | Path, map_location: Any = "cpu", weights_only: bool | None = True
    ) -> dict[str, Any]:
        """Load a checkpoint, always with ``weights_only=True``."""
        return load(Path(path))


class LastCheckpoint(Checkpoint):
    """Save ``last.ckpt`` after every validation, every `every_s` seconds and at the end; restore its state.

    If a method sets its attribute ``milestone`` to a name during validation, its weights are also saved as
    ``milestones/<name>.ckpt`` in the same folder. A run that has been asked to stop is saved between two batches and
    ends with `RunPreempted`. Several processes agree on saving and stopping every `AGREE_EVERY` steps.

    Parameters
    ----------
    path
        The file to write.
    every_s
        Number of seconds between two checkpoints within a period.
    preemption
        Requests to stop the run.
    before_save
        Called with the trainer before saving; raises if the state must not be saved.
    """

    def __init__(
        self,
        path: Path,
        every_s: float,
        preemption: Preemption,
        before_save: Callable[[pl.Trainer], object] = lambda trainer: None,
    ):
        self.path = path
        self.every_s = every_s
        self.preemption = preemption
        self.before_save = before_save
        self._saved_at = 0.0
        self._validated = False
        self._finished = False
        self._milestones: list[str] = []
        self._begins = False
        self._restored_rng: list[dict[str, Any]] = []

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock; remove milestones that are newer than the checkpoint from which training resumes."""
        self._saved_at = time.monotonic()
        self._begins = True
        if trainer.is_global_zero:
            for path in (self.path.parent / "milestones").glob("*.ckpt"):
                if path.stem not in self._milestones:
                    path.unlink()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save a milestone; request a checkpoint after all hooks of this validation."""
        self._validated = True
        name = getattr(pl_module, "milestone", None)
        if name is not None:
            trainer.save_checkpoint(self.path.parent / "milestones" / f"{name}.ckpt", weights_only=True)
            self._milestones.append(name)

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Save if due or if the run has to stop; after a resume, restore the random generators."""
        begins, self._begins = self._begins, False
        if begins and trainer.global_rank < len(self._restored_rng):  # fewer if it was saved by fewer processes
            restore_rng(self._restored_rng[trainer.global_rank])
        save, signum = self._validated, 0
        if trainer.world_size == 1 or begins or trainer.global_step % AGREE_EVERY == 0:
            late = time.monotonic() - self._saved_at >= self.every_s and not begins
            wish = largest(trainer, self.preemption.signum or int(late))
            save, signum = save or wish > 0, wish if wish > 1 else 0
        if save:
            self._save(trainer)
        if signum:
            raise preempted(signum)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Save the final state of training."""
        self._finished = True
        self._save(trainer)

    def on_test_batch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any) -> None:
        """Stop between two test batches if requested: the final state of training is already saved."""
        self.preemption.check()

    def _save(self, trainer: pl.Trainer) -> None:
        self.before_save(trainer)
        trainer.save_checkpoint(self.path)
        self._saved_at = time.monotonic()
        self._validated = False

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Add the random generators of all processes; remove the state of Lightning's loops."""
        del checkpoint["loops"]
        rng = gather(trainer, rng_state())
        checkpoint[RUN_STATE] = {"rng": rng, "finished": self._finished, "milestones": self._milestones}

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Restore Lightning's counters; a finished training is not continued."""
        rng = checkpoint[RUN_STATE]["rng"]
        self._restored_rng = rng if isinstance(rng, list) else [rng]  # checkpoints from before multi-device runs
        self._milestones = checkpoint[RUN_STATE]["milestones"]
        self._finished = trainer.should_stop = checkpoint[RUN_STATE]["finished"]
        set_progress(trainer, step=checkpoint["global_step"], epoch=checkpoint["epoch"])


def set_progress(trainer: pl.Trainer, step: int, epoch: int) -> None:
    """Set the first optimiser step and epoch of a new fit.

    Lightning has no public interface for this: these are the counters of ``trainer.global_step`` and
    ``trainer.current_epoch``.
    """
    loop = trainer.fit_loop
    loop.epoch_loop.automatic_optimization.optim_progress.optimizer.step.total.completed = step
    loop.epoch_loop.manual_optimization.optim_step_progress.total.completed = step
    counters = loop.epoch_progress.current
    counters.ready = counters.started = counters.processed = counters.completed = epoch  # type: ignore[attr-defined]
