"""Recipe of one run: seeds -> data -> module -> trainer -> fit -> test -> rows."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import pytorch_lightning as pl

from sparseid.config.identity import recipe_hash, row_keys, run_directory, run_hash
from sparseid.config.schema import RunConfig
from sparseid.data.module import DataModule
from sparseid.files import write_json
from sparseid.measurements import Evaluation
from sparseid.methods.module import ExperimentModule
from sparseid.streams import Streams
from sparseid.training import environment, parents
from sparseid.training.arrays import write_arrays
from sparseid.training.build import build_data, build_module, build_tester, build_trainer
from sparseid.training.checkpoints import usable_checkpoint, weights
from sparseid.training.group import First, Helper
from sparseid.training.preemption import Preemption
from sparseid.training.rows import Row, plain_keys, plain_value
from sparseid.training.run_folder import RunFolder, now
from sparseid.training.runtime import mps_note, prepare_runtime
from sparseid.training.seeding import seed_everything


def train_and_test(cfg: RunConfig, folder: RunFolder, preemption: Preemption, group: First | Helper) -> list[Row]:
    """Train, resuming from the last checkpoint if there is one, test, and return the rows.

    Processes of non-zero rank (`training.processes`) only train, and return no rows.

    Parameters
    ----------
    cfg
        A valid configuration.
    folder
        Open run folder for checkpoints, curves, environment and arrays.
    preemption
        Requests to stop the run.
    group
        Connections to the other processes of the run.
    """
    helper = isinstance(group, Helper)
    quieten()
    prepare_runtime(cfg.trainer)
    say = (lambda line: None) if helper else folder.say
    checkpoint = usable_checkpoint(folder.checkpoints, run_hash(cfg), say)

    streams = Streams(cfg.seed)
    seed_everything(streams.integer("init"))
    data = build_data(cfg)
    module = build_module(cfg, data)
    if checkpoint is None:
        parents.start(cfg, module, say)
    trainer = build_trainer(cfg, folder, preemption)
    if not helper:
        made_with = record_start(cfg, folder, trainer, checkpoint, data.files)
        for remark in data.remarks:
            folder.remark(remark)
        if data.note:
            folder.remark(f"NOT COMPARABLE with the paper: {data.note}")
        if advice := module.advice(trainer.strategy.root_device):
            folder.say(advice)
        preemption.check()

    # each process needs its own noise, for its own items of the same batch
    seed_everything(streams.integer("training", *([trainer.global_rank] if helper else [])))
    with group.training(preemption, folder):
        trainer.fit(module, datamodule=data, ckpt_path=checkpoint, weights_only=True)
    if helper:
        return []

    rows: list[Row] = []
    tester = build_tester(cfg, folder, trainer)
    for number, evaluation in enumerate(module.evaluations(folder.path)):
        seed_everything(streams.integer("evaluation", number))
        test(tester, module, data, evaluation, run_hash(cfg))
        rows += make_rows(cfg, module, evaluation, made_with)
        for remark in module.remarks:
            folder.remark(remark)
    if lost := [seed for seed in cfg.seeds if all(row.value is None for row in rows if row.seed == seed)]:
        folder.remark(f"no results for seed {', '.join(map(str, lost))}: it has diverged, the others have not")
    write_arrays(folder.arrays, module.arrays)
    return rows


def record_start(
    cfg: RunConfig, folder: RunFolder, trainer: pl.Trainer, checkpoint: Path | None, files: dict[str, str]
) -> dict[str, Any]:
    """Write ``environment.json``, print messages about the start, and return the file's content.

    `files` are the data files that were read, with their SHA-256.
    """
    device = trainer.strategy.root_device
    if note := mps_note(cfg.trainer.accelerator):
        folder.say(note)
    if cfg.scale == "paper" and device.type == "cpu" and not cfg.seeds:  # stacked models are small
        folder.say(
            "scale=paper is meant for a GPU, but trains on the CPU here: expect months instead of hours (see the "
            "estimates below); scale=small takes minutes"
        )
    path = folder.path / "environment.json"
    earlier = environment.read(path) if checkpoint is not None else None
    name = environment.device_name(device, trainer.world_size)
    made_with = environment.describe(list(cfg.seeds) or cfg.seed, name, earlier)
    if files:
        made_with["files"] = files
    write_json(path, made_with)
    if len(made_with["commits"]) > 1:
        folder.say(f"this run was started with other code: commits {', '.join(made_with['commits'])}")
    if len(made_with["devices"]) > 1:
        trained_on = made_with["device"]
        folder.remark(f"trained on {trained_on}: the numbers are not exactly those of a run that stayed on one")
    if checkpoint is not None:
        folder.say(f"resuming from {checkpoint}")
    return made_with


def test(trainer: pl.Trainer, module: ExperimentModule, data: DataModule, evaluation: Evaluation, run: str) -> None:
    """Test the weights of one evaluation of a run; the results are then in the module's ``measurements``."""
    module.evaluation = evaluation
    module.load_state_dict(weights(evaluation.checkpoint, run), strict=True)
    data.test_items = evaluation.items
    trainer.test(module, datamodule=data, verbose=False)


def make_rows(cfg: RunConfig, method: ExperimentModule, evaluation: Evaluation, made_with: dict[str, Any]) -> list[Row]:
    """Return the measurements of one test as rows."""
    run, recipe, keys, written = run_directory(cfg).name, recipe_hash(cfg), row_keys(cfg) | evaluation.keys, now()
    return [
        Row(
            run=run,
            paper=cfg.paper,
            scale=cfg.scale,
            recipe=recipe,
            keys=plain_keys(keys | measurement.keys),
            seed=cfg.seed if measurement.seed is None else measurement.seed,
            metric=measurement.metric,
            value=plain_value(measurement.value),
            unit=measurement.unit,
            n=int(measurement.n),
            commit=made_with["commit"],
            dirty=made_with["dirty"],
            device=made_with["device"],
            written=written,
        )
        for measurement in method.measurements
    ]


def quieten() -> None:
    """Silence messages and warnings of Lightning and torch about intended behaviour."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)  # devices found, limits reached, tips
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # each process of several that begins
    warnings.filterwarnings("ignore", message=".*sync_dist=True.*")  # every process measures all validation items
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")  # batches are created in this process
    warnings.filterwarnings("ignore", message=".*across ranks is zero.*")  # no validation samples, no early stop
    warnings.filterwarnings("ignore", message=".*`srun` command is available.*")  # runs on a login node are intended
    warnings.filterwarnings("ignore", message=".*torch.jit.script.*deprecated.*")  # of forward-mode differentiation
    warnings.filterwarnings("ignore", message=".*isinstance\\(treespec, LeafSpec\\).*")  # of Lightning with newer torch
