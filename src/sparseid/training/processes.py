"""Runs on several devices, with one process per device: rank zero owns the run folder, the others only train.

Rank zero starts the other processes (`sparseid.training.group`): each is the same command, with its number in
``LOCAL_RANK``; in a SLURM step with a task per device they are its tasks. They end after training; rank zero evaluates
alone and is the only process that writes files or prints. Without several devices a process makes its own run, whatever
rank a launcher has given it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sparseid.config.identity import run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import ConfigError

if TYPE_CHECKING:
    import pytorch_lightning as pl

RUN = "SPARSEID_RUN"
"""Environment variable with the name of the run whose first process has started this one."""

LINE = "SPARSEID_LINE"
"""Environment variable with the file descriptor of the connection to that process."""

WORLD_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Environment variables of other launchers with their number of processes."""

GROUP = (
    *(RUN, LINE, "RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    *("MASTER_ADDR", "MASTER_PORT"),
)
"""Environment variables of a process's place among others."""


def rank_of(cfg: RunConfig) -> int:
    """Return the number of this process among those of a run; 0 for the first or only one."""
    if _started_here(cfg):
        return int(os.environ["LOCAL_RANK"])
    return _number("SLURM_PROCID", 0) if _is_task(cfg) else 0


def helper_process(cfg: RunConfig) -> bool:
    """Return whether this process is a further one of a run on several devices."""
    return rank_of(cfg) > 0


def together(cfg: RunConfig) -> bool:
    """Return whether other processes that make the run with this one were started before it, or have started it."""
    return _started_here(cfg) or _is_task(cfg)


def step_address(cfg: RunConfig) -> str:
    """Return the address at which the tasks of a SLURM step that make a run together meet; empty for other processes.

    It is a Unix socket without a file (abstract), which ends with its process: SLURM runs on Linux.
    """
    if _started_here(cfg) or not _is_task(cfg):
        return ""
    step = [os.environ.get(name, "0") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT")]
    return f"\0sparseid-{os.getuid()}-{'.'.join(step)}"


def check_tasks(cfg: RunConfig) -> None:
    """Compare the tasks of the SLURM step around this process with the processes of the run.

    Tasks may make a run each (``trainer.devices=1``), or one run together with a task per device; in a step of a single
    task the run starts its other processes by itself.

    Raises
    ------
    ConfigError
        If they do not fit, or if another program has started several processes for the run (torchrun, mpirun).
    """
    devices, tasks, nodes = cfg.trainer.devices, _step_tasks(), _step_nodes()
    if _started_here(cfg) or (devices == 1 and cfg.trainer.strategy == "auto"):
        return
    asked = f"trainer.devices={devices}, trainer.strategy={cfg.trainer.strategy}"
    if tasks not in (1, devices):
        hint = f"srun --ntasks={devices} starts as many as it asks for"
        hint += f"\ntrainer=ddp trainer.devices={tasks} makes one run of these tasks"
        hint += "\ntrainer=single makes a run of each task: give each another seed" if devices == 1 else ""
        raise ConfigError(f"this step has {tasks} tasks, but the run asks for {devices}", source=asked, hint=hint)
    if tasks > 1 and nodes > 1:
        hint = f"srun --nodes=1 --ntasks={devices}"
        raise ConfigError(f"this step is on {nodes} nodes; a run needs all its tasks on one", source=asked, hint=hint)
    foreign = next((name for name in WORLD_SIZES if _number(name, 1) > 1), None)
    if tasks == 1 < devices and foreign:  # srun itself sets PMI_SIZE for its tasks
        problem = f"another program (torchrun, mpirun) has started {os.environ[foreign]} of this process"
        hint = "a run starts its processes by itself: use python run.py without that program"
        raise ConfigError(problem, source=f"{foreign}={os.environ[foreign]} in the environment; {asked}", hint=hint)


def advice_to_tasks(cfg: RunConfig) -> str:
    """Return how tasks of one SLURM step that ask for the same run get one each; empty for other processes."""
    if (tasks := _step_tasks()) == 1 or cfg.trainer.devices > 1:  # these make it together: another command has it
        return ""
    return (
        f"\n  It is one of {tasks} tasks of a SLURM step: srun --ntasks=1 for one run, another seed for each of "
        "several (srun bash -c 'python run.py seed=$SLURM_PROCID ...')"
    )


@contextlib.contextmanager
def joined(cfg: RunConfig) -> Iterator[None]:
    """Let Lightning know this process's place in the run, and nothing that a launcher has set for other purposes."""
    before = {name: os.environ[name] for name in GROUP if name in os.environ}
    if not _started_here(cfg):
        # what `LightningEnvironment` reads; with a rank it starts no process itself
        _replace({"LOCAL_RANK": str(rank_of(cfg)), "MASTER_ADDR": "127.0.0.1"})
    try:
        yield
    finally:
        _replace(before)


def environment_without_group() -> dict[str, str]:
    """Return the environment for processes of other runs, which do not belong to the tasks of this one."""
    return {name: value for name, value in os.environ.items() if name not in (*GROUP, "SLURM_STEP_NUM_TASKS")}


def _started_here(cfg: RunConfig) -> bool:
    return cfg.trainer.devices > 1 and os.environ.get(RUN) == run_name(cfg) and "LOCAL_RANK" in os.environ


def _number(variable: str, otherwise: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else otherwise


def _step_tasks() -> int:
    """Return the number of tasks of the SLURM step that this process is a task of; 1 outside of steps.

    A job that is submitted from within a step inherits the variables of that step. ``SLURM_GTIDS`` is never inherited:
    it lists the tasks that SLURM has started here, of a batch script the script alone.
    """
    tasks, nodes = _number("SLURM_STEP_NUM_TASKS", 1), _step_nodes()
    here = os.environ.get("SLURM_GTIDS", "").count(",") + 1
    ours = here == tasks if nodes == 1 else nodes <= _number("SLURM_JOB_NUM_NODES", nodes)
    return tasks if ours else 1


def _step_nodes() -> int:
    return _number("SLURM_STEP_NUM_NODES", 1)


def _is_task(cfg: RunConfig) -> bool:
    return _step_tasks() == cfg.trainer.devices > 1


def _replace(variables: Mapping[str, str]) -> None:
    for name in GROUP:
        os.environ.pop(name, None)
    os.environ.update(variables)


def leave_torch() -> None:
    """Close the connections that torch has between the processes; each is alone afterwards."""
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def largest(trainer: pl.Trainer, number: int) -> int:
    """Return the maximum over all processes, which must call this at the same step."""
    if trainer.world_size == 1:
        return number
    import torch

    own = torch.tensor(number, device=trainer.strategy.root_device)
    return int(trainer.strategy.reduce(own, reduce_op="max"))


def gather(trainer: pl.Trainer, value: Any) -> list[Any]:
    """Return the values of all processes, in order; they must call this at the same step."""
    if trainer.world_size == 1:
        return [value]
    import torch

    values: list[Any] = [None] * trainer.world_size
    torch.distributed.all_gather_object(values, value)
    return values
