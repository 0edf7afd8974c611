"""Hydra plugin ``hydra/launcher=local``; the work is done by `sparseid.launching.local`.

Hydra finds launchers in the namespace package ``hydra_plugins`` only.
It imports every module there, so heavy imports wait; and it does so in a way that dataclasses with postponed
annotations do not survive.
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
    """Concurrent runs; 0: one per GPU (per trainer.devices GPUs), without GPUs one per CPU core."""
    wait: bool = True
    """False: make the runs in a background process and return at once."""


class LocalLauncher(Launcher):
    """Launcher that makes each run of a sweep in its own process, several at once, and a single run in this one."""

    def __init__(self, jobs: int, wait: bool) -> None:
        self.jobs, self.wait = jobs, wait
        self.task: Task | None = None

    def setup(self, *, hydra_context: Any, task_function: Any, config: Any) -> None:
        """Keep the task; everything else has been composed."""
        self.task = task_function

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> "Sequence[JobReturn]":
        """Make the runs; return outcomes, also of failed ones."""
        from sparseid.launching.launch import returns
        from sparseid.launching.local import launch_local

        assert self.task is not None
        return returns(launch_local(self.task.runs, self.task.single, self.jobs, self.wait))


ConfigStore.instance().store("local_settings", LocalSettings, group="hydra/launcher", provider="sparseid")
