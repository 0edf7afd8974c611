"""Resources of this machine for concurrent runs: cores, memory, GPUs. Nothing here imports torch."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from sparseid.config.schema import RunConfig
from sparseid.errors import InputError

MEMORY_PER_RUN = 4 * 2**30
"""Assumed bytes per run on the CPU."""


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gpus() -> list[str]:
    """Return the GPUs that this process may use, named as in ``CUDA_VISIBLE_DEVICES``."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() not in ("", "-1")]
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return found.split()


def slots(runs: Sequence[RunConfig], jobs: int) -> list[dict[str, str]]:
    """Return the environment variables of each slot for runs, one run at a time.

    Parameters
    ----------
    runs
        The runs.
    jobs
        Number of concurrent runs; 0 for all the machine has: one per GPU (per ``trainer.devices`` GPUs), without GPUs
        one per core, limited by memory.

    Raises
    ------
    InputError
        If a run needs more GPUs than there are, or `jobs` is negative.
    """
    if jobs < 0:
        raise InputError(f"hydra.launcher.jobs is {jobs}; it is the number of concurrent runs (0: all that fit)")
    if any(run.trainer.accelerator != "cpu" for run in runs) and (names := gpus()):
        each = max(run.trainer.devices for run in runs)
        if each > len(names):
            raise InputError(f"trainer.devices={each}, but this machine has {len(names)} GPUs: {', '.join(names)}")
        groups = [names[first : first + each] for first in range(0, len(names) - each + 1, each)]
        count = jobs or len(groups)
        found = [{"CUDA_VISIBLE_DEVICES": ",".join(groups[slot % len(groups)])} for slot in range(count)]
    else:
        found = [{} for _ in range(jobs or _on_cpu(runs))]
    threads = str(max(1, cores() // len(found)))  # more threads than cores slow down every run
    return [{"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads), **slot} for slot in found]


def _on_cpu(runs: Sequence[RunConfig]) -> int:
    processes = max(run.trainer.devices for run in runs)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores(), memory // MEMORY_PER_RUN) // processes)
