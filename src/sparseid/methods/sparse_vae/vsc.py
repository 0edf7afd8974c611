"""Variational sparse coding (Tonolini et al. 2020): each latent is zero with a probability given by the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from sparseid.methods.sparse_vae.losses import TINY
from sparseid.methods.sparse_vae.model import VAE, Given
from sparseid.methods.sparse_vae.networks import Noise, Posterior
from sparseid.stacking.layers import StackedLinear

if TYPE_CHECKING:
    from sparseid.methods.sparse_vae.settings import SparseVAESettings

PSEUDO_INPUTS = 10
"""Number of components of the prior (authors' code)."""
ALPHA = 0.01
"""Prior probability that a latent is not zero."""
SLOPE = {"authors": 10.0, "original": 100.0}
"""Slope of the sigmoid that approximates "is not zero" in a sample."""
SHARPNESS = 10.0
"""Slope of the sigmoid that makes the pseudo-inputs' gamma nearly 0 or 1; original only."""
RAMP = 0.45, 0.5
"""Fractions of training between which the encoder's means and variances are blended in; original only."""


class VSC(VAE):
    """VSC with a mixture prior of the posteriors of pseudo-inputs, chosen by a selector network.

    Two variants: `authors`, that of the Sparse VAE's authors, and `original`, that of Tonolini et al.'s code.
    """

    def __init__(self, method: SparseVAESettings, given: Given, generators: Sequence[torch.Generator]) -> None:
        super().__init__(method, given, generators)
        self.pseudo_inputs = StackedLinear(PSEUDO_INPUTS, given.features, generators, bias=False)
        self.pseudo_selector = StackedLinear(given.features, PSEUDO_INPUTS, generators)

    def trained(self) -> list[nn.Parameter]:
        """Return all parameters except those that stay at their initial values."""
        fixed = [] if self.method.vsc.train_pseudo_inputs else [self.pseudo_inputs, self.pseudo_selector]
        names = {id(parameter) for module in fixed for parameter in module.parameters()}
        return [parameter for parameter in self.parameters() if id(parameter) not in names]

    def sample(self, posterior: Posterior, noise: Noise, step: int) -> Tensor:
        """Return z: a Gaussian sample times a smooth step, near 1 with probability gamma and otherwise near 0."""
        mean, log_variance = posterior.mean, posterior.log_variance
        if self.method.vsc.variant == "original":
            first, last = (share * self.given.steps for share in RAMP)
            weight = min(max((step - first) / max(last - first, 1), 0.0), 1.0)
            mean, log_variance = weight * mean, weight * log_variance
        assert posterior.log_gamma is not None
        on = noise.uniform - 1 + posterior.log_gamma.exp()
        gate = (SLOPE[self.method.vsc.variant] * on).sigmoid()
        return (mean + noise.normal * (0.5 * log_variance).exp()) * gate

    def divergence(self, posterior: Posterior, inputs: Tensor) -> Tensor:
        """Return the divergence (members,) from the mixture, and of the mixture's gamma from alpha."""
        pseudo = self.pseudo_inputs.weight
        components = self.encoder(pseudo if self.given.gaussian else pseudo.softmax(dim=-1))
        scores = self.pseudo_selector(inputs)
        if self.method.vsc.variant == "authors":
            return authors_divergence(posterior, components, scores, self.given.features)
        return original_divergence(posterior, components, scores)


def authors_divergence(posterior: Posterior, components: Posterior, scores: Tensor, features: int) -> Tensor:
    """Return the divergence (members,) as computed by the Sparse VAE's authors.

    It has standard deviations in place of variances, gamma weighs only the logarithm, 1e-6 is added in the exponent,
    and the last part counts once per feature.

    Parameters
    ----------
    posterior
        Posterior of the batch, (members, batch, latents) each.
    components
        Posteriors of the pseudo-inputs, (members, pseudo-inputs, latents) each.
    scores
        Logits of the selector, (members, batch, pseudo-inputs).
    features
        Number of columns of the data.
    """
    mean, half, log_gamma = _parts(posterior, 2)
    mean_p, half_p, log_gamma_p = _parts(components, 1)
    gamma, gamma_p = log_gamma.exp(), log_gamma_p.exp()
    sd, sd_p = half.exp(), half_p.exp()
    gauss = gamma * ((sd_p + TINY) / (sd + TINY)).log()
    gauss = gauss + (sd + (mean - mean_p).square()) / (2 * (half_p + TINY).exp()) - 0.5
    zero = (1 - gamma) * ((1 - gamma + TINY) / (1 - gamma_p + TINY)).log()
    each = (gauss + zero + gamma * (log_gamma - log_gamma_p)).sum(dim=-1)  # (members, batch, pseudo-inputs)
    bernoulli = _bernoulli_divergence(gamma_p.mean(dim=-1))  # (members, 1, pseudo-inputs)
    return (scores.softmax(dim=-1) * (each + features * bernoulli)).sum(dim=2).mean(dim=1)


def original_divergence(posterior: Posterior, components: Posterior, scores: Tensor) -> Tensor:
    """Return the divergence (members,) of Tonolini et al.'s code; arguments are those of :func:`authors_divergence`.

    The weights of the pseudo-inputs are sigmoids divided by their sum, gamma weighs the whole Gaussian divergence, the
    pseudo-inputs' gamma is sharpened, and the last part counts once per latent.
    """
    mean, half, log_gamma = _parts(posterior, 2)
    mean_p, half_p, log_gamma_p = _parts(components, 1)
    gamma, gamma_p = log_gamma.exp(), (SHARPNESS * (log_gamma_p.exp() - 0.5)).sigmoid()
    variance_p = (2 * half_p).exp() + TINY
    gauss = half_p - half + ((2 * half).exp() + (mean - mean_p).square()) / (2 * variance_p) - 0.5
    zero = (1 - gamma) * ((1 - gamma + TINY) / (1 - gamma_p + TINY)).log()
    each = (gamma * gauss + zero + gamma * (log_gamma - gamma_p.log())).sum(dim=-1)
    weights = scores.sigmoid()
    weights = weights / weights.sum(dim=-1, keepdim=True)  # (members, batch, pseudo-inputs)
    chosen = (weights * gamma_p.mean(dim=-1)).sum(dim=-1)  # (members, batch)
    return ((weights * each).sum(dim=2) + mean.shape[-1] * _bernoulli_divergence(chosen)).mean(dim=1)


def _parts(posterior: Posterior, axis: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return mean, logarithm of the standard deviation and of gamma with an axis of length 1 for the other side."""
    assert posterior.log_gamma is not None
    return (
        posterior.mean.unsqueeze(axis),
        0.5 * posterior.log_variance.unsqueeze(axis),
        posterior.log_gamma.unsqueeze(axis),
    )


def _bernoulli_divergence(gamma: Tensor) -> Tensor:
    """Return the divergence of Bernoulli(gamma) from Bernoulli(alpha)."""
    zero = (1 - gamma) * ((1 - gamma + TINY) / (1 - ALPHA + TINY)).log()
    return zero + gamma * ((gamma + TINY) / (ALPHA + TINY)).log()
