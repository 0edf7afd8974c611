"""Sparse motif maps by a penalty, a baseline of Sparling (appendix K.1)."""

from __future__ import annotations

from torch import Tensor, nn

from sparseid.methods.batch_statistics import ChannelNorm
from sparseid.methods.sparling.losses import kl_penalty, l1_penalty

KINDS = ("l1", "kl")


class PenalisedLayer(nn.Module):
    r"""Batch norm, then an activation that is made sparse only by a penalty.

    ``l1``: ReLU, penalised by its mean. ``kl``: sigmoid, whose mean is pulled to a density; the decoder gets
    ReLU(sigmoid - 1/2), so that entries with a sigmoid above 1/2 are active.

    Parameters
    ----------
    channels
        Number of motif channels C.
    kind
        ``l1`` or ``kl``.
    weight
        Weight lambda of the penalty.
    density
        Target density of kl.
    batch_norm
        ``affine``, ``plain`` or ``none``.

    Raises
    ------
    ValueError
        If the kind is unknown.
    """

    def __init__(self, channels: int, kind: str, weight: float, density: float, batch_norm: str = "affine") -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} must be one of {KINDS}")
        self.norm = nn.Identity() if batch_norm == "none" else ChannelNorm(channels, affine=batch_norm == "affine")
        self.kind, self.weight, self.density = kind, weight, density

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, C, *spatial) to the decoder's motif map, of the same shape."""
        return self.with_penalty(x)[0]

    def with_penalty(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the motif map and weight x penalty, a scalar."""
        z = self.norm(x)
        if self.kind == "l1":
            motifs = z.relu()
            return motifs, self.weight * l1_penalty(motifs)
        shares = z.sigmoid()
        return (shares - 0.5).relu(), self.weight * kl_penalty(shares, self.density)
