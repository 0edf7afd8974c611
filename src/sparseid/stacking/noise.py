"""Random numbers for every training step of a stack, drawn for many steps at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from sparseid.stacking.members import generators

DRAWN_AT_ONCE = 2**16
"""Numbers of a member that are drawn at a time, so that no step waits for a generator."""

Draw = Callable[..., Tensor]
"""Draws a tensor of a shape: ``draw(shape, generator=generator)``."""


def random_signs(shape: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return a tensor of -1 and +1 with equal probability."""
    return torch.randint(0, 2, shape, generator=generator) * 2.0 - 1.0


class StepNoise:
    """A random tensor for every training step, per member: a function of (seed, step).

    Parameters
    ----------
    seeds
        One per member.
    name
        Name of the random stream.
    shape
        Shape of a member's tensor in one step; the batch comes first.
    draw
        Distribution to draw from; standard normal by default.

    Examples
    --------
    >>> noise = StepNoise([3, 8], "noise", (4, 2))
    >>> alone = StepNoise([8], "noise", (4, 2))
    >>> bool((noise.at(5, 3, torch.device("cpu"))[1] == alone.at(5, 3, torch.device("cpu"))[0]).all())
    True
    """

    def __init__(self, seeds: Sequence[int], name: str, shape: tuple[int, ...], draw: Draw = torch.randn) -> None:
        self.seeds, self.name, self.shape, self.draw = list(seeds), name, shape, draw
        self._length = max(1, DRAWN_AT_ONCE // torch.Size(shape).numel())
        self._block = -1
        self._drawn = torch.empty(0)

    def at(self, step: int, batch: int, device: torch.device) -> Tensor:
        """Return (members, batch, ...) for a step; `batch` may be smaller than a full batch."""
        block, place = divmod(step, self._length)
        if block != self._block:
            shape = (self._length, *self.shape)
            drawn = [self.draw(shape, generator=g) for g in generators(self.seeds, self.name, block)]
            self._block, self._drawn = block, torch.stack(drawn).to(device)
        return self._drawn[:, place, :batch]
