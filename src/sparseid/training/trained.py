"""Trained runs, read back from their folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparseid.config.schema import RunConfig
from sparseid.config.stored import load_run_config
from sparseid.data.module import DataModule
from sparseid.errors import InputError
from sparseid.methods.module import ExperimentModule
from sparseid.spelling import did_you_mean
from sparseid.streams import Streams
from sparseid.text import visible
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder
from sparseid.training.seeding import seed_everything


@dataclass(frozen=True)
class TrainedRun:
    """A finished run.

    Attributes
    ----------
    folder
        Its folder, ``outputs/<scale>/<paper>/<run>``.
    config
        Its configuration.
    rows
        Its results, one row per number.
    arrays
        Arrays of its last test by name, such as codes, masks or attribution maps.
    checkpoints
        Names of its checkpoints: ``last``, and those that the method saved on the way (Sparling: one per density).
    """

    folder: Path
    config: RunConfig
    rows: list[Row]
    arrays: dict[str, np.ndarray]
    checkpoints: list[str]

    def data(self) -> DataModule:
        """Return the data module of the run, not set up yet."""
        return build_data(self.config)

    def module(self, checkpoint: str = "last") -> ExperimentModule:
        """Return the trained LightningModule, on the CPU and in evaluation mode.

        Torch's global generator is seeded as at the start of the run.

        Parameters
        ----------
        checkpoint
            One of `checkpoints`.

        Raises
        ------
        InputError
            If there is no such checkpoint.
        """
        if checkpoint not in self.checkpoints:
            hint = did_you_mean(checkpoint, self.checkpoints) or f"checkpoints: {', '.join(self.checkpoints) or 'none'}"
            raise InputError(f"{self.folder} has no checkpoint {checkpoint!r}\n  {hint}")
        seed_everything(Streams(self.config.seed).integer("init"))
        module = build_module(self.config, self.data())
        module.load_state_dict(load(self.folder / "checkpoints" / f"{checkpoint}.ckpt")["state_dict"], strict=True)
        return module.eval()


def load_run(folder: str | Path) -> TrainedRun:
    """Read a finished run back.

    Nothing in the folder is executed: configuration and results are text, checkpoints hold tensors and plain values.

    Parameters
    ----------
    folder
        Folder of the run, which the run prints when it starts.

    Raises
    ------
    InputError
        If it is not a folder of a finished run, or of another version of the code.
    RunError
        If its results cannot be read.
    """
    run = RunFolder(Path(folder))
    if not run.path.is_dir():
        raise InputError(f"{run.path} does not exist: name the folder of a run, outputs/<scale>/<paper>/<run>")
    if run.state != "done":
        raise InputError(f"{run.path} holds no finished run (state: {run.state}): run its experiment to the end first")
    with np.load(run.arrays, allow_pickle=False) as saved:
        arrays = dict(saved)
    saved_weights = visible(run.checkpoints.rglob("*.ckpt"))
    names = [path.relative_to(run.checkpoints).with_suffix("").as_posix() for path in saved_weights]
    return TrainedRun(run.path, load_run_config(run.path), read_rows(run.result), arrays, names)
