"""Random numbers for every training step of a stack, drawn for many steps at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

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


class StepDraws:
    """Random tensors for every training step, drawn for a block of steps at a time.

    Parameters
    ----------
    draw
        ``draw(block, steps)`` returns the tensors (members, steps, ...) of a block of steps, by the block's number.
    numbers
        Numbers of a member in one tensor of one step, by which the length of a block is chosen.
    """

    def __init__(self, draw: Callable[[int, int], Iterable[Tensor]], numbers: int) -> None:
        self._draw_block, self._steps = draw, max(1, DRAWN_AT_ONCE // numbers)
        self._block = -1
        self._drawn: tuple[Tensor, ...] = ()

    def at(self, step: int, device: torch.device) -> tuple[Tensor, ...]:
        """Return the tensors (members, ...) of a step; those of its block are moved to the device at once."""
        block, place = divmod(step, self._steps)
        if block != self._block:
            self._drawn = tuple(tensor.to(device) for tensor in self._draw_block(block, self._steps))
            self._block = block
        return tuple(tensor[:, place] for tensor in self._drawn)


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
        def draw_block(block: int, steps: int) -> list[Tensor]:
            return [torch.stack([draw((steps, *shape), generator=g) for g in generators(seeds, name, block)])]

        self._draws = StepDraws(draw_block, math.prod(shape))

    def at(self, step: int, batch: int, device: torch.device) -> Tensor:
        """Return (members, batch, ...) for a step; `batch` may be smaller than a full batch."""
        (noise,) = self._draws.at(step, device)
        return noise[:, :batch]
