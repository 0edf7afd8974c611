"""Work through a stack in parts that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator

import torch

FLOATS = {"cpu": 2**18, "cuda": 2**27}
"""Size of the largest intermediate of a part: on a CPU what its cache keeps, on a GPU what its memory easily holds."""


def parts(members: int, batch: int, floats: int, device: torch.device) -> Iterator[tuple[slice, slice]]:
    """Yield the members and the rows (samples of the batch, features, ...) of each part, in order.

    Parameters
    ----------
    members, batch
        Members of the stack, and rows of each.
    floats
        Size of the largest intermediate, per member and row.
    device
        Where the work is done.

    Examples
    --------
    >>> [(m.start, m.stop, r.start, r.stop) for m, r in parts(2, 5, 2**16, torch.device("cpu"))]
    [(0, 1, 0, 4), (0, 1, 4, 5), (1, 2, 0, 4), (1, 2, 4, 5)]
    """
    rows = max(FLOATS.get(device.type, FLOATS["cuda"]) // floats, 1)
    together = max(rows // batch, 1)  # members whose whole batches fit
    for first in range(0, members, together):
        for start in range(0, batch, rows):
            yield slice(first, min(first + together, members)), slice(start, min(start + rows, batch))
