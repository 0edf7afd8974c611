"""Runtime options of torch and the C library for training: threads, deterministic kernels, memory allocation."""

from __future__ import annotations

import ctypes
import os

import torch

from sparseid.settings import TrainerSettings

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
"""Numbers of the options in glibc's malloc.h."""
KEPT = 2**30
"""Number of bytes of freed memory that a process keeps."""
LARGEST = 2**25
"""Maximum size in bytes of a tensor in reused memory, the largest value that glibc allows."""


def prepare_runtime(trainer: TrainerSettings) -> None:
    """Set threads, deterministic kernels and the allocator; called before any use of a device."""
    if trainer.threads > 0:
        torch.set_num_threads(trainer.threads)
        if trainer.devices > 1:  # otherwise Lightning divides the cores among the processes
            os.environ["OMP_NUM_THREADS"] = str(trainer.threads)
    if trainer.deterministic:
        # cuBLAS reads this when CUDA starts; without it deterministic matrix products raise
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(trainer.deterministic, warn_only=True)
    # filling new memory finds bugs but costs a pass over every tensor
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    keep_freed_memory()


def accelerator(choice: str) -> str:
    """Return Lightning's accelerator for ``trainer.accelerator``: ``auto`` is a CUDA GPU if there is one, else the CPU.

    Lightning's own ``auto`` and ``gpu`` also pick the GPU of a Mac (MPS), which has no double precision: metrics and
    some losses need it.
    """
    if choice == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return "cuda" if choice == "gpu" else choice


def mps_note(choice: str) -> str:
    """Return the message that a Mac's GPU is not used; empty on other machines and if the CPU was chosen."""
    unused = choice != "cpu" and not torch.cuda.is_available() and torch.backends.mps.is_available()
    return "the GPU of this Mac (MPS) is not used: it has no double precision, which the metrics need" if unused else ""


def keep_freed_memory() -> bool:
    """Let the C library reuse the memory of freed tensors; return whether it can.

    By default, glibc returns large blocks to the system as soon as they are free, and every training step pays for the
    same pages again: a third of the time of a TBR stack of 20 (``scripts/bench/stack.py``). Other C libraries are left
    unchanged.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc; CDLL(None) is a TypeError on Windows
        return False
    settings = {TRIM_THRESHOLD: KEPT, TOP_PAD: LARGEST, MMAP_THRESHOLD: LARGEST}
    accepted = [set_option(option, size) == 1 for option, size in settings.items()]
    return all(accepted)
