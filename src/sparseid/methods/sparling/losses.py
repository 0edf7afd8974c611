"""Sequence loss, input and target sequences of the decoder, and the penalties of baselines."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from sparseid.methods.batch_statistics import mean_over_processes

IGNORED = -100
"""Target of positions after a label's end."""


def teacher_forcing(labels: Tensor, vocabulary: int) -> tuple[Tensor, Tensor]:
    """Return decoder inputs and targets of labels.

    Parameters
    ----------
    labels
        (N, L) int64, padded by -1 after the end.
    vocabulary
        Number of tokens; the last two are the start and the end token.

    Returns
    -------
    inputs
        (N, L + 1): start token, then the label (then end tokens, whose outputs are never used).
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
    """Return the mean cross-entropy over target tokens, with end tokens, without padding (Sparling, section 5.1).

    Parameters
    ----------
    logits
        (N, T, vocabulary).
    targets
        (N, T), -100 for positions without a target.

    Examples
    --------
    >>> targets = torch.tensor([[3, 1, -100]])
    >>> loss = sequence_cross_entropy(torch.zeros(1, 3, 10), targets)  # ten equally likely tokens
    >>> loss.exp().round().item()
    10.0
    """
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def position_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy over labelled positions (Sparling, appendix M).

    Parameters
    ----------
    logits
        (N, positions, classes).
    labels
        (N, positions) int64.
    """
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def exactly_right(logits: Tensor, targets: Tensor, steps: int) -> Tensor:
    """Return whether each of the first `steps` target tokens is the most probable one, (N,) bool.

    With teacher forcing this holds if and only if the greedy decode of `steps` tokens equals the label: up to the first
    mistake both have the same prefix. Exact-match accuracy thus needs one pass and no decoding loop. A label of `steps`
    tokens need not be followed by the end token.
    """
    right = (logits.argmax(-1) == targets) | (targets == IGNORED)
    return right[:, :steps].all(1)


def l1_penalty(motifs: Tensor) -> Tensor:
    """Return the mean absolute activation over all entries of motif maps (N, C, *spatial) (Sparling, appendix K.1)."""
    return motifs.abs().mean()


def kl_penalty(shares: Tensor, density: float) -> Tensor:
    r"""Return the divergence of the mean activation from a density, in nats (Sparling, appendix K.1).

    .. math:: \mathrm{KL}(p \| \hat p) = p \ln \frac{p}{\hat p} + (1 - p) \ln \frac{1 - p}{1 - \hat p}

    Parameters
    ----------
    shares
        (N, C, *spatial) activations in (0, 1); p-hat is their mean over all axes and processes.
    density
        Density p.
    """
    active = mean_over_processes(shares.mean())
    return density * (math.log(density) - active.log()) + (1 - density) * (math.log(1 - density) - torch.log1p(-active))
