"""Trained runs, read back from their folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from sparseid.config.schema import RunConfig
from sparseid.config.stored import load_run_config
from sparseid.data.module import DataModule
from sparseid.data.tables import array_of
from sparseid.errors import InputError
from sparseid.homes import expanded
from sparseid.methods.module import ExperimentModule, StackedModule
from sparseid.spelling import did_you_mean
from sparseid.streams import Streams
from sparseid.text import visible
from sparseid.training.arrays import read_arrays
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import weights
from sparseid.training.errors import RunError
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
        RunError
            If it is damaged, or of another run.
        """
        if checkpoint not in self.checkpoints:
            hint = did_you_mean(checkpoint, self.checkpoints) or f"checkpoints: {', '.join(self.checkpoints) or 'none'}"
            raise InputError(f"{self.folder} has no checkpoint {checkpoint!r}\n  {hint}")
        seed_everything(Streams(self.config.seed).integer("init"))
        module = build_module(self.config, self.data())
        owner = self.rows[0].run.rpartition("-")[2]  # the folder may have another name, and the data be elsewhere
        module.load_state_dict(weights(self.folder / "checkpoints" / f"{checkpoint}.ckpt", owner), strict=True)
        return module.eval()


class TrainedModel:
    """The trained model of a run.

    Parameters
    ----------
    run
        The run.
    checkpoint
        One of the run's checkpoints.

    Attributes
    ----------
    run
        The run: its configuration, rows and arrays.
    module
        The LightningModule, on the CPU and in evaluation mode.
    """

    def __init__(self, run: TrainedRun, checkpoint: str = "last") -> None:
        self.run = run
        self.module = run.module(checkpoint)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample that `transform` takes; empty if the method has no transform."""
        return self.module.input_shape

    def transform(self, inputs: ArrayLike, samples: int = 1024) -> np.ndarray:
        """Map new samples to what the trained method makes of them: codes, embeddings, motif maps.

        Parameters
        ----------
        inputs
            (N, *input_shape) numbers in the form of the training data; what the data set did to its values (scaling,
            logarithms) is not repeated.
        samples
            Number of samples at a time.

        Returns
        -------
        ndarray
            float32: (N, ...), or (members, N, ...) if the run is a stack (``seeds``), in the order of its seeds.

        Raises
        ------
        InputError
            If the method has no transform, or `inputs` have another shape, text or values that are not finite.
        """
        method = self.run.config.method.name
        if not self.input_shape:
            raise InputError(f"method={method} has no transform; its trained networks are in the attribute module")
        values = self._checked(inputs)
        parts = [torch.from_numpy(values[start : start + samples]) for start in range(0, len(values), samples)]
        axis = 1 if isinstance(self.module, StackedModule) else 0
        with torch.inference_mode():
            found = [self.module.transform(part, self.run.arrays).float().numpy() for part in parts]
        return np.concatenate(found, axis=axis)

    def _checked(self, inputs: ArrayLike) -> np.ndarray:
        needed = ", ".join(["N", *map(str, self.input_shape)])
        try:
            given = array_of(inputs)
            if given.dtype.kind not in "fiubO":
                raise TypeError(f"they are {given.dtype}")
            values = np.ascontiguousarray(given, dtype=np.float32)  # of None, such as a masked value: NaN
        except (TypeError, ValueError) as error:
            raise InputError(f"transform needs numbers of shape ({needed}): {error}") from error
        if values.shape[1:] != self.input_shape or not len(values):
            raise InputError(f"transform needs numbers of shape ({needed}) with N > 0, not {values.shape}")
        if not np.isfinite(values).all():
            place = ", ".join(str(part) for part in np.argwhere(~np.isfinite(values))[0])
            raise InputError(f"transform needs finite numbers in single precision: the one at [{place}] is not")
        return values


def load(folder: str | Path, checkpoint: str = "last", data: Mapping[str, Any] | None = None) -> TrainedModel:
    """Read the trained model of a finished run back.

    Nothing in the folder is executed, as in :func:`load_run`.

    Parameters
    ----------
    folder
        Folder of the run.
    checkpoint
        One of ``TrainedRun.checkpoints``: ``last``, or weights that the method saved on the way (Sparling: one per
        density).
    data
        Settings of the data set to replace, for example ``{"path": "elsewhere/series.npz"}``: the model's sizes are
        read from the data, which may have been moved.

    Raises
    ------
    InputError
        If it is not a finished run, has no such checkpoint, or its data cannot be read.
    RunError
        If its results or its weights are damaged, or the weights are those of another run.

    Examples
    --------
    >>> import tempfile
    >>> from sparseid.estimators.sparse_vae import SparseVAE
    >>> table = np.random.default_rng(0).normal(size=(40, 1)) @ [[1, 1, -1]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     SparseVAE(latents=2, preset="smoke", patience=0).fit(table).save(f"{folder}/model")
    ...     model = load(f"{folder}/model", data={"path": f"{folder}/model/inputs/path.npz"})
    ...     model.transform(table)[0].shape
    (40, 2)
    """
    run = load_run(folder)
    if data:
        known = {field.name for field in fields(run.config.data)}
        for name in data:
            if name not in known:
                hint = did_you_mean(name, known) or f"settings: {', '.join(sorted(known))}"
                raise InputError(f"data={run.config.data.name} has no setting {name}\n  {hint}")
        run = replace(run, config=replace(run.config, data=replace(run.config.data, **data)))
    return TrainedModel(run, checkpoint)


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
        If its results are damaged.

    Examples
    --------
    >>> import tempfile
    >>> from sparseid.estimators.sparse_vae import SparseVAE
    >>> table = np.random.default_rng(0).normal(size=(40, 1)) @ [[1, 1, -1]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     SparseVAE(latents=2, preset="smoke", patience=0).fit(table).save(f"{folder}/model")
    ...     run = load_run(f"{folder}/model")
    ...     run.config.method.name, run.checkpoints
    ('sparse_vae', ['last'])
    """
    run = RunFolder(Path(expanded(folder)))
    if not run.path.is_dir():
        raise InputError(f"{run.path} does not exist: name the folder of a run, outputs/<scale>/<paper>/<run>")
    if run.state != "done":
        why = run.message or "run its experiment to the end first"
        raise InputError(f"{run.path} holds no finished run (state: {run.state}): {why}")
    saved_weights = visible(run.checkpoints.rglob("*.ckpt"))
    names = [path.relative_to(run.checkpoints).with_suffix("").as_posix() for path in saved_weights]
    rows = read_rows(run.result)
    if not rows:
        raise RunError(f"{run.result} has no rows. Repeat the run with force=true.")
    return TrainedRun(run.path, load_run_config(run.path), rows, read_arrays(run.arrays), names)
