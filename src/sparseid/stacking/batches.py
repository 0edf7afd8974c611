"""Training batches of a stack, in which every member visits its own data in its own order."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from sparseid.stacking.members import generators


class StackedBatches:
    """Items of every training batch, per member; batch i is a function of (seed, i).

    In an epoch each member sees its items once, in an order drawn from its stream ``batches`` at the epoch's number.
    The remainder that does not fill a batch is skipped (other items in every epoch) or forms a smaller last batch.

    Parameters
    ----------
    seeds
        One per member.
    items
        Number of training items of a member.
    batch_size
        Number of items of a member in a batch.
    device
        Device of the item numbers: those of an epoch are moved at once, so that no step waits for them.
    drop_last
        Whether to skip the remainder that does not fill a batch.

    Raises
    ------
    ValueError
        If the items do not fill a batch.

    Examples
    --------
    >>> batches = StackedBatches(seeds=[0, 1], items=10, batch_size=4)
    >>> len(batches), batches.indices(0).shape
    (2, torch.Size([2, 4]))
    """

    def __init__(
        self,
        seeds: Sequence[int],
        items: int,
        batch_size: int,
        device: torch.device | str = "cpu",
        drop_last: bool = True,
    ) -> None:
        if items < (batch_size if drop_last else 1):
            raise ValueError(f"{items} items do not fill a batch of {batch_size}")
        self.seeds, self.items, self.batch_size, self.device = list(seeds), items, batch_size, device
        self.drop_last = drop_last
        self._epoch = -1
        self._order = torch.empty(0)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return self.items // self.batch_size if self.drop_last else -(-self.items // self.batch_size)

    def indices(self, number: int) -> Tensor:
        """Return (members, batch_size) int64, or fewer: the items of batch `number`, counted over all epochs."""
        epoch, place = divmod(number, len(self))
        if epoch != self._epoch:
            drawn = [torch.randperm(self.items, generator=g) for g in generators(self.seeds, "batches", epoch)]
            self._epoch, self._order = epoch, torch.stack(drawn).to(self.device)
        return self._order[:, place * self.batch_size : (place + 1) * self.batch_size]


def take(values: Tensor, indices: Tensor) -> Tensor:
    """Return the chosen items of every member.

    Parameters
    ----------
    values
        (members, items, ...), contiguous.
    indices
        (members, batch) int64.

    Returns
    -------
    Tensor
        (members, batch, ...)

    Examples
    --------
    >>> take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [0]])).tolist()
    [[2], [3]]
    """
    members, items, *shape = values.shape
    first = torch.arange(0, members * items, items, device=indices.device)
    rows = (indices + first[:, None]).flatten()  # rows of one long table: several times faster than gather
    return values.view(members * items, *shape).index_select(0, rows).view(*indices.shape, *shape)
