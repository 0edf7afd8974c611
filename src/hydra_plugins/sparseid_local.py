"""Hydra plugin ``hydra/launcher=local``, implemented in `sparseid.launching.local`.

Hydra finds launchers only in the namespace package ``hydra_plugins``.
It imports every module there, so heavy imports are deferred. Its way of importing breaks dataclasses with postponed
annotations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.launcher import Launcher

if TYPE_CHECKING:
    from hydra.core.utils import JobReturn

    from sparseid.launching.launch import Task


@dataclass
class LocalSettings:
    """Settings of ``hydra.launcher``."""

    _target_: str = "hydra_plugins.sparseid_local.LocalLauncher"
    jobs: int = 0
    """Number of simultaneous runs; 0: one per GPU (or per trainer.devices GPUs), without GPUs one per CPU core."""
    wait: bool = True
    """False: start the runs in a background process and return immediately."""


class LocalLauncher(Launcher):
    """Launch each run of a sweep in its own process, several at a time; a single run in this process."""

    def __init__(self, jobs: int, wait: bool) -> None:
        self.jobs, self.wait = jobs, wait
        self.task: Task | None = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Store the task; its configuration is composed already."""
        self.task = task_function

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> "Sequence[JobReturn]":
        """Execute the runs; their outcomes are returned, never raised."""
        from sparseid.launching.launch import returns
        from sparseid.launching.local import launch_local

        assert self.task is not None
        return returns(launch_local(self.task.runs, self.task.single, self.jobs, self.wait))


ConfigStore.instance().store("local_settings", LocalSettings, group="hydra/launcher", provider="sparseid")
