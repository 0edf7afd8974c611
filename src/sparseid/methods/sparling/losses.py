"""Sequence loss, the sequences that go in and out of the decoder, and the penalties of baselines."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from sparseid.methods.batch_statistics import mean_over_processes

IGNORED = -100
"""Target of positions behind a label's end."""


def teacher_forcing(labels: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """Return decoder inputs and targets of labels.

    Parameters
    ----------
    labels
        (N, L) int64, padded by -1 behind the end.
    vocabulary
        Tokens; the last two are the start and the end token.

    Returns
    -------
    inputs
        (N, L + 1): start token, then the label (end tokens behind it; their outputs are never used).
    targets
        (N, L + 1): the label, then the end token, then -100.
    """
    start, end = vocabulary - 2, vocabulary - 1
    known = labels >= 0
    edge = labels.new_full((len(labels), 1), start)
    inputs = torch.cat([edge, labels.where(known, labels.new_tensor(end))], dim=1)
    targets = torch.cat([labels.where(known, labels.new_tensor(IGNORED)), edge.new_full(edge.shape, IGNORED)], dim=1)
    targets.scatter_(1, known.sum(1, keepdim=True), end)
    return inputs, targets


def sequence_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over all target tokens, the end token included, padding not (Sparling, section 5.1).

    Parameters
    ----------
    logits
        (N, T, vocabulary).
    targets
        (N, T), -100 where there is no target.
    """
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def exactly_right(logits: Tensor, targets: Tensor) -> Tensor:
    """Whether every target token is the most probable one, (N,) bool.

    Under teacher forcing this holds exactly when the greedy decode equals the label: up to the first mistake both see
    the same prefix. So exact-match accuracy costs one pass and no decoding loop.
    """
    return ((logits.argmax(-1) == targets) | (targets == IGNORED)).all(1)


def l1_penalty(motifs: Tensor) -> Tensor:
    """Mean absolute activation over all entries of motif maps (N, C, *spatial) (Sparling, appendix K.1)."""
    return motifs.abs().mean()


def kl_penalty(shares: Tensor, density: float) -> Tensor:
    r"""Divergence of the mean activation from a density, nats (Sparling, appendix K.1).

    .. math:: \mathrm{KL}(p \| \hat p) = p \ln \frac{p}{\hat p} + (1 - p) \ln \frac{1 - p}{1 - \hat p}

    Parameters
    ----------
    shares
        (N, C, *spatial) activations in (0, 1); p-hat is their mean over everything, of all processes.
    density
        p.
    """
    active = mean_over_processes(shares.mean())
    return density * (math.log(density) - active.log()) + (1 - density) * (math.log(1 - density) - torch.log1p(-active))
