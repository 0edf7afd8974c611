"""Settings of torch and the C library before training."""

from __future__ import annotations

import platform
import resource

import pytest
import torch

from sparseid.training.runtime import keep_freed_memory


def faults_of(rounds: int, floats: int) -> int:
    """Return the pages that the system gave out while a tensor was made and freed a number of times."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        torch.zeros(floats).add_(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory")
def test_freed_memory_is_used_again_instead_of_asked_for_again():
    floats, rounds = 2**21, 10  # 8 MiB
    pages = 4 * floats // resource.getpagesize()
    assert keep_freed_memory()
    faults_of(1, floats)
    assert faults_of(rounds, floats) < rounds * pages / 3


def test_another_c_library_is_left_alone(monkeypatch):
    class Other:
        """A C library without mallopt."""

    monkeypatch.setattr("ctypes.CDLL", lambda name: Other())
    assert not keep_freed_memory()
