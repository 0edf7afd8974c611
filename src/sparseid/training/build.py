"""Construction of a run's objects from its settings.

Components are imported on demand: a run loads only its own data set and method.
"""

from __future__ import annotations

import sys
from typing import cast

import pytorch_lightning as pl
from lightning_fabric.plugins.environments import LightningEnvironment
from lightning_fabric.utilities.exceptions import MisconfigurationException

from sparseid.config.identity import member_seeds, run_hash
from sparseid.config.schema import RunConfig
from sparseid.data.module import DataModule
from sparseid.errors import InputError
from sparseid.extensions import load_object
from sparseid.methods.module import ExperimentModule
from sparseid.settings import RunNumbers
from sparseid.training import loggers
from sparseid.training.callbacks import Bar, EarlyStop, OnceReady, Progress, StepCurves, Timing
from sparseid.training.checkpoints import LAST, AtomicCheckpointIO, LastCheckpoint
from sparseid.training.preemption import Preemption
from sparseid.training.processes import helper_process
from sparseid.training.run_folder import RunFolder
from sparseid.training.runtime import accelerator, mps_note


def run_numbers(cfg: RunConfig) -> RunNumbers:
    """Return the numbers that data modules and methods are constructed with."""
    batch_size = cfg.trainer.batch_size
    steps = cfg.trainer.max_samples // batch_size
    return RunNumbers(cfg.seed, member_seeds(cfg), batch_size, steps, *cfg.method.validation())


def build_data(cfg: RunConfig) -> DataModule:
    """Return the data module of the data settings.

    Examples
    --------
    >>> from sparseid.config.compose import compose
    >>> data = build_data(compose(["experiment=tbr/fig4", "scale=smoke"]))
    >>> type(data).__name__
    'TreeSimulationData'
    """
    made: DataModule = load_object(cfg.data.loads, type(cfg.data)).from_settings(cfg.data, run_numbers(cfg))
    if cfg.trainer.early_stop.patience:
        made.early_stop = cfg.trainer.early_stop
    return made


def build_module(cfg: RunConfig, data: DataModule) -> ExperimentModule:
    """Return the module of the method settings, initialised from the global generators.

    Examples
    --------
    >>> from sparseid.config.compose import compose
    >>> cfg = compose(["experiment=tbr/fig4", "scale=smoke"])
    >>> type(build_module(cfg, build_data(cfg))).__name__
    'TBRModule'
    """
    module = load_object(cfg.method.loads, type(cfg.method))
    made: ExperimentModule = module.from_settings(cfg.method, data, run_numbers(cfg))
    return made


def build_trainer(cfg: RunConfig, folder: RunFolder, preemption: Preemption) -> pl.Trainer:
    """Return Lightning's trainer with our callbacks and without its own log files.

    An epoch is a period between two validations; a batch is an optimiser step.

    Raises
    ------
    InputError
        If this machine does not have the requested devices.
    """
    settings = cfg.trainer
    curves = StepCurves(folder.metrics, settings.batch_size, folder.say)
    last = LastCheckpoint(folder.checkpoints / LAST, settings.save_every_s, preemption, before_save=curves.check)
    progress = Bar() if sys.stdout.isatty() else _progress_lines(folder, curves, cfg)
    timing = Timing(folder.timing, settings.batch_size)
    callbacks: list[pl.Callback] = [curves, progress, timing, last]
    if settings.early_stop.patience:
        callbacks.insert(-1, EarlyStop(settings.early_stop.patience, folder.say))
    if cfg.logger.name == "wandb":
        callbacks.append(OnceReady(lambda: loggers.start(cfg, folder)))
    try:
        return _trainer(cfg, folder, settings.devices, settings.strategy, callbacks)
    except MisconfigurationException as error:
        note = mps_note(settings.accelerator)
        raise InputError(
            f"this machine cannot train with trainer.accelerator={settings.accelerator}, trainer.devices="
            f"{settings.devices}, trainer.strategy={settings.strategy}: {error}\n"
            f"  {note and note + ': '}trainer=cpu always works",
            ("trainer.accelerator", "trainer.devices", "trainer.strategy"),
        ) from error


def build_tester(cfg: RunConfig, folder: RunFolder, trainer: pl.Trainer) -> pl.Trainer:
    """Return a single-device trainer for testing, however many devices were used for training."""
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
        accelerator=accelerator(settings.accelerator),
        devices=devices,
        strategy=strategy,
        precision=cast("pl.trainer.trainer._PRECISION_INPUT", settings.precision),
        callbacks=callbacks,
        plugins=[AtomicCheckpointIO(run_hash(cfg)), LightningEnvironment()],
        use_distributed_sampler=False,  # data modules assign items to processes
        reload_dataloaders_every_n_epochs=1,  # the first period after a resume is shorter than the others
        num_sanity_val_steps=0,
        logger=False,
        enable_model_summary=False,
        enable_progress_bar=any(isinstance(callback, Bar) for callback in callbacks),
        default_root_dir=folder.path,
    )
    # Lightning would raise on SIGTERM at arbitrary moments and, with several processes, communicate about it at every
    # step; it has no public option to leave signals to us
    trainer._signal_connector.register_signal_handlers = lambda: None  # type: ignore[method-assign]
    trainer.fit_loop.epoch_loop._broadcast_sigterm_tensor = lambda: None  # type: ignore[method-assign]
    return trainer


def _progress_lines(folder: RunFolder, curves: StepCurves, cfg: RunConfig) -> Progress:
    def say(line: str) -> None:
        if not helper_process(cfg):
            folder.say(line)
            folder.write_status("running", line)

    return Progress(say, curves, cfg.trainer.max_samples, cfg.trainer.batch_size)
