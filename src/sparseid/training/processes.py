"""Runs on several devices, with one process per device: rank zero owns the run folder, the others only train.

Lightning starts the other processes: each is the same command, with its number in ``LOCAL_RANK``. They end after
training; rank zero evaluates alone and is the only process that writes files or prints.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytorch_lightning as pl

WAIT_S = 30.0
"""Maximum number of seconds that the processes of a run wait for each other to end."""


def helper_process() -> bool:
    """Return whether this process has a non-zero rank in a run on several devices."""
    ranks = [os.environ[name] for name in ("RANK", "LOCAL_RANK", "SLURM_PROCID") if name in os.environ]
    return bool(ranks) and int(ranks[0]) > 0


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
