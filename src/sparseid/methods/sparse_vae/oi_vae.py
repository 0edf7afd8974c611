"""OI-VAE (Ainsworth et al. 2018) with a group per feature: a group lasso selects the latents of each group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from sparseid.methods.sparse_vae.losses import standard_divergence
from sparseid.methods.sparse_vae.model import Given, LatentModel, Terms
from sparseid.methods.sparse_vae.networks import Noise, Posterior
from sparseid.stacking.layers import StackedLinear

if TYPE_CHECKING:
    from sparseid.methods.sparse_vae.settings import SparseVAESettings

NARROW_STEPS = 1000
"""Number of first steps with narrow posteriors, at most a tenth of the training."""
NARROW = 0.1
"""Factor of the standard deviations in these steps."""
LEAST_SD = 1e-3
"""Added to standard deviations."""
FIRST_SD = 0.01
"""Initial standard deviation of the features."""
LEAST_RANGE = 0.1
"""Minimum range by which features are divided."""


class OIVAE(LatentModel):
    """OI-VAE on features scaled to [0, 1], as by its authors; means are returned in the data's units.

    Group j maps z to v_j . tanh(z W_j) + c_j. v and c have a standard normal prior; the rows of W_j, one per latent,
    have a group lasso, whose proximal step follows each plain gradient step.

    Parameters
    ----------
    method
        Sizes and weights.
    given
        Properties of data and training.
    generators
        One per member.

    Attributes
    ----------
    selector
        Selectors W, (members, latents, features, units).
    """

    low: Tensor
    width: Tensor

    def __init__(self, method: SparseVAESettings, given: Given, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.method, self.given = method, given
        features, latents, units = given.features, method.latents, method.oi_vae.units
        members, bound = len(generators), 1 / math.sqrt(units)
        self.mean = StackedLinear(features, latents, generators)
        self.log_sd = StackedLinear(features, latents, generators)
        drawn = [torch.randn(latents, features, units, generator=generator) for generator in generators]
        self.selector = nn.Parameter(torch.stack(drawn))
        heads = [torch.empty(features, units + 1).uniform_(-bound, bound, generator=g) for g in generators]
        self.heads = nn.Parameter(torch.stack(heads))  # v, and c in the last column
        self.log_sigma = nn.Parameter(torch.full((members, features), math.log(FIRST_SD)))
        self.register_buffer("low", torch.zeros(members, 1, features))
        self.register_buffer("width", torch.ones(members, 1, features))

    @torch.no_grad()
    def prepare(self, train: Tensor, column_sd: Tensor) -> None:
        """Compute the range of each feature."""
        self.low.copy_(train.amin(dim=1, keepdim=True))
        self.width.copy_((train.amax(dim=1, keepdim=True) - self.low).clamp(min=LEAST_RANGE))

    def posterior(self, inputs: Tensor, step: int) -> Posterior:
        """Encode inputs."""
        scaled = (inputs - self.low) / self.width
        narrow = step < min(NARROW_STEPS, self.given.steps // 10)
        sd = self.log_sd(scaled).exp() * (NARROW if narrow else 1.0) + LEAST_SD
        return Posterior(self.mean(scaled), 2 * sd.log())

    def decode(self, latents: Tensor) -> Tensor:
        """Return the means (members, batch, features) of the scaled features."""
        members, batch, _ = latents.shape
        hidden = torch.bmm(latents, self.selector.flatten(2)).tanh().view(members, batch, self.given.features, -1)
        return torch.einsum("mbfu,mfu->mbf", hidden, self.heads[..., :-1]) + self.heads[:, None, :, -1]

    def terms(self, inputs: Tensor, noise: Noise, step: int, features: Tensor | None = None) -> Terms:
        """Return the negative log likelihood per sample, the divergence and the prior of the groups' networks."""
        posterior = self.posterior(inputs, step)
        latents = posterior.mean + noise.normal * (0.5 * posterior.log_variance).exp()
        sigma = (self.log_sigma.exp() + LEAST_SD)[:, None]
        errors = ((inputs - self.low) / self.width - self.decode(latents)) / sigma
        likelihood = -0.5 * errors.square() - sigma.log() - 0.5 * math.log(2 * math.pi)
        divergence = standard_divergence(posterior.mean, posterior.log_variance, "sum")
        prior = 0.5 * self.heads.square().sum(dim=(1, 2))
        return Terms(-likelihood.sum(dim=2).mean(dim=1), divergence, torch.zeros_like(prior), prior)

    def encode(self, inputs: Tensor) -> Tensor:
        """Return the posterior means."""
        return self.posterior(inputs, self.given.steps).mean

    def reconstruct(self, inputs: Tensor, noise: Noise) -> Tensor:
        """Return the means of a sampled z, in the data's units."""
        posterior = self.posterior(inputs, self.given.steps)
        latents = posterior.mean + noise.normal * (0.5 * posterior.log_variance).exp()
        return self.low + self.width * self.decode(latents)

    def trained(self) -> list[nn.Parameter]:
        """Return all parameters except the selectors."""
        return [parameter for parameter in self.parameters() if parameter is not self.selector]

    @torch.no_grad()
    def after_step(self) -> None:
        """Perform the selectors' gradient step and the proximal step of the group lasso, which gives exact zeros."""
        assert self.selector.grad is not None
        settings = self.method.oi_vae
        moved = self.selector - settings.selector_lr * self.selector.grad
        norms = moved.norm(dim=-1, keepdim=True)
        kept = 1 - settings.selector_lr * settings.penalty_weight / norms.clamp(min=torch.finfo(norms.dtype).tiny)
        self.selector.copy_(moved * kept.clamp(min=0))
        self.selector.grad = None  # not in Adam, which therefore does not clear their gradient

    def loadings(self) -> dict[str, Tensor]:
        """Return the norms of the selectors of each latent and feature."""
        return {"selector": self.selector.norm(dim=-1).mT}
