"""A run on several devices: one process per device. The first keeps the folder, the others help it train.

Lightning starts the helpers: each is the same command again, with its number in ``LOCAL_RANK``. They train and leave;
the first process evaluates alone and is the only one that writes or says anything.
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
"""Seconds that processes of a run wait for each other's end."""


def helper_process() -> bool:
    """Return whether this is not the first process of a run on several devices."""
    ranks = [os.environ[name] for name in ("RANK", "LOCAL_RANK", "SLURM_PROCID") if name in os.environ]
    return bool(ranks) and int(ranks[0]) > 0


def end_with_parent() -> None:
    """End this helper as soon as the process that started it is gone, whatever it is doing then."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()


def leave_helpers_error() -> None:
    """Let the first process see that a helper failed, and end by itself.

    It sees the broken connection. Should it not within some seconds, this helper's exit code ends it: Lightning kills
    the whole run when a helper fails.
    """
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    time.sleep(WAIT_S)


@contextlib.contextmanager
def alone_afterwards(trainer: pl.Trainer) -> Iterator[None]:
    """Train with the helpers within; afterwards this process is alone, however that ended."""
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
        helpers.clear()  # Lightning watches this list, and would kill us for a helper that failed


def largest(trainer: pl.Trainer, number: int) -> int:
    """Return the largest of the processes' numbers; all of them must ask at the same step."""
    if trainer.world_size == 1:
        return number
    import torch

    own = torch.tensor(number, device=trainer.strategy.root_device)
    return int(trainer.strategy.reduce(own, reduce_op="max"))


def gather(trainer: pl.Trainer, value: Any) -> list[Any]:
    """Return the value of every process, in order; all of them must ask at the same step."""
    if trainer.world_size == 1:
        return [value]
    import torch

    values: list[Any] = [None] * trainer.world_size
    torch.distributed.all_gather_object(values, value)
    return values
