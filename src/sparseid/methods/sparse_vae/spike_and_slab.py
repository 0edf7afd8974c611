"""Spike-and-slab lasso prior of the selector matrix (Rockova and George 2018), each column with its own fraction.

A selector w_jk comes with probability eta_k from the slab, a Laplace distribution of rate lambda_1, and otherwise from
the much narrower spike of rate lambda_0; eta_k is Beta(a, b).
"""

from __future__ import annotations

import math

from torch import Tensor

LEAST = 1e-10
"""Replaces a fraction that would be negative (authors' code)."""


def slab_probability(
    selector: Tensor, share: Tensor, spike_rate: float, slab_rate: float, normalised: bool = False
) -> Tensor:
    """Return p* (members, features, latents): the probability that a selector is from the slab, given W (E step).

    Parameters
    ----------
    selector
        Selectors W, (members, features, latents).
    share
        Fractions eta, (members, latents).
    spike_rate, slab_rate
        Rates lambda_0 and lambda_1.
    normalised
        Whether the two densities are normalised, as in the paper. The authors' code omits their factors lambda_0 and
        lambda_1, which favours the slab.

    Examples
    --------
    >>> import torch
    >>> w, share = torch.tensor([[[0.0], [1.0]]]), torch.tensor([[0.5]])
    >>> slab_probability(w, share, spike_rate=10, slab_rate=1).flatten().tolist()
    [0.5, 0.9998766183853149]
    """
    odds = share.logit()[:, None] + (spike_rate - slab_rate) * selector.abs()
    return (odds + math.log(slab_rate / spike_rate) if normalised else odds).sigmoid()


def slab_share(probability: Tensor, a: float, b: float) -> Tensor:
    """Return eta (members, latents): the most probable fraction of the slab in each column (M step).

    (sum_j p*_jk + a - 1) / (a + b + features - 2)

    Parameters
    ----------
    probability
        Probabilities p*, (members, features, latents).
    a, b
        Parameters of the Beta prior.

    Examples
    --------
    >>> import torch
    >>> slab_share(torch.tensor([[[1.0], [0.0], [0.0], [0.0]]]), a=1.0, b=1.0).tolist()
    [[0.25]]
    """
    features = probability.shape[1]
    return ((probability.sum(dim=1) + a - 1) / (a + b + features - 2)).clamp(min=LEAST)


def selector_penalty(
    selector: Tensor, probability: Tensor, spike_rate: float, slab_rate: float, batch_size: int
) -> Tensor:
    """Return sum_jk (lambda_1 p*_jk + lambda_0 (1 - p*_jk)) |w_jk| / B (members,), B the configured batch size.

    Examples
    --------
    >>> import torch
    >>> selector = torch.tensor([[[2.0], [0.5]]])  # two features of one latent
    >>> in_slab = torch.tensor([[[1.0], [0.0]]])
    >>> selector_penalty(selector, in_slab, spike_rate=10.0, slab_rate=1.0, batch_size=1).tolist()
    [7.0]
    """
    rates = spike_rate + (slab_rate - spike_rate) * probability
    return (rates * selector.abs()).sum(dim=(1, 2)) / batch_size
