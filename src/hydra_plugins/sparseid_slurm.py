"""Hydra plugin ``hydra/launcher=slurm``, implemented in `sparseid.launching.slurm`.

Hydra finds launchers only in the namespace package ``hydra_plugins``.
It imports every module there, so heavy imports are deferred.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.launcher import Launcher
from omegaconf import OmegaConf

from sparseid.launching.slurm.settings import SlurmSettings, checked

if TYPE_CHECKING:
    from hydra.core.utils import JobReturn

    from sparseid.launching.launch import Task


class SlurmLauncher(Launcher):
    """Launch each run as one SLURM job."""

    def __init__(self, **settings: Any) -> None:
        self.settings = {
            key: OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
            for key, value in settings.items()
        }
        self.task: Task | None = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Store the task; its configuration is composed already."""
        self.task = task_function

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> "Sequence[JobReturn]":
        """Submit the runs and follow them; their outcomes are returned, never raised."""
        from sparseid.launching.launch import returns
        from sparseid.launching.slurm.launch import launch_slurm

        assert self.task is not None
        return returns(launch_slurm(self.task.runs, self.task.single, checked(self.settings)))


ConfigStore.instance().store("slurm_settings", SlurmSettings, group="hydra/launcher", provider="sparseid")
