"""Independent random bits for the noise of black-and-white images."""

from __future__ import annotations

import math

import numpy as np

CHUNK = 1 << 20
"""Random bytes drawn at a time."""


def random_bits(shape: tuple[int, ...], probability: float, rng: np.random.Generator) -> np.ndarray:
    """Draw independent booleans that are True with the given probability, from one random byte each.

    A byte below floor(256 p) is True; a byte equal to it is decided by a second number, so the probability is exact.
    """
    border = min(int(probability * 256), 255)
    bits = np.empty(math.prod(shape), bool)
    for start in range(0, len(bits), CHUNK):  # pieces that fit the cache
        piece = bits[start : start + CHUNK]
        noise = rng.integers(0, 2**64, -(-len(piece) // 8), dtype=np.uint64).view(np.uint8)[: len(piece)]
        np.less(noise, border, out=piece)
        undecided = np.flatnonzero(noise == border)
        piece[undecided] = rng.random(len(undecided)) < probability * 256 - border
    return bits.reshape(shape)
