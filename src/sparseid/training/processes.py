"""Runs on several devices, with one process per device: rank zero owns the run folder, the others only train.

Lightning starts the other processes: each is the same command, with its number in ``LOCAL_RANK``; in a SLURM step with
a task per device they are its tasks. They end after training; rank zero evaluates alone and is the only process that
writes files or prints. Without several devices a process makes its own run, whatever rank a launcher has given it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sparseid.config.identity import run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import ConfigError
from sparseid.training.errors import RunError

if TYPE_CHECKING:
    import pytorch_lightning as pl

WAIT_S = 30.0
"""Maximum number of seconds that the processes of a run wait for each other to end."""

RUN = "SPARSEID_RUN"
"""Environment variable with the name of the run whose first process has started this one."""

WORLD_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Environment variables of other launchers with their number of processes."""

GROUP = (
    *(RUN, "RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    *("MASTER_ADDR", "MASTER_PORT"),
)
"""Environment variables of a process's place among others."""


def helper_process(cfg: RunConfig) -> bool:
    """Return whether this process is a further one of a run on several devices."""
    return _rank(cfg) > 0


def together(cfg: RunConfig) -> bool:
    """Return whether other processes that make the run with this one were started before it, or have started it."""
    return _started_here(cfg) or _step_tasks() == cfg.trainer.devices > 1


def check_tasks(cfg: RunConfig) -> None:
    """Compare the tasks of the SLURM step around this process with the processes of the run.

    Tasks may make a run each (``trainer.devices=1``), or one run together with a task per device; in a step of a single
    task the run starts its other processes by itself.

    Raises
    ------
    ConfigError
        If they do not fit, or if another program has started several processes for the run (torchrun, mpirun).
    """
    devices, tasks, nodes = cfg.trainer.devices, _step_tasks(), _number("SLURM_STEP_NUM_NODES", 1)
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


def advice_to_tasks() -> str:
    """Return how tasks of one SLURM step that ask for the same run get one each; empty for a process outside of one."""
    if (tasks := _step_tasks()) == 1:
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
        _replace(_place(cfg))
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
    return _number("SLURM_STEP_NUM_TASKS", 1)


def _rank(cfg: RunConfig) -> int:
    if _started_here(cfg):
        return int(os.environ["LOCAL_RANK"])
    return _number("SLURM_PROCID", 0) if _step_tasks() == cfg.trainer.devices > 1 else 0


def _place(cfg: RunConfig) -> dict[str, str]:
    """Return the variables that `LightningEnvironment` reads."""
    if cfg.trainer.devices == 1:
        return {"LOCAL_RANK": "0"}  # otherwise Lightning takes SLURM_PROCID
    if _step_tasks() == 1:
        return {RUN: run_name(cfg)}  # inherited by the processes that Lightning starts
    job, step = _number("SLURM_JOB_ID", 0), _number("SLURM_STEP_ID", 0)
    port = 15000 + (job + 997 * step) % 10000  # the same for all tasks, another one for other steps
    return {
        "LOCAL_RANK": str(_rank(cfg)),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def _replace(variables: Mapping[str, str]) -> None:
    for name in GROUP:
        os.environ.pop(name, None)
    os.environ.update(variables)


def end_with_parent() -> None:
    """End this process as soon as its parent process is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()


def leave_helpers_error() -> None:
    """Let rank zero notice that this process failed, and end by itself.

    It notices the broken connection. If not within some seconds, the exit code of this process ends it: Lightning kills
    the whole run when one of its processes fails.
    """
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    time.sleep(WAIT_S)


@contextlib.contextmanager
def alone_afterwards(trainer: pl.Trainer) -> Iterator[None]:
    """Train with all processes inside the context; afterwards this process is alone, even after an error."""
    import torch

    failed = True
    try:
        yield
        failed = False
    except Exception as error:  # of the connection to a process that has gone
        if killed := _killed(getattr(trainer.strategy.launcher, "procs", [])):
            raise RunError(f"{killed}; run the same command to resume") from error
        raise
    finally:
        if trainer.world_size > 1 and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        helpers: list[subprocess.Popen] = getattr(trainer.strategy.launcher, "procs", [])
        for helper in helpers:
            with contextlib.suppress(subprocess.TimeoutExpired):
                helper.wait(timeout=0 if failed else WAIT_S)
            helper.kill()
            helper.wait()
        helpers.clear()  # Lightning watches this list, and would kill this process if one of them failed


def _killed(helpers: Sequence[subprocess.Popen]) -> str:
    """Return which of the helpers a signal has ended; empty if none."""
    for number, helper in enumerate(helpers, 1):
        with contextlib.suppress(subprocess.TimeoutExpired):
            if (code := helper.wait(timeout=1.0)) < 0:  # the connection may break before the process has ended
                name = signal.Signals(-code).name
                why = " (out of memory?)" if -code == signal.SIGKILL else ""
                return f"process {number} of the run on {len(helpers) + 1} devices was ended by {name}{why}"
    return ""


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
