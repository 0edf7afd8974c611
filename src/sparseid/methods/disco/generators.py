"""Frozen generators: maps from latents to images, and from normal noise to latents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from sparseid.methods.disco.settings import VAE
from sparseid.methods.disco.stylegan2 import StyleGAN2, load_stylegan2
from sparseid.methods.factor_vae.networks import ImageVAE

if TYPE_CHECKING:
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.disco.settings import GeneratorSettings


class Decoder(nn.Module):
    """The decoder of a VAE as a generator; its latents are standard normal.

    Parameters
    ----------
    decoder
        Maps latents (batch, latents) to logits of images.
    """

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        self.decoder = decoder

    def place(self, normal: Tensor) -> Tensor:
        """Return the latents of standard normal noise: the noise itself."""
        return normal

    def forward(self, latents: Tensor) -> Tensor:
        """Return images (batch, channels, side, side) in [0, 1] of latents (batch, latents)."""
        images: Tensor = self.decoder(latents).sigmoid()
        return images


def vae_of(settings: GeneratorSettings, data: FactorImageData[Any]) -> ImageVAE:
    """Return the untrained VAE of a generator's settings for the images of a data module."""
    kernels = [4] * len(settings.widths)
    return ImageVAE(data.images.side, data.images.channels, settings.latents, settings.widths, kernels, settings.hidden)


def generator_of(settings: GeneratorSettings, data: FactorImageData[Any]) -> Decoder | StyleGAN2:
    """Return the frozen generator; a decoder gets its weights later, from the run that has trained it.

    Raises
    ------
    InputError
        If the user's weights are missing or unusable.
    """
    made: Decoder | StyleGAN2
    if settings.kind == VAE:
        made = Decoder(vae_of(settings, data).decoder)
    else:
        sizes = settings.latents, settings.channels, settings.mapping_layers
        made = load_stylegan2(settings.checkpoint, data.images.side, *sizes)
    return made.requires_grad_(False)
