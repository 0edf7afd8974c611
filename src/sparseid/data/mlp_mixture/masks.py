"""Families of masks, and the mask of a configuration (no torch)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparseid.errors import InputError
from sparseid.masks import Mask, perfect_matching, read_mask, sufficiently_diverse
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.mlp_mixture.settings import MLPMixtureSettings

DRAWS = 10_000
"""Maximum number of random masks drawn."""
EDGE = 0.5
"""Probability that an observation of a random mask reads a latent."""


def circulant(latents: int, band: int) -> Mask:
    """Return the mask whose observation k reads latents k, ..., k + band - 1 cyclically.

    Examples
    --------
    >>> circulant(3, 2).astype(int).tolist()
    [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    """
    places = np.arange(latents)
    return (places[None, :] - places[:, None]) % latents < band


def dense_minus_edge(latents: int) -> Mask:
    """Return the mask of ones, except for the first observation and the first latent."""
    mask = np.ones((latents, latents), dtype=bool)
    mask[0, 0] = False
    return mask


FAMILIES: dict[str, Callable[[int], Mask]] = {
    "identity": lambda latents: np.eye(latents, dtype=bool),
    "lower_triangular": lambda latents: np.tri(latents, dtype=bool),
    "ones_minus_identity": lambda latents: ~np.eye(latents, dtype=bool),
    "dense": lambda latents: np.ones((latents, latents), dtype=bool),
    "dense_minus_edge": dense_minus_edge,
}
"""Square masks determined by their size."""


def group_members(groups: str, latents: int) -> tuple[list[int], list[int]]:
    """Return the latents (from 0) that each of two groups of observations reads.

    Raises
    ------
    InputError
        If the text is not two lists of digits joined by a hyphen, or a digit is not the number of a latent.

    Examples
    --------
    >>> group_members("12-23", 3)
    ([0, 1], [1, 2])
    """
    parts = groups.split("-")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        text = "data.groups lists the latents of two groups of observations by their digits: data.groups=12-23"
        raise InputError(text, ("data.groups",))
    first, second = ([int(digit) - 1 for digit in part] for part in parts)
    if not all(0 <= latent < latents for latent in first + second):
        text = f"data.groups={groups} names an unknown latent: they are 1 to {latents}"
        raise InputError(text, ("data.groups", "data.latents"))
    return first, second


def grouped(groups: str, latents: int, observations: int) -> Mask:
    """Return the mask of two groups of observations, the larger half first, each dense on its own latents.

    Examples
    --------
    >>> grouped("12-23", 3, 4).astype(int).tolist()
    [[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1]]
    """
    mask = np.zeros((observations, latents), dtype=bool)
    half = -(-observations // 2)
    for rows, members in zip((slice(0, half), slice(half, None)), group_members(groups, latents), strict=True):
        mask[rows, members] = True
    return mask


def random_mask(latents: int, seed: int) -> Mask:
    """Return a seed's square mask of fair coins that is Sufficiently Diverse and has a perfect matching.

    Raises
    ------
    InputError
        If none of `DRAWS` masks is.
    """
    generator = Streams(seed).numpy("data/mask")
    for _ in range(DRAWS):
        mask = generator.random((latents, latents)) < EDGE
        if sufficiently_diverse(mask) and mask.any(axis=1).all() and perfect_matching(mask) is not None:
            return mask
    text = f"none of {DRAWS} random masks of {latents} latents is Sufficiently Diverse and injective: pick a data.mask"
    raise InputError(text, ("data.mask", "data.latents"))


def mask_of(config: MLPMixtureSettings, seed: int) -> Mask:
    """Return the mask (observations, latents) bool of a seed's data; only mask=random depends on the seed.

    A named mask has ``outputs_per_row`` observations for each of its rows, a file one for each line.

    Raises
    ------
    InputError
        If the mask does not exist.
    """
    latents, outputs = config.latents, config.outputs_per_row
    if config.mask == "groups":
        return grouped(config.groups, latents, outputs * latents)
    if config.mask == "circulant":
        rows = circulant(latents, config.band)
    elif config.mask == "random":
        rows = random_mask(latents, seed)
    elif config.mask_is_file:
        rows = read_mask(Path(config.mask))
        if rows.shape[1] != latents:
            text = f"{config.mask} is a mask of {rows.shape[1]} latents: write data.latents={rows.shape[1]}"
            raise InputError(text, ("data.latents", "data.mask"))
        return rows
    else:
        rows = FAMILIES[config.mask](latents)
    return rows.repeat(outputs, axis=0)
