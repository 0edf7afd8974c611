"""What all models of this comparison offer, and the Sparse VAE and the VAE themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from sparseid.methods.sparse_vae.losses import (
    gaussian_error,
    initial_log_sigma,
    multinomial_error,
    sigma_loss,
    sigma_scale,
    standard_divergence,
)
from sparseid.methods.sparse_vae.masked_decoder import MaskedDecoder
from sparseid.methods.sparse_vae.networks import DenseDecoder, Encoder, Noise, Posterior
from sparseid.methods.sparse_vae.spike_and_slab import selector_penalty, slab_probability, slab_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparseid.methods.sparse_vae.settings import SparseVAESettings


@dataclass(frozen=True)
class Given:
    """What a model must know of data and training.

    Attributes
    ----------
    features
        Columns of the data matrix.
    gaussian
        Whether features are independent Gaussians; else a row is counts of its features.
    row_normalised
        Whether the encoder sees each row divided by its sum.
    batch_size, steps
        Samples per step as configured, and steps of the training.
    """

    features: int
    gaussian: bool
    row_normalised: bool
    batch_size: int
    steps: int


class Terms(NamedTuple):
    """The terms of an objective, (members,) each; what a model does not have is 0.

    Attributes
    ----------
    reconstruction
        Of the data, a mean over the batch.
    divergence
        Of the posterior from its prior, with its weight; a mean over the batch.
    sigma
        Of the standard deviations of Gaussian features.
    prior
        Of the parameters.
    """

    reconstruction: Tensor
    divergence: Tensor
    sigma: Tensor
    prior: Tensor

    @property
    def total(self) -> Tensor:
        """(members,) the objective, which is minimised."""
        return self.reconstruction + self.divergence + self.sigma + self.prior


class LatentModel(nn.Module):
    """A model of a data matrix by latents, for a stack. Inputs are (members, batch, features), as in the data."""

    def prepare(self, train: Tensor, column_sd: Tensor) -> None:
        """Take what comes from the data before training: (members, samples, features) and (members, features)."""

    def terms(self, inputs: Tensor, noise: Noise, step: int, features: Tensor | None = None) -> Terms:
        """Return the terms of the objective at a step; `features` are those whose reconstruction counts."""
        raise NotImplementedError

    def encode(self, inputs: Tensor) -> Tensor:
        """Return (members, batch, latents) the codes of the inputs: means of their posteriors."""
        raise NotImplementedError

    def reconstruct(self, inputs: Tensor, noise: Noise) -> Tensor:
        """Return (members, batch, features) what a sampled z says of the inputs: means, or probabilities."""
        raise NotImplementedError

    def loadings(self) -> dict[str, Tensor]:
        """Return what says which features a latent is about: `selector` (members, features, latents) and others."""
        return {}

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that Adam trains."""
        return list(self.parameters())

    def after_step(self) -> None:
        """Update what has its own rule, after a step of Adam's."""


class VAE(LatentModel):
    """A VAE with standard normal latents; a beta-VAE with a weight other than 1 of its divergence.

    Parameters
    ----------
    method
        Sizes and weights.
    given
        Of data and training.
    generators
        One per member, from which its initial values are drawn.
    """

    sigma_scale: Tensor

    def __init__(self, method: SparseVAESettings, given: Given, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.method, self.given = method, given
        sizes = method.latents, method.hidden, given.features
        self.encoder = Encoder(*sizes[::-1], generators, with_gamma=method.model == "vsc")
        self.decoder = (MaskedDecoder if method.model == "sparse_vae" else DenseDecoder)(*sizes, generators)
        members = len(generators)
        self.log_sigma = nn.Parameter(torch.zeros(members, given.features)) if given.gaussian else None
        self.register_buffer("sigma_scale", torch.ones(members))

    @torch.no_grad()
    def prepare(self, train: Tensor, column_sd: Tensor) -> None:
        """Begin the standard deviations at those of the data, and take the scale of their prior from them."""
        if self.log_sigma is not None:
            self.log_sigma.copy_(initial_log_sigma(column_sd))
            self.sigma_scale.copy_(sigma_scale(column_sd))

    def posterior(self, inputs: Tensor) -> Posterior:
        """Encode inputs."""
        if self.given.row_normalised:
            inputs = inputs / inputs.sum(dim=-1, keepdim=True).clamp(min=1)  # an empty row stays empty
        return self.encoder(inputs)

    def sample(self, posterior: Posterior, noise: Noise, step: int) -> Tensor:
        """Return (members, batch, latents) z drawn from the posterior."""
        return posterior.mean + noise.normal * (0.5 * posterior.log_variance).exp()

    def decode(self, latents: Tensor, features: Tensor | None = None) -> Tensor:
        """Return (members, batch, features) means, or logits of a row's features."""
        return self.decoder(latents)

    def divergence(self, posterior: Posterior, inputs: Tensor) -> Tensor:
        """Return (members,) the divergence of posteriors from the prior, a mean over the batch."""
        return self.method.beta * standard_divergence(posterior.mean, posterior.log_variance, self.method.kl_reduction)

    def prior(self, step: int) -> Tensor:
        """Return (members,) the share of a batch in the parameters' prior."""
        return torch.zeros_like(self.sigma_scale)

    def terms(self, inputs: Tensor, noise: Noise, step: int, features: Tensor | None = None) -> Terms:
        """Return the terms of the objective at a step."""
        posterior = self.posterior(inputs)
        outputs = self.decode(self.sample(posterior, noise, step), features)
        if self.log_sigma is None:
            error, sigma = multinomial_error(outputs, inputs), torch.zeros_like(self.sigma_scale)
        else:
            chosen = slice(None) if features is None else features
            error = gaussian_error(outputs, inputs[..., chosen], self.log_sigma[:, chosen])
            sigma = sigma_loss(self.log_sigma, self.sigma_scale, self.given.batch_size)
        return Terms(error, self.divergence(posterior, inputs), sigma, self.prior(step))

    def encode(self, inputs: Tensor) -> Tensor:
        """Return the posterior means."""
        return self.posterior(inputs).mean

    def reconstruct(self, inputs: Tensor, noise: Noise) -> Tensor:
        """Return means, or probabilities, of a sampled z."""
        outputs = self.decode(self.sample(self.posterior(inputs), noise, self.given.steps))
        return outputs if self.given.gaussian else outputs.softmax(dim=-1)


class SparseVAE(VAE):
    """The Sparse VAE: a masked decoder whose selectors have a spike-and-slab lasso prior.

    Attributes
    ----------
    slab_probability
        (members, features, latents) p*, begins at 1/2.
    slab_share
        (members, latents) eta, begins uniform in [0, 1).
    """

    slab_probability: Tensor
    slab_share: Tensor
    decoder: MaskedDecoder

    def __init__(self, method: SparseVAESettings, given: Given, generators: Sequence[torch.Generator]) -> None:
        super().__init__(method, given, generators)
        drawn = torch.stack([torch.rand(method.latents, generator=generator) for generator in generators])
        self.register_buffer("slab_share", drawn)
        self.register_buffer("slab_probability", torch.full_like(self.decoder.selector, 0.5).detach())

    def decode(self, latents: Tensor, features: Tensor | None = None) -> Tensor:
        """Return the outputs of all features, or of those named."""
        return self.decoder(latents, features)

    def prior(self, step: int) -> Tensor:
        """Return the penalty of the selectors; nothing before the end of the warm-up."""
        prior = self.method.prior
        if step < prior.warm_up * self.given.steps:
            return super().prior(step)
        rates = prior.lambda0, prior.lambda1
        return selector_penalty(self.decoder.selector, self.slab_probability, *rates, self.given.batch_size)

    @torch.no_grad()
    def after_step(self) -> None:
        """Make the E and the M step."""
        prior, normalised = self.method.prior, self.method.prior.laplace_normaliser == "paper"
        share = (self.slab_share, prior.lambda0, prior.lambda1, normalised)
        self.slab_probability.copy_(slab_probability(self.decoder.selector, *share))
        self.slab_share.copy_(slab_share(self.slab_probability, prior.a, prior.b or self.given.features))

    def loadings(self) -> dict[str, Tensor]:
        """Return W, p* and eta."""
        parts = {"slab_probability": self.slab_probability, "slab_share": self.slab_share}
        return {"selector": self.decoder.selector, **parts}
