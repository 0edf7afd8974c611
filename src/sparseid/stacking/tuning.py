"""Tuning inside a stack: every member is trained with several candidate settings, and the best of them is tested.

The models of a tuned stack are the members' candidates: all of the first member, then all of the second one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Adam


def repeated(values: Tensor, candidates: int) -> Tensor:
    """Return (members x candidates, ...) values: each member's once for every candidate.

    Examples
    --------
    >>> repeated(torch.tensor([3, 7]), 2).tolist()
    [3, 3, 7, 7]
    """
    return values if candidates == 1 else values.repeat_interleave(candidates, dim=0)


def lowest_errors(errors: Tensor, candidates: int) -> Tensor:
    """Return (members,) int64: the model with the lowest error of each member's candidates.

    Of equal ones it is the first; an error that is not finite is never chosen, unless all of a member's are.

    Parameters
    ----------
    errors
        Validation errors (members x candidates,).
    candidates
        Number of candidates per member.

    Examples
    --------
    >>> lowest_errors(torch.tensor([0.3, 0.1, 0.2, float("nan"), 0.4, 0.4]), 3).tolist()
    [1, 4]
    """
    finite = torch.where(torch.isfinite(errors), errors, torch.inf).view(-1, candidates)
    first = torch.arange(0, len(errors), candidates, device=errors.device)
    return first + finite.argmin(dim=1)


class StackedAdam(Adam):
    """Adam with a learning rate per model of a stack; its moments do not depend on the rates.

    Parameters
    ----------
    parameters
        Tensors with a leading axis of models.
    rates
        Learning rate of each model.
    **settings
        Further arguments of `torch.optim.Adam`.
    """

    def __init__(self, parameters: Iterable[Tensor], rates: Sequence[float], **settings: Any) -> None:
        highest = max(rates)
        super().__init__(parameters, lr=highest, **settings)
        self.fractions = torch.tensor([rate / highest for rate in rates])
        self.alike = min(rates) == highest

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Perform a step with the highest rate, of which each model keeps the fraction that is its own rate's."""
        if self.alike:
            return super().step(closure)
        updated = [parameter for group in self.param_groups for parameter in group["params"]]
        before = [parameter.detach().clone() for parameter in updated]
        loss = super().step(closure)
        self.fractions = self.fractions.to(updated[0].device)
        for parameter, old in zip(updated, before, strict=True):
            parameter.copy_(torch.lerp(old, parameter, self.fractions.view(-1, *[1] * (parameter.dim() - 1))))
        return loss
