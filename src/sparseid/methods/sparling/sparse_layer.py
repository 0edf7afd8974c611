"""Spatial sparsity layer ReLU(z - t) with moving quantile thresholds t (Sparling, section 4)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from sparseid.methods.batch_statistics import ChannelNorm, largest_per_channel, processes

THRESHOLDS = ("per_channel", "single")
BATCH_NORMS = ("affine", "plain", "none")
KEPT = 1024
"""Number of values of a channel that are kept at least while batches are gathered (all, if there are fewer)."""
LARGER = 64
"""Factor by which a batch may exceed the earlier ones of an update, however many values the threshold needs."""


class SparseLayer(nn.Module):
    r"""Batch norm, then ReLU(z - t) with a moving quantile as threshold t (Sparling, section 4).

    In training mode each batch first updates the threshold, :math:`t \leftarrow (1 - m) t + m q`, where q is the k-th
    smallest of the R values seen, k = max(1, floor(R (1 - density))), without interpolation; the batch then uses
    the new threshold. Gradients flow through active entries and batch statistics, never into t. In evaluation mode t
    is constant. Several processes combine the largest values of their parts for a common update.

    Parameters
    ----------
    channels
        Number of motif channels C.
    density
        Fraction of entries that may stay active; set :attr:`density` to change it from the next update on.
    thresholds
        ``per_channel`` (multiple thresholds, MT) or ``single`` (one for all channels, ST).
    batch_norm
        ``affine``, ``plain`` or ``none``.
    momentum
        Weight m of the newest quantile.
    accumulate_motifs
        If positive, rows (positions) are collected until rows x density reaches this, followed by one update on all of
        them; 0 updates with every batch. Batches may differ in size. Only the largest values are stored
        (:data:`KEPT`, :data:`LARGER`), so memory does not grow with the rows.

    Raises
    ------
    ValueError
        If a name is unknown, or accumulation is combined with a single threshold (undefined in the paper).

    Examples
    --------
    >>> layer = SparseLayer(channels=3, density=0.05, momentum=1.0)
    >>> maps = layer(torch.randn(4, 3, 20, 20))
    >>> f"{(maps > 0).float().mean():.2f}"
    '0.05'
    """

    def __init__(
        self,
        channels: int,
        density: float,
        thresholds: str = "per_channel",
        batch_norm: str = "affine",
        momentum: float = 0.1,
        accumulate_motifs: int = 0,
    ) -> None:
        super().__init__()
        if thresholds not in THRESHOLDS or batch_norm not in BATCH_NORMS:
            raise ValueError(
                f"thresholds={thresholds!r} must be one of {THRESHOLDS}, batch_norm={batch_norm!r} of {BATCH_NORMS}"
            )
        if accumulate_motifs and thresholds == "single":
            raise ValueError("accumulate_motifs works with thresholds=per_channel only")
        self.norm = nn.Identity() if batch_norm == "none" else ChannelNorm(channels, affine=batch_norm == "affine")
        self.density = density
        self.momentum = momentum
        self.accumulate_motifs = accumulate_motifs
        self.threshold: Tensor
        self.register_buffer("threshold", torch.zeros(channels if thresholds == "per_channel" else 1))
        self._rows = 0
        self._largest: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, C, *spatial) to the same shape with about ``density`` of the entries above zero."""
        return self.above_threshold(x).relu_()

    def above_threshold(self, x: Tensor) -> Tensor:
        """Return z - t without the ReLU, (N, C, *spatial); in training mode the threshold is updated first."""
        z = self.norm(x)
        if self.training:
            self._update(z.detach())
        return z - self.threshold.view(1, -1, *[1] * (z.dim() - 2))

    @property
    def rows_waiting(self) -> int:
        """Number of positions collected since the last update (0 without accumulation)."""
        return self._rows

    @torch.no_grad()
    def _update(self, z: Tensor) -> None:
        if self.accumulate_motifs:
            gathered = self._gather(z.flatten(2))
            if gathered is None:
                return
            quantile = gathered
        else:
            single = len(self.threshold) == 1  # of all channels, or of the only one
            quantile = kth_smallest(z.reshape(1, 1, -1) if single else z.flatten(2), self.density)
        self.threshold.lerp_(quantile, self.momentum)

    def _gather(self, z: Tensor) -> Tensor | None:
        """Add the rows of z (N, C, L) to those collected; return the quantile (C,) once there are enough rows."""
        batch_rows = z.shape[0] * z.shape[2] * processes()
        waiting, earlier_rows = self._largest, self._rows
        rows = earlier_rows + batch_rows
        last = rows * self.density >= self.accumulate_motifs
        # The last batch, whose size is not known before, decides the rank: rows of earlier ones x density < goal.
        needed = entries_above(rows, self.density) + 1 if last else self._most_needed(batch_rows)
        largest = largest_per_channel(z, min(needed, batch_rows))
        if waiting is not None:
            if last and waiting.shape[1] < min(needed, earlier_rows):
                raise ValueError(
                    f"a batch of {batch_rows} positions follows smaller ones, of whose {earlier_rows} positions only "
                    f"{waiting.shape[1]} values were kept, {needed} are needed: let batches differ by less than a "
                    f"factor of {LARGER}, or lower accumulate_motifs"
                )
            largest = torch.cat([waiting.to(largest), largest], dim=1)
            largest = largest.topk(min(max(needed, waiting.shape[1]), largest.shape[1]), dim=1).values
        if not last:
            self._largest, self._rows = largest, rows
            return None
        self._largest, self._rows = None, 0
        return largest[:, needed - 1]

    def _most_needed(self, batch_rows: int) -> int:
        """Return how many values of a channel a later update may need, if no batch exceeds this one too much."""
        return max(KEPT, math.ceil(self.accumulate_motifs + LARGER * batch_rows * self.density) + 2)

    def get_extra_state(self) -> dict[str, Any]:
        """Return the state of a checkpoint in addition to the tensors: current density and number of collected rows."""
        return {"density": self.density, "rows": self._rows, "largest": self._largest}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Restore :meth:`get_extra_state`."""
        self.density, self._rows, self._largest = state["density"], state["rows"], state["largest"]


def entries_above(rows: int, density: float) -> int:
    """Return the number of entries above the threshold: rows - max(1, floor(rows (1 - density)))."""
    return rows - max(1, int(rows * (1.0 - density)))


def kth_smallest(z: Tensor, density: float) -> Tensor:
    """Return the k-th smallest value per channel, k = max(1, floor(R (1 - density))), of R = N L values of each part.

    Equivalently the (R - k + 1)-th largest: if few entries are above it, only these are selected, in two rounds of
    top-k (within each item, then among the items' largest), without sorting.

    Parameters
    ----------
    z
        (N, C, L).
    density
        Fraction of entries above the result.

    Returns
    -------
    Tensor
        (C,).
    """
    items, channels, length = z.shape
    rows = items * length * processes()
    rank = entries_above(rows, density) + 1
    if rank * 8 <= length or processes() > 1:
        return largest_per_channel(z, rank)[:, rank - 1]
    flat = z.transpose(0, 1).reshape(channels, rows)
    return flat.kthvalue(rows - rank + 1, dim=1).values
