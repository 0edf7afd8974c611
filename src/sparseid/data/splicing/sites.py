"""Sites of motifs: rows of a batch from positions."""

from __future__ import annotations

import torch
from torch import Tensor


def site_rows(present: Tensor, footprint: int) -> Tensor:
    """Return the rows (S, 4) int64 of a batch's sites: item, kind, start, stop; by item, position, kind.

    Parameters
    ----------
    present
        (items, positions, kinds) bool: the centre of a site.
    footprint
        Positions on either side of the centre that belong to the site; those beyond the ends count to no one.

    Examples
    --------
    >>> present = torch.zeros(2, 5, 3, dtype=torch.bool)
    >>> present[1, 3, 2] = present[0, 0, 1] = True
    >>> site_rows(present, footprint=2).tolist()
    [[0, 1, 0, 3], [1, 2, 1, 5]]
    """
    positions = present.shape[1]
    item, position, kind = present.nonzero(as_tuple=True)
    start = (position - footprint).clamp(min=0)
    stop = (position + footprint + 1).clamp(max=positions)
    return torch.stack([item, kind, start, stop], dim=1).cpu()
