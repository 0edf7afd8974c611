"""A classifier of all factors of an image, trained on the images of a data set: it reads what decoded images show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.factors import FactorGrid
    from sparseid.methods.encdiff.settings import SwapSettings

BATCH = 64
"""Images of a training step."""
LEARNING_RATE = 2e-3
"""Of Adam; it falls to 0 by half a cosine."""
STREAM = "factor reader"

Inputs = Callable[[NDArray[np.integer]], Tensor]
"""Maps combinations (batch, factors) of a grid to their images (batch, channels, height, width) in [0, 1]."""


class FactorReader(nn.Module):
    """Three strided convolutions and a linear classifier for each factor.

    Parameters
    ----------
    channels, side
        Size of the images.
    levels
        Number of levels of each factor.
    width
        Channels of the first convolution; the others have two and four times as many.
    """

    def __init__(self, channels: int, side: int, levels: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.levels = levels
        parts: list[nn.Module] = []
        inputs = channels
        for outputs in (width, 2 * width, 4 * width):
            parts += [nn.Conv2d(inputs, outputs, 4, 2, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
            inputs = outputs
        features = inputs * (side // 8) ** 2
        self.network = nn.Sequential(*parts, nn.Flatten(), nn.Linear(features, sum(levels)))

    def forward(self, images: Tensor) -> tuple[Tensor, ...]:
        """Return the logits (batch, levels) of each factor of images (batch, channels, side, side) in [0, 1]."""
        return self.network(images).split(self.levels, dim=1)

    @torch.no_grad()
    def read(self, images: Tensor) -> NDArray[np.int64]:
        """Return the most probable levels (..., factors) of images (..., channels, side, side)."""
        flat = torch.stack([logits.argmax(dim=1) for logits in self(images.flatten(0, -4))], dim=1)
        return flat.unflatten(0, images.shape[:-3]).cpu().numpy()


def trained_reader(inputs: Inputs, grid: FactorGrid, settings: SwapSettings) -> FactorReader:
    """Return a classifier that is trained on uniform combinations: the same for all runs on the same images.

    Parameters
    ----------
    inputs, grid
        The images and their factors.
    settings
        Its width and number of steps.
    """
    with torch.inference_mode(False), torch.enable_grad(), torch.random.fork_rng(devices=[]):  # tests have no gradients
        example = inputs(np.zeros((1, len(grid.sizes)), np.int64))
        torch.manual_seed(FIXED.integer(STREAM))
        reader = FactorReader(example.shape[1], example.shape[-1], grid.sizes, settings.reader_width)
        reader.to(example.device)
        adam = torch.optim.Adam(reader.parameters(), lr=LEARNING_RATE, fused=True)
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(adam, settings.reader_steps)
        for step in range(settings.reader_steps):
            factors = grid.sample(BATCH, FIXED.numpy(STREAM, step))
            levels = torch.from_numpy(factors).to(example.device)
            logits = reader(inputs(factors))
            losses = [cross_entropy(logit, levels[:, number]) for number, logit in enumerate(logits)]
            adam.zero_grad()
            torch.stack(losses).sum().backward()
            adam.step()
            cosine.step()
    return reader.eval()
