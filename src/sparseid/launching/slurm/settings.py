"""Settings of ``hydra/launcher=slurm``: those of hydra-submitit-launcher and a few more."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hydra_plugins.hydra_submitit_launcher.config import SlurmQueueConf

from sparseid.config.errors import ConfigError
from sparseid.spelling import did_you_mean


@dataclass
class SlurmSettings(SlurmQueueConf):
    """Settings of ``hydra.launcher``; those of `SlurmQueueConf` that are not named here keep their defaults."""

    _target_: str = "hydra_plugins.sparseid_slurm.SlurmLauncher"
    submitit_folder: str = "${outputs}/jobs/slurm"
    """Output and frozen configuration of every job; must exist when a job starts, so its name holds no job id."""
    timeout_min: int = 240
    """Time limit of a job, minutes; a run that needs longer saves, is requeued and goes on."""
    max_num_timeout: int = 1000
    """How often a run may reach its time limit."""
    tasks_per_node: int | None = None
    """Processes of a run on a node; by default trainer.devices."""
    stderr_to_stdout: bool = True
    array_parallelism: int = 1000
    """Jobs of one array at once."""
    wait: bool = True
    """False: return when the jobs are submitted."""
    max_array: int = 1000
    """Jobs of one array; clusters refuse arrays above their MaxArraySize."""
    max_in_flight: int = 0
    """Jobs of the whole command at once; 0: as many as the cluster gives."""


def checked(values: Mapping[str, Any]) -> SlurmSettings:
    """Return the settings of the launcher.

    Raises
    ------
    ConfigError
        If a key is unknown (``+hydra.launcher.key`` gets past Hydra) or a number cannot be.
    """
    known = [f"hydra.launcher.{field.name}" for field in fields(SlurmSettings)]
    for key in (f"hydra.launcher.{name}" for name in values):
        if key not in known:
            raise ConfigError(f"unknown key {key}", hint=did_you_mean(key, known))
    settings = SlurmSettings(**values)
    for name, least in (("max_array", 1), ("array_parallelism", 1), ("max_in_flight", 0), ("timeout_min", 1)):
        if getattr(settings, name) < least:
            raise ConfigError(f"hydra.launcher.{name} is {getattr(settings, name)}; it must be at least {least}")
    return settings
