"""Work through a stack in chunks whose intermediates stay in the cache: rows of members, or losses of whole members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

PART_FLOATS = {"cpu": 2**18, "cuda": 2**27}
"""Maximum size of the largest intermediate tensor of a part: fits a CPU's cache, or easily a GPU's memory."""
GROUP_FLOATS = {"cpu": 2**21, "cuda": 2**27}
"""Size of the largest intermediate of a group, whose losses and gradients are computed together."""

Losses = Callable[[dict[str, Tensor], slice], Tensor]
"""Maps parameters of some members, by name, and their slice of the stack to their losses (members of the group,)."""


def parts(members: int, batch: int, floats: int, device: torch.device) -> Iterator[tuple[slice, slice]]:
    """Yield the members and the rows (samples of the batch, features, ...) of each part, in order.

    Parameters
    ----------
    members, batch
        Number of members of the stack, and of rows of each.
    floats
        Size of the largest intermediate tensor, per member and row.
    device
        Device of the computation.

    Examples
    --------
    >>> [(m.start, m.stop, r.start, r.stop) for m, r in parts(2, 5, 2**16, torch.device("cpu"))]
    [(0, 1, 0, 4), (0, 1, 4, 5), (1, 2, 0, 4), (1, 2, 4, 5)]
    """
    rows = max(PART_FLOATS.get(device.type, PART_FLOATS["cuda"]) // floats, 1)
    together = max(rows // batch, 1)  # number of members whose whole batches fit
    for first in range(0, members, together):
        for start in range(0, batch, rows):
            yield slice(first, min(first + together, members)), slice(start, min(start + rows, batch))


def member_groups(members: int, floats: int, device: torch.device) -> list[slice]:
    """Return consecutive groups of members, as large as `FLOATS` allows; at least one member each.

    Parameters
    ----------
    members
        Number of members of the stack.
    floats
        Size of the largest intermediate tensor of a member.
    device
        Device of the computation.

    Examples
    --------
    >>> member_groups(5, 2**20, torch.device("cpu"))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    together = max(GROUP_FLOATS.get(device.type, GROUP_FLOATS["cuda"]) // floats, 1)
    return [slice(first, min(first + together, members)) for first in range(0, members, together)]


def losses_in_groups(losses: Losses, parameters: Mapping[str, Tensor], groups: Sequence[slice]) -> Tensor:
    """Return the losses (members,) of all members.

    With more than one group, the gradient of each is taken as soon as its losses are known and its graph is freed: time
    and memory are those of one group after the other, not of the stack.

    Parameters
    ----------
    losses
        Computes the losses of some members.
    parameters
        Name -> (members, ...).
    groups
        Groups of members, in order.
    """
    if len(groups) == 1:
        return losses(dict(parameters), groups[0])
    return _LossesInGroups.apply(losses, list(parameters), groups, *parameters.values())


class _LossesInGroups(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, losses: Losses, names: list[str], groups: Sequence[slice], *parameters: Tensor) -> Tensor:
        gradients = [torch.zeros_like(parameter) for parameter in parameters]
        values = []
        for group in groups:
            own = [parameter.detach()[group].requires_grad_() for parameter in parameters]
            with torch.enable_grad():
                value = losses(dict(zip(names, own, strict=True)), group)
                found = torch.autograd.grad(value.sum(), own, allow_unused=True)
            for gradient, part in zip(gradients, found, strict=True):
                if part is not None:
                    gradient[group] = part
            values.append(value.detach())
        ctx.save_for_backward(*gradients)
        return torch.cat(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        weight = upstream[0]
        scaled = [gradient * weight.view(-1, *[1] * (gradient.dim() - 1)) for gradient in ctx.saved_tensors]
        return None, None, None, *scaled
