"""Networks of EncDiff: encoder and tokens are our own, autoencoder, denoiser and schedule those of `diffusers`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from diffusers.models.attention_processor import AttnProcessor
from diffusers.models.autoencoders.vq_model import VQModel
from diffusers.models.unets.unet_2d_condition import UNet2DConditionModel
from diffusers.schedulers.scheduling_ddim import DDIMScheduler
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from sparseid.methods.batch_statistics import ChannelNorm

if TYPE_CHECKING:
    from sparseid.methods.encdiff.settings import AutoencoderSettings, DenoiserSettings, EncDiffSettings

THIRD = 2
"""Index of the convolution that the published code leaves without a ReLU."""


class ResidualBlock(nn.Module):
    """Two convolutions, of 3 and 1 pixels, whose output is added to the input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            ChannelNorm(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return features of the same shape."""
        return features + self.change(features)


def image_encoder(channels: int, side: int, settings: EncDiffSettings) -> nn.Sequential:
    """Return the encoder of images (batch, channels, side, side) in [-1, 1] to scalars (batch, units)."""
    width, layers = settings.encoder_width, settings.encoder_layers
    parts: list[nn.Module] = []
    for number, inputs in enumerate([channels, *[width] * (layers - 1)]):
        parts += [nn.Conv2d(inputs, width, 4, 2, 1), ChannelNorm(width)]
        if number != THIRD or settings.third_relu:
            parts.append(nn.ReLU())
    smallest = side // 2**layers
    return nn.Sequential(
        *parts,
        ResidualBlock(width),
        ChannelNorm(width),
        nn.ReLU(),
        ResidualBlock(width),
        nn.Flatten(),
        nn.Linear(width * smallest**2, settings.units),
    )


class UnitTokens(nn.Module):
    """A perceptron of its own for each unit, from a scalar to a token: a grouped convolution over one position.

    Parameters
    ----------
    units
        Size of the code.
    hidden
        Sizes of the hidden layers, with ELUs.
    size
        Size of a token.
    """

    def __init__(self, units: int, hidden: list[int], size: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise([1, *hidden, size]):
            layers += [nn.Conv1d(units * inputs, units * outputs, 1, groups=units), nn.ELU()]
        self.layers = nn.Sequential(*layers[:-1])
        self.shape = (units, size)

    def forward(self, codes: Tensor) -> Tensor:
        """Return the tokens (batch, units, size) of scalars (batch, units)."""
        return self.layers(codes[..., None]).squeeze(-1).unflatten(-1, self.shape)


def autoencoder(channels: int, settings: AutoencoderSettings) -> VQModel:
    """Return the vector-quantised autoencoder of images (batch, channels, height, width) in [-1, 1]."""
    levels = len(settings.multipliers)
    return VQModel(
        in_channels=channels,
        out_channels=channels,
        down_block_types=("DownEncoderBlock2D",) * levels,
        up_block_types=("UpDecoderBlock2D",) * levels,
        block_out_channels=tuple(settings.width * multiplier for multiplier in settings.multipliers),
        layers_per_block=settings.blocks,
        latent_channels=settings.channels,
        num_vq_embeddings=settings.codes,
        norm_num_groups=settings.groups,
    )


def denoiser(channels: int, side: int, token_size: int, settings: DenoiserSettings) -> UNet2DConditionModel:
    """Return the U-Net of latents (batch, channels, side, side), whose levels attend to tokens of a size."""
    down = ["CrossAttnDownBlock2D" if attends else "DownBlock2D" for attends in settings.attention]
    up = ["CrossAttnUpBlock2D" if attends else "UpBlock2D" for attends in reversed(settings.attention)]
    return UNet2DConditionModel(
        sample_size=side,
        in_channels=channels,
        out_channels=channels,
        down_block_types=tuple(down),
        up_block_types=tuple(up),
        block_out_channels=tuple(settings.width * multiplier for multiplier in settings.multipliers),
        layers_per_block=settings.blocks,
        norm_num_groups=settings.groups,
        cross_attention_dim=token_size,
        attention_head_dim=settings.heads,  # their number, by a slip of the library that it keeps
        resnet_time_scale_shift="scale_shift",
    )


def without_fused_attention(network: UNet2DConditionModel) -> None:
    """Let a U-Net compute attention by plain products, which forward-mode differentiation needs."""
    network.set_attn_processor(AttnProcessor())


def moving_average(network: nn.Module, decay: float) -> AveragedModel:
    """Return a copy of a network for the moving average of its weights; after few updates it follows them faster."""

    @torch.no_grad()
    def average(averages: Any, weights: Any, updates: Any) -> None:
        own = min(decay, (1 + int(updates)) / (10 + int(updates)))
        torch._foreach_lerp_(list(averages), list(weights), 1 - own)

    averaged = AveragedModel(network, multi_avg_fn=average)
    return averaged.requires_grad_(False)


def schedule(settings: DenoiserSettings) -> Any:
    """Return the schedule of latent diffusion: standard deviations of the steps grow linearly."""
    return DDIMScheduler(
        num_train_timesteps=settings.steps,
        beta_start=settings.beta_start,
        beta_end=settings.beta_end,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
    )


def patch_discriminator(channels: int, width: int, layers: int = 3) -> nn.Sequential:
    """Return the discriminator of patches of images (batch, channels, height, width), a logit for each of them."""
    sizes = [width * 2**layer for layer in range(layers + 1)]
    parts: list[nn.Module] = [nn.Conv2d(channels, width, 4, 2, 1), nn.LeakyReLU(0.2)]
    for number, (inputs, outputs) in enumerate(pairwise(sizes), start=1):
        stride = 2 if number < layers else 1
        parts += [nn.Conv2d(inputs, outputs, 4, stride, 1, bias=False), ChannelNorm(outputs), nn.LeakyReLU(0.2)]
    network = nn.Sequential(*parts, nn.Conv2d(sizes[-1], 1, 4, 1, 1))
    for layer in network:
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, 0.0, 0.02)
        elif isinstance(layer, ChannelNorm):
            nn.init.normal_(layer.weight, 1.0, 0.02)
    return network
