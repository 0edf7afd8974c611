"""Densities of a run with adaptive density, used by its settings and its schedule (no torch)."""

from __future__ import annotations

import math

ROUNDING = 1e-9
"""Relative tolerance below the minimum for a density that should equal it."""


def cuts_above(minimum: float, start: float, factor: float) -> int:
    """Return the number of multiplications of `start` by `factor` without falling below `minimum` (all in (0, 1]).

    Examples
    --------
    >>> cuts_above(4.492e-5, start=0.5, factor=0.75)
    32
    """
    return math.floor(math.log(minimum * (1 - ROUNDING) / start, factor))


def density_grid(start: float, minimum: float, factor: float) -> list[float]:
    """Return the densities of a run: start x factor^k down to `minimum`.

    Examples
    --------
    >>> grid = density_grid(0.5, 4.492e-5, 0.75)
    >>> len(grid) - 1, f"{grid[-1]:.6e}"
    (32, '5.022621e-05')
    """
    return [start * factor**k for k in range(cuts_above(minimum, start, factor) + 1)]
