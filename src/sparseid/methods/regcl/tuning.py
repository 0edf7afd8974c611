"""Choice of lambda by the paper's rule (section 3): the highest that leaves the loss without penalty at its minimum."""

from __future__ import annotations

import torch
from torch import Tensor


def highest_without_harm(losses: Tensor, tolerance: float = 1.0) -> Tensor:
    """Return (members,) int64: the candidate of each member, chosen on the other members alone.

    A candidate does harm if its loss, averaged over the other members, exceeds that of the first candidate by more than
    `tolerance` standard deviations over members of the first candidate's loss. The result is the last candidate before
    the first that does harm.

    Parameters
    ----------
    losses
        (members, candidates) held-out losses without the penalty; at least three members. Candidates are in the order
        of lambda, the first one is 0. A loss that is not finite does harm.
    tolerance
        Rise that counts as none, in standard deviations.

    Examples
    --------
    >>> losses = torch.tensor([[1.0, 1.1, 1.2, 3.0], [2.0, 2.1, 2.9, 4.0], [3.0, 3.1, 3.2, 5.0]])
    >>> highest_without_harm(losses).tolist()
    [2, 2, 2]
    >>> highest_without_harm(losses, tolerance=0.25).tolist()
    [1, 2, 1]
    """
    members = len(losses)
    others = ~torch.eye(members, dtype=torch.bool, device=losses.device)
    kept = losses.double().expand(members, *losses.shape)[others].view(members, members - 1, -1)
    spread = kept[..., 0].std(dim=1)
    rise = (kept - kept[..., :1]).mean(dim=1)
    harmless = rise <= tolerance * spread[:, None]  # False for NaN
    harmless[:, 0] = True
    return harmless.long().cumprod(dim=1).sum(dim=1) - 1
