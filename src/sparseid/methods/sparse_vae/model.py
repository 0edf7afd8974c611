"""Common interface of the models, the Sparse VAE and the VAE."""

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
    """Properties of data and training that a model needs.

    Attributes
    ----------
    features
        Number of columns of the data matrix.
    gaussian
        Whether features are independent Gaussians; otherwise a row holds counts of its features.
    row_normalised
        Whether the encoder gets each row divided by its sum.
    batch_size, steps
        Configured number of samples per step, and number of training steps.
    """

    features: int
    gaussian: bool
    row_normalised: bool
    batch_size: int
    steps: int


class Terms(NamedTuple):
    """Terms of an objective, (members,) each; 0 for terms that a model does not have.

    Attributes
    ----------
    reconstruction
        Reconstruction error, averaged over the batch.
    divergence
        Weighted divergence of the posterior from its prior, averaged over the batch.
    sigma
        Terms in the standard deviations of Gaussian features.
    prior
        Prior of the parameters.
    """

    reconstruction: Tensor
    divergence: Tensor
    sigma: Tensor
    prior: Tensor

    @property
    def total(self) -> Tensor:
        """Objective (members,), to be minimised."""
        return self.reconstruction + self.divergence + self.sigma + self.prior


class LatentModel(nn.Module):
    """A model of a data matrix by latents, for a stack. Inputs are (members, batch, features), as in the data."""

    def prepare(self, train: Tensor, column_sd: Tensor) -> None:
        """Initialise from the data before training: (members, samples, features) and (members, features)."""

    def terms(self, inputs: Tensor, noise: Noise, step: int, features: Tensor | None = None) -> Terms:
        """Return the terms of the objective at a step; `features` selects the features to reconstruct."""
        raise NotImplementedError

    def encode(self, inputs: Tensor) -> Tensor:
        """Return the codes (members, batch, latents) of the inputs: means of their posteriors."""
        raise NotImplementedError

    def reconstruct(self, inputs: Tensor, noise: Noise) -> Tensor:
        """Return the reconstruction (members, batch, features) from a sampled z: means, or probabilities."""
        raise NotImplementedError

    def loadings(self) -> dict[str, Tensor]:
        """Return the weights between features and latents: `selector` (members, features, latents) and others."""
        return {}

    def trained(self) -> list[nn.Parameter]:
        """Return the parameters that Adam trains."""
        return list(self.parameters())

    def after_step(self) -> None:
        """Update parameters that have their own rule, after a step of Adam."""


class VAE(LatentModel):
    """A VAE with standard normal latents; a beta-VAE if its divergence has a weight other than 1.

    Parameters
    ----------
    method
        Sizes and weights.
    given
        Properties of data and training.
    generators
        One per member, for its initial values.
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
        """Initialise the standard deviations, and the scale of their prior, from those of the data."""
        if self.log_sigma is not None:
            self.log_sigma.copy_(initial_log_sigma(column_sd))
            self.sigma_scale.copy_(sigma_scale(column_sd))

    def posterior(self, inputs: Tensor) -> Posterior:
        """Encode inputs."""
        if self.given.row_normalised:
            inputs = inputs / inputs.sum(dim=-1, keepdim=True).clamp(min=1)  # empty rows stay empty
        return self.encoder(inputs)

    def sample(self, posterior: Posterior, noise: Noise, step: int) -> Tensor:
        """Return samples z (members, batch, latents) from the posterior."""
        return posterior.mean + noise.normal * (0.5 * posterior.log_variance).exp()

    def decode(self, latents: Tensor, features: Tensor | None = None) -> Tensor:
        """Return means (members, batch, features), or logits of a row's features."""
        return self.decoder(latents)

    def divergence(self, posterior: Posterior, inputs: Tensor) -> Tensor:
        """Return the divergence (members,) of posteriors from the prior, averaged over the batch."""
        return self.method.beta * standard_divergence(posterior.mean, posterior.log_variance, self.method.kl_reduction)

    def prior(self, step: int) -> Tensor:
        """Return the part (members,) of the parameters' prior for one batch."""
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
        Probabilities p* (members, features, latents), initially 1/2.
    slab_share
        Fractions eta (members, latents), initially uniform in [0, 1).
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
        """Return the outputs of all features, or of the given ones."""
        return self.decoder(latents, features)

    def prior(self, step: int) -> Tensor:
        """Return the penalty on the selectors; 0 before the end of the warm-up."""
        prior = self.method.prior
        if step < prior.warm_up * self.given.steps:
            return super().prior(step)
        rates = prior.lambda0, prior.lambda1
        return selector_penalty(self.decoder.selector, self.slab_probability, *rates, self.given.batch_size)

    @torch.no_grad()
    def after_step(self) -> None:
        """Perform the E and the M step."""
        prior, normalised = self.method.prior, self.method.prior.laplace_normaliser == "paper"
        share = (self.slab_share, prior.lambda0, prior.lambda1, normalised)
        self.slab_probability.copy_(slab_probability(self.decoder.selector, *share))
        self.slab_share.copy_(slab_share(self.slab_probability, prior.a, prior.b or self.given.features))

    def loadings(self) -> dict[str, Tensor]:
        """Return W, p* and eta."""
        parts = {"slab_probability": self.slab_probability, "slab_share": self.slab_share}
        return {"selector": self.decoder.selector, **parts}
