"""Settings of ``hydra/launcher=slurm``: those of hydra-submitit-launcher and a few more."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hydra_plugins.hydra_submitit_launcher.config import SlurmQueueConf

from sparseid.errors import ConfigError
from sparseid.spelling import did_you_mean


@dataclass
class SlurmSettings(SlurmQueueConf):
    """Settings of ``hydra.launcher``; those of `SlurmQueueConf` that are not named here keep their defaults."""

    _target_: str = "hydra_plugins.sparseid_slurm.SlurmLauncher"
    submitit_folder: str = "${outputs}/jobs/slurm"
    """Output and serialized configuration of every job; must exist when a job starts, so its name has no job id."""
    timeout_min: int = 240
    """Time limit of a job, minutes; a longer run saves a checkpoint, is requeued and continues."""
    max_num_timeout: int = 1000
    """Number of times that a run may reach its time limit."""
    tasks_per_node: int | None = None
    """Processes of a run on a node; by default trainer.devices."""
    stderr_to_stdout: bool = True
    array_parallelism: int = 1000
    """Concurrent jobs of one array."""
    additional_parameters: Any = None
    """Other options of sbatch, {mail-type: END}; no dictionary by default, to which Hydra would let nobody add keys."""
    wait: bool = True
    """False: return after submitting the jobs."""
    max_array: int = 1000
    """Jobs of one array; clusters refuse arrays above their MaxArraySize."""
    max_in_flight: int = 0
    """Concurrent jobs of the whole command; 0: unlimited."""


def checked(values: Mapping[str, Any]) -> SlurmSettings:
    """Return the settings of the launcher.

    Raises
    ------
    ConfigError
        If a key is unknown (Hydra accepts any ``+hydra.launcher.key``) or a number is invalid.
    """
    known = [f"hydra.launcher.{field.name}" for field in fields(SlurmSettings)]
    for key in (f"hydra.launcher.{name}" for name in values):
        if key not in known:
            raise ConfigError(f"unknown key {key}", hint=did_you_mean(key, known))
    settings = SlurmSettings(**{**values, "additional_parameters": values.get("additional_parameters") or {}})
    if not isinstance(settings.additional_parameters, Mapping):
        raise ConfigError(
            f"hydra.launcher.additional_parameters is {settings.additional_parameters!r}, not options of sbatch",
            hint="hydra.launcher.additional_parameters={mail-type: END, nice: 5}, quoted for the shell",
        )
    for name, least in (("max_array", 1), ("array_parallelism", 1), ("max_in_flight", 0), ("timeout_min", 1)):
        if getattr(settings, name) < least:
            raise ConfigError(f"hydra.launcher.{name} is {getattr(settings, name)}; it must be at least {least}")
    return settings
