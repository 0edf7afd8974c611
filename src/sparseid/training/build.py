"""Names in the configuration -> the objects of a run; the only place that knows which names exist.

Imports are made when a name is asked for: a run loads its own method and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pytorch_lightning as pl
from lightning_fabric.plugins.environments import ClusterEnvironment, LightningEnvironment, SLURMEnvironment
from lightning_fabric.utilities.exceptions import MisconfigurationException

from sparseid.config.identity import member_seeds
from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.measurements import Evaluation, Measurement
from sparseid.training import loggers
from sparseid.training.callbacks import Bar, OnceReady, Progress, StepCurves, Timing
from sparseid.training.checkpoints import LAST, AtomicCheckpointIO, LastCheckpoint
from sparseid.training.preemption import Preemption
from sparseid.training.processes import helper_process
from sparseid.training.run_folder import RunFolder


class Data(Protocol):
    """What a run asks of a LightningDataModule beyond Lightning's hooks."""

    test_items: int
    """Items of the next test; set by the run before each one."""


class Method(Protocol):
    """What a run asks of a LightningModule beyond Lightning's hooks."""

    milestone: str | None
    """Set during a validation: the name under which the run keeps the present weights; None if it should not."""
    progress_note: str
    """What the progress line says beside the loss."""
    measurements: list[Measurement]
    """Set by the test hooks: the results of the last test."""
    arrays: dict[str, np.ndarray]
    """Set by the test hooks: what the pictures are drawn from; those of the last test are kept."""

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return what to test after training, in order; `folder` is the run's."""


def _digit_circle(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.digit_circle.datamodule import DigitCircleData

    return DigitCircleData.from_config(cfg)


def _sparling(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    from sparseid.methods.sparling.module import SparlingModule

    return SparlingModule.from_config(cfg, data)


def _tree_simulation(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.tree_simulation.datamodule import TreeSimulationData

    return TreeSimulationData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _gtex(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.gtex.datamodule import GtexData

    return GtexData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _latent_walk(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.latent_walk.datamodule import LatentWalkData

    return LatentWalkData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _arrays(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.arrays.datamodule import ArraysData

    return ArraysData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _tbr(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    from sparseid.methods.tbr.module import TBRModule

    return TBRModule.from_config(cfg, data)


def _regcl(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    from sparseid.methods.regcl.module import RegCLModule

    return RegCLModule.from_config(cfg, data)


def _seven_features(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.seven_features.datamodule import SevenFeaturesData

    return SevenFeaturesData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _mlp_mixture(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.mlp_mixture.datamodule import MLPMixtureData

    return MLPMixtureData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _movielens(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.movielens.datamodule import MovielensData

    return MovielensData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _peerread(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.peerread.datamodule import PeerreadData

    return PeerreadData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _peerread_shift(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.peerread_shift.datamodule import PeerreadShiftData

    return PeerreadShiftData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _zeisel(cfg: RunConfig) -> pl.LightningDataModule:
    from sparseid.data.zeisel.datamodule import ZeiselData

    return ZeiselData(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)


def _sparse_vae(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    from sparseid.methods.sparse_vae.module import SparseVAEModule

    return SparseVAEModule.from_config(cfg, data)


def _ddl(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    from sparseid.methods.ddl.module import DDLModule

    return DDLModule.from_config(cfg, data)


DATA: dict[str, Callable[[RunConfig], pl.LightningDataModule]] = {
    "arrays": _arrays,
    "digit_circle": _digit_circle,
    "gtex": _gtex,
    "latent_walk": _latent_walk,
    "mlp_mixture": _mlp_mixture,
    "movielens": _movielens,
    "peerread": _peerread,
    "peerread_shift": _peerread_shift,
    "seven_features": _seven_features,
    "tree_simulation": _tree_simulation,
    "zeisel": _zeisel,
}
METHODS: dict[str, Callable[[RunConfig, pl.LightningDataModule], pl.LightningModule]] = {
    "ddl": _ddl,
    "regcl": _regcl,
    "sparling": _sparling,
    "sparse_vae": _sparse_vae,
    "tbr": _tbr,
}


def build_data(cfg: RunConfig) -> pl.LightningDataModule:
    """Return the data module that ``data.name`` names."""
    return DATA[cfg.data.name](cfg)


def build_module(cfg: RunConfig, data: pl.LightningDataModule) -> pl.LightningModule:
    """Return the method that ``method.name`` names, freshly initialised from the global generators."""
    return METHODS[cfg.method.name](cfg, data)


def build_trainer(cfg: RunConfig, folder: RunFolder, preemption: Preemption) -> pl.Trainer:
    """Return Lightning's trainer with our callbacks and none of its own files.

    One epoch is one period between two validations; one batch is one optimiser step.

    Raises
    ------
    InputError
        If it asks for devices that this machine does not have.
    """
    settings = cfg.trainer
    curves = StepCurves(folder.metrics, settings.batch_size)
    last = LastCheckpoint(folder.checkpoints / LAST, settings.save_every_s, preemption, before_save=curves.check)
    progress = Bar() if sys.stdout.isatty() else _progress_lines(folder, curves, cfg)
    callbacks: list[pl.Callback] = [curves, progress, Timing(folder.timing, settings.batch_size), last]
    if cfg.logger.name == "wandb":
        callbacks.append(OnceReady(lambda: loggers.start(cfg, folder)))
    try:
        return _trainer(cfg, folder, settings.devices, settings.strategy, callbacks)
    except MisconfigurationException as error:
        raise InputError(
            f"this machine cannot train with trainer.accelerator={settings.accelerator}, trainer.devices="
            f"{settings.devices}, trainer.strategy={settings.strategy}: {error}\n  trainer=cpu always works",
            ("trainer.accelerator", "trainer.devices", "trainer.strategy"),
        ) from error


def build_tester(cfg: RunConfig, folder: RunFolder, trainer: pl.Trainer) -> pl.Trainer:
    """Return a trainer for the tests of what `trainer` has trained: on one device, whatever there were in training."""
    if trainer.world_size == 1:
        return trainer
    attached: list[pl.Callback] = trainer.callbacks  # type: ignore[attr-defined]
    callbacks = [callback for callback in attached if type(callback).__module__.startswith(__package__)]
    return _trainer(cfg, folder, 1, "auto", callbacks)


def _trainer(
    cfg: RunConfig, folder: RunFolder, devices: int, strategy: str, callbacks: list[pl.Callback]
) -> pl.Trainer:
    settings = cfg.trainer
    trainer = pl.Trainer(
        max_steps=settings.max_samples // settings.batch_size,
        max_epochs=-1,
        accelerator=settings.accelerator,
        devices=devices,
        strategy=strategy,
        precision=cast("pl.trainer.trainer._PRECISION_INPUT", settings.precision),
        callbacks=callbacks,
        plugins=[AtomicCheckpointIO(), _environment(devices)],
        use_distributed_sampler=False,  # data modules know which items are whose
        reload_dataloaders_every_n_epochs=1,  # the first period after a resume is shorter than the others
        num_sanity_val_steps=0,
        logger=False,
        enable_model_summary=False,
        enable_progress_bar=any(isinstance(callback, Bar) for callback in callbacks),
        default_root_dir=folder.path,
    )
    # Lightning would raise at its own moments on SIGTERM and, with several processes, talk about it at every step; it
    # has no public way to leave signals to us
    trainer._signal_connector.register_signal_handlers = lambda: None  # type: ignore[method-assign]
    trainer.fit_loop.epoch_loop._broadcast_sigterm_tensor = lambda: None  # type: ignore[method-assign]
    return trainer


def _environment(devices: int) -> ClusterEnvironment:
    """Return who starts the processes of a run on several devices: SLURM where its job has a task for each, else we."""
    if devices > 1 and os.environ.get("SLURM_NTASKS") == str(devices) and SLURMEnvironment.detect():
        return SLURMEnvironment(auto_requeue=False)  # Lightning's own requeueing saves at unsafe moments
    return LightningEnvironment()


def _progress_lines(folder: RunFolder, curves: StepCurves, cfg: RunConfig) -> Progress:
    def say(line: str) -> None:
        if not helper_process():
            folder.say(line)
            folder.write_status("running", line)

    return Progress(say, curves, cfg.trainer.max_samples, cfg.trainer.batch_size)
