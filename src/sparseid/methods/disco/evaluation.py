"""Measurements and pictures of DisCo's directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sparseid.methods.disco.losses import variation
from sparseid.methods.factor_vae.evaluation import ENCODED_AT_ONCE, SHOWN, pixels_of
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.methods.disco.generators import Decoder
    from sparseid.methods.disco.networks import Navigator
    from sparseid.methods.disco.stylegan2 import StyleGAN2

PAIRS = 32
"""Pairs of images per direction that are told apart; half of them make the mean variations."""
STEPS = 9
"""Lengths of the shifts along a direction that are drawn."""


class Parts(NamedTuple):
    """Trained networks of a run."""

    generator: Decoder | StyleGAN2
    navigator: Navigator
    encoder: nn.Module


@torch.no_grad()
def told_apart(parts: Parts, lengths: Tensor, device: torch.device) -> Tensor:
    """Return whether each shift (directions, half of `PAIRS`) is assigned to its own direction.

    Parameters
    ----------
    parts
        Trained networks.
    lengths
        (directions, `PAIRS`) signed lengths of shifts.
    device
        Device of the networks.
    """
    directions = len(lengths)
    moved = (torch.eye(directions)[:, None] * lengths[..., None]).flatten(0, 1).to(device)  # (pairs, directions)
    normal = torch.randn(len(moved), parts.navigator.latents, generator=FIXED.torch("disco/pairs")).to(device)
    found = []
    for noise, shifts in zip(normal.split(ENCODED_AT_ONCE), moved.split(ENCODED_AT_ONCE), strict=True):
        latents = parts.generator.place(noise)
        plain, shifted = (parts.generator(at) for at in (latents, latents + parts.navigator(shifts)))
        found.append(variation(parts.encoder(shifted), parts.encoder(plain)))
    known, tested = torch.cat(found).unflatten(0, (directions, PAIRS)).split(PAIRS // 2, dim=1)
    guessed = torch.cdist(tested.flatten(0, 1), known.mean(dim=1)).argmin(dim=1).view(directions, -1)
    return guessed == torch.arange(directions, device=device)[:, None]


@torch.no_grad()
def pictures_of(parts: Parts, reach: float, device: torch.device) -> dict[str, NDArray]:
    """Return some generated images, and what becomes of them along each direction.

    Parameters
    ----------
    parts
        Trained networks.
    reach
        Largest length of a shift.
    device
        Device of the networks.

    Returns
    -------
    dict
        `examples` (images, height, width, channels) uint8, `traversals` (images, directions, values, height, width,
        channels) uint8, and `traversal_values`, the lengths of the shifts.
    """
    normal = torch.randn(SHOWN, parts.navigator.latents, generator=FIXED.torch("disco/examples")).to(device)
    latents = parts.generator.place(normal)
    values = torch.linspace(-reach, reach, STEPS, device=device)
    shifts = values[:, None] * parts.navigator.matrix.T[:, None]  # (directions, values, latents)
    moved = latents[:, None, None] + shifts
    images = torch.cat([parts.generator(part) for part in moved.flatten(0, 2).split(ENCODED_AT_ONCE)])
    return {
        "examples": pixels_of(parts.generator(latents)),
        "traversals": pixels_of(images.unflatten(0, moved.shape[:3])),
        "traversal_values": values.cpu().numpy(),
    }
