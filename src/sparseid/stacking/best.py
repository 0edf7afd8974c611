"""Best state and early stopping of every member, by its own validation curve."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn


class EarlyStop(nn.Module):
    """Early stopping per member; all vectors (members,) stay on the device.

    A member that has not improved for `patience` validations is stopped: later improvements are ignored. The state is
    part of the module's ``state_dict``.

    Parameters
    ----------
    members
        Size of the stack.
    patience
        Validations without improvement after which a member is stopped; 0 disables early stopping.
    least
        Minimum decrease of the value that counts as an improvement (exclusive).

    Attributes
    ----------
    best
        Smallest validation value of each member; infinite before the first. NaN never improves.
    waited
        Validations since the best one.
    """

    best: Tensor
    waited: Tensor

    def __init__(self, members: int, patience: int = 0, least: float = 0.0) -> None:
        super().__init__()
        self.patience, self.least = patience, least
        self.register_buffer("best", torch.full((members,), math.inf))
        self.register_buffer("waited", torch.zeros(members, dtype=torch.int64))

    @property
    def stopped(self) -> Tensor:
        """Members that are stopped, (members,) bool."""
        return (self.waited >= self.patience) & (self.patience > 0)

    def update(self, values: Tensor) -> Tensor:
        """Record the members' values of a validation; return whether each has improved, (members,) bool."""
        going_on = ~self.stopped
        improved = going_on & (values < self.best - self.least)
        self.best.copy_(torch.where(improved, values, self.best))
        self.waited.copy_(torch.where(improved, 0, self.waited + going_on))
        return improved


class BestState(nn.Module):
    """A copy of the stack's tensors in which each member's slice is from its own best validation.

    Parameters
    ----------
    tensors
        Name -> tensor with a leading member axis, for example the parameters and buffers of the stack.
    """

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.names = {name: name.replace(".", "-") for name in tensors}  # a buffer's name has no dot
        for name, tensor in tensors.items():
            self.register_buffer(self.names[name], tensor.detach().clone())

    def keep(self, improved: Tensor, tensors: Mapping[str, Tensor]) -> None:
        """Copy the slices of the members that have improved, (members,) bool."""
        for name, tensor in tensors.items():
            kept = getattr(self, self.names[name])
            chosen = improved.view(-1, *[1] * (tensor.dim() - 1))
            kept.copy_(torch.where(chosen, tensor.detach(), kept))

    def tensors(self) -> dict[str, Tensor]:
        """Return the best tensors by name."""
        return {name: getattr(self, buffer) for name, buffer in self.names.items()}
