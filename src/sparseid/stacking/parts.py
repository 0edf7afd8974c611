"""Parts of a stack that fit the cache."""

from __future__ import annotations

from collections.abc import Iterator

import torch

FLOATS = {"cpu": 2**18, "cuda": 2**27}
"""Maximum size of the largest intermediate tensor of a part: fits a CPU's cache, or easily a GPU's memory."""


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
    rows = max(FLOATS.get(device.type, FLOATS["cuda"]) // floats, 1)
    together = max(rows // batch, 1)  # number of members whose whole batches fit
    for first in range(0, members, together):
        for start in range(0, batch, rows):
            yield slice(first, min(first + together, members)), slice(start, min(start + rows, batch))
