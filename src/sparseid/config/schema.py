"""Root of a run's configuration; data sets and methods define their settings in their own folders."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import yaml

from sparseid.settings import MISSING, Paths, Settings, TrainerSettings, setting

SCHEMA_VERSION = 1
"""Incremented when a field changes its meaning; stored in every run's config.yaml."""


@dataclass
class LoggerSettings(Settings):
    """Logger of training curves in addition to the run folder's metrics.csv."""

    name: str = setting("Logger.", default="csv", choices=("csv", "wandb"))
    project: str = setting("Weights & Biases project.", default="sparseid")
    entity: str = setting("Weights & Biases team or user; empty for your default.", default="")
    mode: str = setting(
        "online, offline (uploaded later with wandb sync) or auto: online if you are logged in.",
        default="auto",
        choices=("auto", "online", "offline"),
    )


@dataclass
class RunConfig(Paths):
    """Root of a run's configuration."""

    experiment: str = setting("Preset (a name under configs/experiment).")
    scale: str = setting("Size of the experiment: smoke, small or paper.")
    paper: str = setting("Paper that the preset belongs to; names the output folder.")
    seed: int = setting("Seed of all random streams of the run.", default=0, at_least=0)
    seeds: list[int] = setting(
        "Seeds of the members of a stack, trained together instead of as one run per seed; empty for a single `seed`.",
        default=[],
    )
    force: bool = setting("Repeat runs that are already done.", default=False)
    outputs: str = setting("Folder for runs and reports.", default="outputs", path=True)
    paired: list[list[str]] = setting(
        "Groups of swept keys that advance together instead of forming a product: [[seed, data.canvas]].", default=[]
    )
    variants: list[str] = setting(
        "Overrides, as typed, with which a sweep is repeated; an empty text is the unchanged sweep: "
        '["", "data.mixing=additive", "data.gain_x1=3 data.gain_x2=3"].',
        default=[],
    )
    schema: int = setting("Version of this schema, stored in the config.yaml of runs.", default=SCHEMA_VERSION)
    method: Any = MISSING
    data: Any = MISSING
    trainer: TrainerSettings = setting("Training.", default=TrainerSettings)
    logger: LoggerSettings = setting("Logging.", default=LoggerSettings)


def run_config_text(cfg: RunConfig) -> str:
    """Return a configuration as YAML with all values resolved; ``config.stored.parse_run_config`` is the inverse."""
    return yaml.safe_dump(asdict(cfg), sort_keys=False)
