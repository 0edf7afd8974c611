"""Images of discrete factors: the grid of all combinations, and an image of each (array-based, without torch)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Levels = NDArray[np.int64]
"""Levels of the factors, (..., factors): integers from 0, in the order of the grid."""
Images = NDArray[np.uint8]
"""Images (..., height, width, channels)."""


@dataclass(frozen=True)
class FactorGrid:
    """All combinations of discrete factors, in row-major order: the last factor changes fastest.

    Parameters
    ----------
    names
        Names of the factors.
    sizes
        Number of levels of each.

    Examples
    --------
    >>> grid = FactorGrid(("hue", "shape"), (10, 4))
    >>> len(grid), grid.at(6).tolist(), int(grid.index([1, 2]))
    (40, [1, 2], 6)
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def index(self, factors: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers (...) of combinations (..., factors); ValueError for a level that does not exist."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(np.asarray(factors), -1, 0)), self.sizes))

    def at(self, index: ArrayLike) -> Levels:
        """Return the combinations (..., factors) of numbers (...); ValueError for one that is out of range."""
        return np.stack(np.unravel_index(np.asarray(index), self.sizes), axis=-1)

    def sample(self, items: int, rng: np.random.Generator) -> Levels:
        """Return `items` independent, uniform combinations (items, factors)."""
        return rng.integers(self.sizes, size=(items, len(self.sizes)))

    def sample_fixed(self, fixed: ArrayLike, items: int, rng: np.random.Generator) -> Levels:
        """Return sets of uniform combinations that share the level of one factor.

        Parameters
        ----------
        fixed
            (sets,) the number of the factor that is fixed in each set.
        items
            Combinations of a set.
        rng
            Source of the levels; the fixed one is uniform, too.

        Returns
        -------
        Levels
            (sets, items, factors)
        """
        chosen = np.asarray(fixed)
        factors = self.sample(len(chosen) * items, rng).reshape(len(chosen), items, -1)
        sets = np.arange(len(chosen))
        factors[sets, :, chosen] = factors[sets, :1, chosen]
        return factors

    def traversal(self, factors: ArrayLike, factor: int) -> Levels:
        """Return the combinations (levels, factors) that differ from one (factors,) in a factor: all of its levels."""
        repeated = np.tile(np.asarray(factors), (self.sizes[factor], 1))
        repeated[:, factor] = np.arange(self.sizes[factor])
        return repeated


class FactorImages(ABC):
    """An image for each combination of factors.

    Parameters
    ----------
    grid
        The factors.
    side
        Height and width of the images, in pixels.
    """

    channels = 3

    def __init__(self, grid: FactorGrid, side: int) -> None:
        self.grid, self.side = grid, side

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image, as networks take it."""
        return self.channels, self.side, self.side

    def __str__(self) -> str:
        factors = ", ".join(f"{name} {size}" for name, size in zip(self.grid.names, self.grid.sizes, strict=True))
        return f"{len(self.grid):,} images of {self.side} pixels: {factors}"

    @abstractmethod
    def observations(self, factors: ArrayLike) -> Images:
        """Return the images (items, height, width, channels) of combinations (items, factors)."""


class StoredImages(FactorImages):
    """Images in one array, which may be a file mapped to memory.

    Parameters
    ----------
    grid
        The factors.
    images
        (combinations, side, side, channels), in the order of the grid.
    """

    def __init__(self, grid: FactorGrid, images: Images) -> None:
        super().__init__(grid, images.shape[1])
        self.images = images

    def observations(self, factors: ArrayLike) -> Images:
        """Return the images of combinations, copied from the array."""
        return self.images[self.grid.index(factors)]
