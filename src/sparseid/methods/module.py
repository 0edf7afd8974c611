"""Base classes of methods: the attributes and hooks by which a run trains and tests any LightningModule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import torch
from pytorch_lightning import LightningModule
from torch import Tensor

from sparseid.data.module import DataModule, StackedData
from sparseid.errors import InputError
from sparseid.measurements import Evaluation, Measurement

Data = TypeVar("Data", bound=DataModule)
Stack = TypeVar("Stack", bound=StackedData)


class ExperimentModule(LightningModule, Generic[Data]):
    """A method that a run can train, test and resume.

    A subclass wires networks, losses and metrics in Lightning's hooks. Its test hooks set `measurements` and `arrays`;
    those that override `on_test_start` call this class's.

    Attributes
    ----------
    milestone
        Set during a validation: the name under which the run saves the current weights; None to save nothing.
    progress_note
        Text of the progress line after the loss.
    evaluation
        The current test; set by the run before each one.
    measurements
        Results of the last test.
    remarks
        Warnings about these results, for the run's log.
    arrays
        Arrays of the last test for figures; the run saves those of its last test.
    """

    def __init__(self) -> None:
        super().__init__()
        self.milestone: str | None = None
        self.progress_note = ""
        self.evaluation: Evaluation | None = None
        self.measurements: list[Measurement] = []
        self.remarks: list[str] = []
        self.arrays: dict[str, np.ndarray] = {}

    @property
    def data(self) -> Data:
        """Data module of the run."""
        return self.trainer.datamodule  # type: ignore[attr-defined]

    def advice(self, device: torch.device) -> str:
        """Return a line for the start of training on a device, such as a setting that is slow there; empty for none."""
        return ""

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return the tests after training, in order: by default a single test of the last weights on all test items.

        Parameters
        ----------
        folder
            The run folder.
        """
        return [Evaluation({}, folder / "checkpoints" / "last.ckpt", self.most_test_items)]

    @property
    def most_test_items(self) -> int:
        """Upper bound of the total number of test items of all evaluations, for estimates of the test time."""
        return self.data.test_items

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        self.measurements, self.remarks, self.arrays = [], [], {}

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one sample that `transform` takes; empty if the method has no transform."""
        return ()

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Map new samples to what the trained method makes of them: codes, embeddings, motif maps.

        Parameters
        ----------
        inputs
            (samples, *input_shape), in the form of the training data.
        arrays
            The run's saved arrays, among them what its tests have chosen.

        Returns
        -------
        Tensor
            (samples, ...); of a stack (members, samples, ...).
        """
        raise NotImplementedError


class StackedModule(ExperimentModule[Stack]):
    """A method that trains a stack: one model per seed, all in the same step.

    Parameters
    ----------
    seeds
        One per member.

    Attributes
    ----------
    validation_errors
        (models,) errors of the last validation, for the early stop: the leading axis of every tensor of the module's
        ``state_dict``. None before the first, and while a penalty is not used yet.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        super().__init__()
        self.seeds = list(seeds)
        self.validation_errors: Tensor | None = None

    def chosen_models(self, arrays: Mapping[str, np.ndarray], models: int) -> list[int]:
        """Return the trained model of each member that the run's tests have chosen of `models` ones.

        They save it as the array ``models``; without candidates there is nothing to choose.

        Raises
        ------
        InputError
            If there are candidates and the array is missing, as in runs of earlier versions.
        """
        if models == len(self.seeds):
            return list(range(models))
        if "models" not in arrays:
            raise InputError("the run does not say which candidates its tests have chosen: repeat it with force=true")
        return [int(model) for model in arrays["models"]]

    def log_members(self, name: str, values: Sequence[float] | Tensor) -> None:
        """Log one value per member, each under its seed."""
        self.log_dict({f"{name}/seed{seed}": value for seed, value in zip(self.seeds, values, strict=True)})

    def note_validation(self, name: str, values: Sequence[float]) -> None:
        """Set the progress note to the mean of the members' finite values and the list of diverged seeds."""
        finite = np.isfinite(values)
        self.progress_note = f"{name} {np.mean(values, where=finite):.3g}" if finite.any() else ""
        if not finite.all():
            lost = ", ".join(str(seed) for seed, good in zip(self.seeds, finite, strict=True) if not good)
            self.progress_note += f"; diverged: seed {lost}"
