"""Basics of every stack: a generator per member, numbers per member, one loss of all members."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sparseid.streams import Streams


def generators(seeds: Sequence[int], name: str, *counters: int) -> list[torch.Generator]:
    """Return the generator of the stream `name` of each member, on the CPU: draws are the same on all devices.

    Parameters
    ----------
    seeds
        One per member. A member's draws depend on its own seed only, not on the other members.
    name, counters
        As in `streams.Streams`.
    """
    return [Streams(seed).torch(name, *counters) for seed in seeds]


def per_member(values: float | Sequence[float], members: int) -> Tensor:
    """Return (members,) float32 from one number for all members or one for each.

    Raises
    ------
    ValueError
        If the number of values is neither one nor `members`.

    Examples
    --------
    >>> per_member(0.5, 3).tolist()
    [0.5, 0.5, 0.5]
    """
    vector = torch.as_tensor(values, dtype=torch.float32).flatten()
    if len(vector) not in (1, members):
        raise ValueError(f"{len(vector)} values for {members} members")
    return vector.expand(members).clone()


def sum_of_members(losses: Tensor) -> Tensor:
    """Return the sum of the members' losses, whose gradient is each member's own.

    A member whose loss is not finite counts as zero, so that it does not spoil the others: different members
    have no parameter in common. NaN if no member's loss is finite.

    Parameters
    ----------
    losses
        (members,)

    Examples
    --------
    >>> sum_of_members(torch.tensor([1.0, float("nan"), 2.0])).item()
    3.0
    """
    finite = torch.isfinite(losses)
    total = torch.where(finite, losses, torch.zeros_like(losses)).sum()
    return torch.where(finite.any(), total, torch.full_like(total, math.nan))
