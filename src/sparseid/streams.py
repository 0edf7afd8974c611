"""Named random streams: every random number of a run comes from (seed, name, counters).

A stream is addressed, not consumed: ``Streams(3).numpy("batches", 17)`` is the generator of training batch 17 of seed
3, whoever asks for it and in whatever order. Interruptions, numbers of workers and other members of a stack therefore
cannot change the draws.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

FIXED_SEED = 0x5EED
"""Seed of everything that is the same for every run: validation and test sets."""


@dataclass(frozen=True)
class Streams:
    """The random streams of one seed.

    Parameters
    ----------
    seed
        The run's seed, any non-negative integer.

    Raises
    ------
    ValueError
        If the seed is negative.

    Examples
    --------
    >>> bool(Streams(0).numpy("batches", 5).integers(10) == Streams(0).numpy("batches", 5).integers(10))
    True
    >>> Streams(0).integer("init") != Streams(0).integer("batches")
    True
    """

    seed: int

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be non-negative, got {self.seed}")

    def sequence(self, name: str, *counters: int) -> np.random.SeedSequence:
        """Return NumPy's seed sequence of the stream `name` at position `counters`."""
        return np.random.SeedSequence([self.seed, zlib.crc32(name.encode()), len(counters), *counters])

    def integer(self, name: str, *counters: int) -> int:
        """Return a 63-bit seed, for libraries that take an integer."""
        return int(self.sequence(name, *counters).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def numpy(self, name: str, *counters: int) -> np.random.Generator:
        """Return a NumPy generator (SFC64, the fastest of NumPy's bit generators for bulk bits)."""
        return np.random.Generator(np.random.SFC64(self.sequence(name, *counters)))

    def torch(self, name: str, *counters: int, device: torch.device | str = "cpu") -> torch.Generator:
        """Return a torch generator on `device`; streams of different devices differ in law-preserving ways only."""
        import torch

        return torch.Generator(device=device).manual_seed(self.integer(name, *counters))


FIXED = Streams(FIXED_SEED)
"""Streams of the fixed validation and test sets."""
