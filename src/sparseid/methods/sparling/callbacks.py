"""Lightning callback for adaptive density."""

from __future__ import annotations

from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from sparseid.methods.sparling.schedule import DensitySchedule


class AdaptiveDensity(Callback):
    """Adapt the density by the schedule after each validation; stop training when it is finished.

    When the accuracy exceeds the target, the current weights are the result at the current density; the module then
    names them as a milestone (``density-07`` after seven cuts), which the run saves.

    Parameters
    ----------
    schedule
        Schedule of the density; checkpoints store its state with the trace of all checks.
    """

    def __init__(self, schedule: DensitySchedule) -> None:
        self.schedule = schedule
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
            + f"exact {accuracy:.3f}, target {schedule.target:.3f}"
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
