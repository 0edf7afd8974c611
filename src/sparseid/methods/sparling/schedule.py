"""Adaptive sparsity (Sparling, Algorithm 1): when to cut the density, and the callback that does it in training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from sparseid.methods.sparling.densities import ROUNDING


@dataclass
class DensitySchedule:
    """Schedule that cuts the density when the validation accuracy exceeds a slowly falling target.

    Parameters
    ----------
    density
        Current density; initially the start density.
    min_density
        Minimum density: the schedule is finished when a cut would go below it.
    cut_factor
        Factor by which a cut multiplies the density.
    target_fall_per_sample
        Fall of the target per training sample.
    target
        Accuracy to exceed, initially 1.
    samples
        Number of training samples at the last check.
    cuts
        Number of cuts so far.
    finished
        True once the accuracy has exceeded the target at the last density above the minimum.
    min_target
        Minimum of the target (published: 0).
    restart_after, restart_below
        A start without a cut is abandoned if it is below this accuracy after this number of samples (0: never).
    started, starts
        Number of samples at the beginning of the current start, and number of starts so far.
    """

    density: float
    min_density: float
    cut_factor: float
    target_fall_per_sample: float
    target: float = 1.0
    samples: int = 0
    cuts: int = 0
    finished: bool = False
    min_target: float = 0.0
    restart_after: int = 0
    restart_below: float = 0.0
    started: int = 0
    starts: int = 1

    def check(self, samples: int, accuracy: float) -> bool:
        """Process the accuracy after `samples` training samples; return whether it exceeded the target.

        The target first falls by rate x samples since the last check (not below its minimum); if the accuracy is
        strictly above it, the density is cut and the target becomes that accuracy. Instead of a cut to below
        ``min_density``, the schedule is finished, and the current weights belong to the last density.
        """
        fall = self.target_fall_per_sample * (samples - self.samples)
        self.target = min(max(self.target - fall, self.min_target), 1.0)
        self.samples = samples
        reached = accuracy > self.target
        if reached:
            self.target = accuracy
            if self.density * self.cut_factor < self.min_density * (1 - ROUNDING):
                self.finished = True
            else:
                self.density *= self.cut_factor
                self.cuts += 1
        return reached

    def restart(self, accuracy: float) -> bool:
        """Return whether to abandon the current start after a check; the schedule then begins again.

        Not in the paper: some small networks remain on a plateau with correct symbols in the wrong order. The rule
        uses only the validation accuracy.
        """
        lasted = self.samples - self.started
        if (
            not self.restart_after
            or self.cuts
            or self.finished
            or lasted < self.restart_after
            or accuracy >= self.restart_below
        ):
            return False
        self.target, self.started, self.starts = 1.0, self.samples, self.starts + 1
        return True

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain numbers."""
        return asdict(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore :meth:`state_dict`."""
        for name, value in state.items():
            setattr(self, name, value)


class AdaptiveDensity(Callback):
    """Adapt the density by the schedule after each validation; stop training when it is finished.

    When the accuracy exceeds the target, the current weights are the result at the current density; the module then
    names them as a milestone (``density-07`` after seven cuts), which the run saves.

    Parameters
    ----------
    schedule
        Schedule of the density; checkpoints store its state with the trace of all checks.
    accuracy_name
        Name of the accuracy, for the progress line.
    """

    def __init__(self, schedule: DensitySchedule, accuracy_name: str = "exact") -> None:
        self.schedule = schedule
        self.accuracy_name = accuracy_name
        self.trace: list[list[float]] = []

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Check the validation accuracy of the module."""
        module: Any = pl_module
        schedule, density, cuts = self.schedule, self.schedule.density, self.schedule.cuts
        accuracy = trainer.strategy.broadcast(module.validation_accuracy())  # one decision for all processes
        samples = trainer.global_step * module.batch_size
        reached = schedule.check(samples, accuracy)
        self.trace.append([samples, density, schedule.target, accuracy])
        if schedule.restart(accuracy):
            module.restart(schedule.starts)
        module.milestone = f"density-{cuts:02d}" if reached else None
        above = schedule.density / schedule.min_density  # 1 if a penalty instead of a threshold makes motifs sparse
        module.progress_note = (
            (f"density {above:.3g}x the minimum, " if above > 1 else "")
            + f"{self.accuracy_name} {accuracy:.3f}, target {schedule.target:.3f}"
            + (f", start {schedule.starts}" if schedule.starts > 1 else "")
        )
        if schedule.finished:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        """Return schedule and trace as plain numbers."""
        return {"schedule": self.schedule.state_dict(), "trace": self.trace}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore :meth:`state_dict`."""
        self.schedule.load_state_dict(state_dict["schedule"])
        self.trace = state_dict["trace"]
