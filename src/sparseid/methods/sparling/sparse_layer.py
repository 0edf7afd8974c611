"""Spatial sparsity layer ReLU(z - t) with moving quantile thresholds t (Sparling, section 4)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from sparseid.methods.batch_statistics import ChannelNorm, largest_per_channel, processes

THRESHOLDS = ("per_channel", "single")
BATCH_NORMS = ("affine", "plain", "none")


class SparseLayer(nn.Module):
    r"""Batch norm, then :math:`\mathrm{ReLU}(z - t)` with a moving quantile as threshold t (Sparling, section 4).

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
        If positive, rows (positions) are collected until rows x density reaches this, followed by one update; 0 updates
        with every batch. Only the largest values are stored, so memory does not grow with the rows.

    Raises
    ------
    ValueError
        If a name is unknown, or accumulation is combined with a single threshold (undefined in the paper).
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
        if len(self.threshold) == 1:
            quantile = kth_smallest(z.reshape(1, 1, -1), self.density)
        elif not self.accumulate_motifs:
            quantile = kth_smallest(z.flatten(2), self.density)
        else:
            gathered = self._gather(z.flatten(2))
            if gathered is None:
                return
            quantile = gathered
        self.threshold.lerp_(quantile, self.momentum)

    def _gather(self, z: Tensor) -> Tensor | None:
        """Add the rows of z (N, C, L) to the buffer; return the quantile (C,) once there are enough rows."""
        batch_rows = z.shape[0] * z.shape[2] * processes()
        # An update follows as soon as rows x density reaches the goal, so it never needs more values than this.
        needed = math.ceil(self.accumulate_motifs + batch_rows * self.density) + 2
        largest = largest_per_channel(z, min(needed, batch_rows))
        if self._largest is not None:
            both = torch.cat([self._largest.to(largest), largest], dim=1)
            largest = both.topk(min(needed, both.shape[1]), dim=1).values
        self._largest, self._rows = largest, self._rows + batch_rows
        if self._rows * self.density < self.accumulate_motifs:
            return None
        quantile = largest[:, entries_above(self._rows, self.density)]
        self._largest, self._rows = None, 0
        return quantile

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
