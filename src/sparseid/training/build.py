"""Names in the configuration -> the objects of a run; the only place that knows which names exist.

Imports are made when a name is asked for: a run loads its own method and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pkgutil import resolve_name
from typing import cast

import pytorch_lightning as pl
from lightning_fabric.plugins.environments import ClusterEnvironment, LightningEnvironment, SLURMEnvironment
from lightning_fabric.utilities.exceptions import MisconfigurationException

from sparseid.config.identity import member_seeds
from sparseid.config.schema import RunConfig
from sparseid.data.module import DataModule
from sparseid.errors import InputError
from sparseid.methods.module import ExperimentModule
from sparseid.training import loggers
from sparseid.training.callbacks import Bar, OnceReady, Progress, StepCurves, Timing
from sparseid.training.checkpoints import LAST, AtomicCheckpointIO, LastCheckpoint
from sparseid.training.preemption import Preemption
from sparseid.training.processes import helper_process
from sparseid.training.run_folder import RunFolder


def _data(place: str) -> Callable[[RunConfig], DataModule]:
    """Return what builds the data module of a stack, written ``folder.file:Class`` below ``sparseid.data``."""

    def build(cfg: RunConfig) -> DataModule:
        made: DataModule = resolve_name(f"sparseid.data.{place}")(cfg.data, member_seeds(cfg), cfg.trainer.batch_size)
        return made

    return build


def _motif_data(place: str) -> Callable[[RunConfig], DataModule]:
    """Return what builds the data module of items with motifs, written as for `_data`."""

    def build(cfg: RunConfig) -> DataModule:
        made: DataModule = resolve_name(f"sparseid.data.{place}").from_config(cfg)
        return made

    return build


def _method(place: str) -> Callable[[RunConfig, DataModule], ExperimentModule]:
    """Return what builds a method, written ``folder.file:Class`` below ``sparseid.methods`` (or the file alone)."""

    def build(cfg: RunConfig, data: DataModule) -> ExperimentModule:
        made: ExperimentModule = resolve_name(f"sparseid.methods.{place}").from_config(cfg, data)
        return made

    return build


DATA: dict[str, Callable[[RunConfig], DataModule]] = {
    "arrays": _data("arrays.datamodule:ArraysData"),
    "audio_mnist_sequence": _motif_data("audio_mnist_sequence.datamodule:AudioMNISTSequenceData"),
    "digit_circle": _motif_data("digit_circle.datamodule:DigitCircleData"),
    "gtex": _data("gtex.datamodule:GtexData"),
    "latent_walk": _data("latent_walk.datamodule:LatentWalkData"),
    "latex_ocr": _motif_data("latex_ocr.datamodule:LatexOcrData"),
    "mlp_mixture": _data("mlp_mixture.datamodule:MLPMixtureData"),
    "movielens": _data("movielens.datamodule:MovielensData"),
    "peerread": _data("peerread.datamodule:PeerreadData"),
    "peerread_shift": _data("peerread_shift.datamodule:PeerreadShiftData"),
    "seven_features": _data("seven_features.datamodule:SevenFeaturesData"),
    "tree_simulation": _data("tree_simulation.datamodule:TreeSimulationData"),
    "zeisel": _data("zeisel.datamodule:ZeiselData"),
}
METHODS: dict[str, Callable[[RunConfig, DataModule], ExperimentModule]] = {
    "ddl": _method("ddl.module:DDLModule"),
    "regcl": _method("regcl.module:RegCLModule"),
    "sparling": _method("sparling.variants"),
    "sparse_vae": _method("sparse_vae.module:SparseVAEModule"),
    "tbr": _method("tbr.module:TBRModule"),
}


def build_data(cfg: RunConfig) -> DataModule:
    """Return the data module that ``data.name`` names."""
    return DATA[cfg.data.name](cfg)


def build_module(cfg: RunConfig, data: DataModule) -> ExperimentModule:
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
