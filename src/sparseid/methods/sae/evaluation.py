"""Measurements of a pair of sparse autoencoders, gathered over the batches of held-out tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from sparseid.measurements import Measurement, units
from sparseid.methods.sae.codes import Codes
from sparseid.methods.sae.metrics import ABOVE, METRICS

if TYPE_CHECKING:
    from sparseid.data.mlp_activations.language_model import NextTokenLosses

UNITS = units(METRICS)


class CodeTotals:
    """Sums over tokens of one code.

    Parameters
    ----------
    features, width
        Size of the dictionary.
    device
        Where the sums are kept.

    Attributes
    ----------
    fired
        (features,) int64: tokens on which each feature was active.
    """

    def __init__(self, features: int, width: int, device: torch.device) -> None:
        self.tokens = 0
        self.fired = torch.zeros(features, dtype=torch.int64, device=device)
        self._error, self._square = (torch.zeros((), dtype=torch.float64, device=device) for _ in range(2))
        self._sum = torch.zeros(width, dtype=torch.float64, device=device)

    def add(self, targets: Tensor, reconstructions: Tensor, codes: Codes) -> None:
        """Add a batch of tokens (tokens, width), their reconstructions and their codes."""
        self.tokens += len(targets)
        self.fired += codes.counts()
        wide = targets.double()
        self._error += (reconstructions.double() - wide).square().sum()
        self._square += wide.square().sum()
        self._sum += wide.sum(dim=0)

    @property
    def dead(self) -> int:
        """Number of features that were active on no token."""
        return int((self.fired == 0).sum())

    @property
    def l0(self) -> float:
        """Mean number of active features of a token."""
        return int(self.fired.sum()) / self.tokens

    @property
    def explained_variance(self) -> float | None:
        """One minus the squared error over the squared distance from the mean token; None if all tokens are equal."""
        variance = self._square - self._sum.square().sum() / self.tokens
        return float(1 - self._error / variance) if variance > 0 else None


class JacobianTotals:
    """Sums over the entries of Jacobians between active features."""

    def __init__(self) -> None:
        self.entries = 0
        self._above, self._sum = torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.float64)

    def add(self, block: Tensor) -> None:
        """Add the Jacobians (tokens, active outputs, active inputs) of a batch."""
        size = block.abs()
        self.entries += size.numel()
        self._above = (size > ABOVE).sum() + self._above
        self._sum = size.double().sum() + self._sum

    @property
    def mean(self) -> float:
        """Mean absolute entry."""
        return float(self._sum) / self.entries

    @property
    def above(self) -> float:
        """Percentage of entries with an absolute value above `ABOVE`."""
        return 100 * int(self._above) / self.entries


class PartResult(NamedTuple):
    """Results of one code.

    Attributes
    ----------
    totals
        Sums over held-out tokens.
    dead_in_training
        Number of features that were idle at the end of the training for longer than the repository allows.
    """

    totals: CodeTotals
    dead_in_training: int


def measure(
    parts: Mapping[str, PartResult], jacobian: JacobianTotals | None = None, losses: NextTokenLosses | None = None
) -> list[Measurement]:
    """Return the measurements: of both codes together without a key, and of each with the key `part`.

    Parameters
    ----------
    parts
        Results by the code's name.
    jacobian
        Sums of Jacobians; None if there are none.
    losses
        Losses of the transformer with the MLP's output reconstructed and without it; None if it predicts no tokens.
    """
    values: list[Measurement] = []

    def add(name: str, value: float | None, n: int, part: str = "") -> None:
        values.append(Measurement(name, value, UNITS[name], n, {"part": part} if part else {}))

    of_part = {name: _of_code(result) for name, result in parts.items()}
    tokens = next(iter(parts.values())).totals.tokens
    for metric in ("dead_features", "dead_share", "dead_in_training", "explained_variance", "l0"):
        of_codes = [of_part[name][metric] for name in parts]
        known = [value for value in of_codes if value is not None]
        counted = metric in ("dead_features", "dead_in_training")
        whole = sum(known) if counted else sum(known) / len(known) if len(known) == len(of_codes) else None
        add(metric, whole, tokens)
        for name, value in zip(parts, of_codes, strict=True):
            add(metric, value, tokens, name)
    if jacobian is not None:
        add("jacobian_mean", jacobian.mean, jacobian.entries)
        add("jacobian_above", jacobian.above, jacobian.entries)
    if losses is not None:
        add("loss_recovered", losses.recovered, losses.predictions)
    return values


def _of_code(result: PartResult) -> dict[str, float | None]:
    totals = result.totals
    return {
        "dead_features": totals.dead,
        "dead_share": 100 * totals.dead / len(totals.fired),
        "dead_in_training": result.dead_in_training,
        "explained_variance": totals.explained_variance,
        "l0": totals.l0,
    }
