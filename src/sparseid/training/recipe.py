"""The recipe of one run: seeds -> data -> module -> trainer -> fit -> test -> rows."""

from __future__ import annotations

import logging
import warnings
from typing import Any, cast

import numpy as np
import pytorch_lightning as pl
import torch

from sparseid.config.identity import cell_keys, recipe_hash, run_directory
from sparseid.config.schema import RunConfig
from sparseid.files import replace_file, write_json
from sparseid.measurements import Evaluation
from sparseid.streams import Streams
from sparseid.training import environment
from sparseid.training.build import Data, Method, build_data, build_module, build_trainer
from sparseid.training.checkpoints import load, usable_checkpoint
from sparseid.training.rows import Row, plain_keys, plain_value
from sparseid.training.run_folder import RunFolder, now
from sparseid.training.seeding import prepare_torch, seed_everything


def train_and_test(cfg: RunConfig, folder: RunFolder) -> list[Row]:
    """Train, going on from the last checkpoint if there is one, test, and return the rows.

    Parameters
    ----------
    cfg
        A valid configuration.
    folder
        The open run folder; checkpoints, curves, environment and arrays are written to it.
    """
    quieten()
    prepare_torch(cfg.trainer)
    checkpoint = usable_checkpoint(folder.checkpoints, folder.say)

    streams = Streams(cfg.seed)
    seed_everything(streams.integer("init"))
    data = build_data(cfg)
    module = build_module(cfg, data)
    trainer = build_trainer(cfg, folder)
    if cfg.scale == "paper" and trainer.strategy.root_device.type == "cpu":
        folder.say(
            "scale=paper is meant for a GPU and trains on the CPU here: expect months, not hours (lines below say "
            "how long); scale=small takes minutes"
        )
    made_with = record_environment(cfg, folder, trainer, resumed=checkpoint is not None)

    seed_everything(streams.integer("training"))
    if checkpoint is not None:
        folder.say(f"going on from {checkpoint}")
    trainer.fit(module, datamodule=data, ckpt_path=checkpoint, weights_only=True)

    rows: list[Row] = []
    for number, evaluation in enumerate(cast(Method, module).evaluations(folder.path)):
        seed_everything(streams.integer("evaluation", number))
        test(trainer, module, data, evaluation)
        rows += make_rows(cfg, cast(Method, module), evaluation, made_with)
    if trainer.is_global_zero:
        arrays = cast(Method, module).arrays
        replace_file(folder.arrays, lambda file: np.savez_compressed(file, **cast(Any, arrays)))
    return rows


def test(trainer: pl.Trainer, module: pl.LightningModule, data: pl.LightningDataModule, evaluation: Evaluation) -> None:
    """Test the weights of one evaluation; the module's ``measurements`` are then those of this test."""
    module.load_state_dict(load(evaluation.checkpoint)["state_dict"], strict=True)
    cast(Data, data).test_items = evaluation.items
    trainer.test(module, datamodule=data, verbose=False)


def make_rows(cfg: RunConfig, method: Method, evaluation: Evaluation, made_with: dict[str, Any]) -> list[Row]:
    """Return the measurements of one test as rows."""
    return [
        Row(
            run=run_directory(cfg).name,
            paper=cfg.paper,
            scale=cfg.scale,
            recipe=recipe_hash(cfg),
            keys=plain_keys(cell_keys(cfg) | evaluation.keys | measurement.keys),
            seed=cfg.seed,
            metric=measurement.metric,
            value=plain_value(measurement.value),
            unit=measurement.unit,
            n=int(measurement.n),
            commit=made_with["commit"],
            dirty=made_with["dirty"],
            device=made_with["device"],
            written=now(),
        )
        for measurement in method.measurements
    ]


def record_environment(cfg: RunConfig, folder: RunFolder, trainer: pl.Trainer, resumed: bool) -> dict[str, Any]:
    """Write ``environment.json`` and return its content; say so if a resumed run was begun with other code."""
    path = folder.path / "environment.json"
    device = trainer.strategy.root_device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    made_with = environment.describe(cfg.seed, name, earlier=environment.read(path) if resumed else None)
    if trainer.is_global_zero:
        write_json(path, made_with)
        if len(made_with["commits"]) > 1:
            folder.say(f"this run was begun with other code: commits {', '.join(made_with['commits'])}")
    return made_with


def quieten() -> None:
    """Silence what Lightning says about things that are so on purpose."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)  # devices found, limits reached, tips
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")  # batches are made in this process
    warnings.filterwarnings("ignore", message=".*`srun` command is available.*")  # a run on a login node is meant
    warnings.filterwarnings("ignore", message=".*isinstance\\(treespec, LeafSpec\\).*")  # of Lightning with newer torch
