"""Base classes of data sets: the attributes by which a run reports and tests any LightningDataModule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from pytorch_lightning import LightningDataModule

from sparseid.data.cache import digest
from sparseid.settings import DataSettings, EarlyStopSettings, RunNumbers

if TYPE_CHECKING:
    from sparseid.data.tables import Scale


class DataModule(LightningDataModule):
    """Data that a run can train and test on.

    Attributes
    ----------
    test_items
        Test items of the next test; set by the run before each one.
    note
        Notice for tables of results on these data; empty for the paper's data.
    files
        Path -> SHA-256 of each file that was read.
    remarks
        Lines for the run's log, such as the files that were read.
    early_stop
        Settings of the early stop, set by the run before `setup`; None without one.
    has_baselines
        Whether simple baselines are measured next to the method: for data without published numbers.
    input_scale
        Scale of the training rows by which inputs were standardised; None if they were not.
    """

    note: str = ""
    early_stop: EarlyStopSettings | None = None
    has_baselines: bool = False
    input_scale: Scale | None = None

    def __init__(self, test_items: int = 0) -> None:
        super().__init__()
        self.test_items = test_items
        self.files: dict[str, str] = {}
        self.remarks: list[str] = []

    def record_files(self, paths: Iterable[Path]) -> None:
        """Record files that were read, with a line for the log for each."""
        self.record({str(path): digest(path) for path in paths})

    def record(self, read: Mapping[str, str]) -> None:
        """Record what was read by its path and SHA-256, with a line for the log for each."""
        self.files |= read
        self.remarks += [f"read {path} (SHA-256 {content[:16]})" for path, content in read.items()]


class StackedData(DataModule):
    """Data for a stack, stored and indexed on the device.

    Parameters
    ----------
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    test_items
        Test samples of a member.
    """

    def __init__(self, seeds: Sequence[int], batch_size: int, test_items: int) -> None:
        super().__init__(test_items)
        self.seeds, self.batch_size = list(seeds), batch_size

    @classmethod
    def from_settings(cls, settings: DataSettings, run: RunNumbers) -> Self:
        """Return the data module of a run; constructors of subclasses take settings, seeds and batch size."""
        build: Any = cls
        made: Self = build(settings, run.seeds, run.batch_size)
        return made

    @property
    def device(self) -> torch.device:
        """Device of the run; the CPU without a trainer."""
        return torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Return the batch unchanged: it is already on the device."""
        return batch
