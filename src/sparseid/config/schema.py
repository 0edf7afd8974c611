"""The root of a run's configuration; data sets and methods describe theirs in their own folders."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import yaml

from sparseid.settings import MISSING, Settings, TrainerSettings, setting

SCHEMA_VERSION = 1
"""Raised when a field changes its meaning; stored in every run's config.yaml."""


@dataclass
class LoggerSettings(Settings):
    """Where step curves go in addition to the run folder's own metrics.csv."""

    name: str = setting("The logger.", default="csv", choices=("csv", "wandb"))
    project: str = setting("Weights & Biases project.", default="sparseid")
    entity: str = setting("Weights & Biases team or user; empty is your own default.", default="")
    mode: str = setting(
        "online, offline (uploaded later with wandb sync) or auto: online where you are logged in.",
        default="auto",
        choices=("auto", "online", "offline"),
    )


@dataclass
class RunConfig:
    """The root of a run's configuration."""

    experiment: str = setting("Preset that was asked for (a name under configs/experiment).")
    scale: str = setting("smoke, small or paper.")
    paper: str = setting("Paper whose method is run; names the output folder.")
    seed: int = setting("Seed of every random stream of the run.", default=0, at_least=0)
    seeds: list[int] = setting(
        "Seeds of the members of a stack, trained as one in the place of one run per seed; empty is a run of `seed`.",
        default=[],
    )
    force: bool = setting("Run again what is already done.", default=False)
    outputs: str = setting("Folder of runs and reports.", default="outputs")
    paired: list[list[str]] = setting(
        "Groups of swept keys that advance together instead of being multiplied: [[seed, data.canvas]].", default=[]
    )
    variants: list[str] = setting(
        "Overrides that a sweep is repeated with, as they are typed; the empty text is the sweep as it stands: "
        '["", "data.mixing=additive", "data.gain_x1=3 data.gain_x2=3"].',
        default=[],
    )
    schema: int = setting("Version of this schema; config.yaml files of runs carry it.", default=SCHEMA_VERSION)
    method: Any = MISSING
    data: Any = MISSING
    trainer: TrainerSettings = setting("Training.", default=TrainerSettings)
    logger: LoggerSettings = setting("Logging.", default=LoggerSettings)


def run_config_text(cfg: RunConfig) -> str:
    """Return a configuration as YAML, every value resolved; ``config.stored.parse_run_config`` is its inverse."""
    return yaml.safe_dump(asdict(cfg), sort_keys=False)
