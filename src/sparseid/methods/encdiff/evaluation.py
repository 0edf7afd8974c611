"""Swaps and traversals of the units of a code, and what a classifier reads in the decoded images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.measurements import Measurement, units
from sparseid.methods.encdiff.metrics import METRICS
from sparseid.methods.encdiff.reader import FactorReader, Inputs
from sparseid.methods.factor_vae.evaluation import TRAVERSED, pixels_of
from sparseid.metrics.swaps import selectivity, transfer_and_leak
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.factors import FactorGrid
    from sparseid.methods.encdiff.settings import SwapSettings

UNITS = units(METRICS)
READ = 1000
"""Number of images that the classifier's accuracy is measured on."""
SHOWN = 2
"""Number of images that are saved with their traversals."""

Encode = Callable[[Tensor], Tensor]
"""Maps images (batch, channels, height, width) in [0, 1] to codes (batch, units)."""
Decode = Callable[[Tensor], Tensor]
"""Maps codes (..., images, units) to images (..., images, channels, height, width) in [0, 1], image i from noise i."""


class Swapped(NamedTuple):
    """Levels that are read before and after changes of units, and pictures of them.

    Attributes
    ----------
    true, decoded
        (batches, images, factors) levels of images, and those read in their decodings.
    swaps
        (batches, units, images, factors) levels read when a unit has the value of the batch's first image.
    traversals
        (images, units, values, factors) levels read along the traversals of the first batch.
    pictures
        `swap_examples`, `swap_decoded` (images, height, width, channels) and `swaps` (units, images, height, width,
        channels) of the first batch, uint8; `examples`, `reconstructions`, `traversals` and `traversal_values` as of
        FactorVAE, with values in standard deviations from the mean of the unit.
    """

    true: NDArray[np.integer]
    decoded: NDArray[np.integer]
    swaps: NDArray[np.integer]
    traversals: NDArray[np.integer]
    pictures: dict[str, NDArray]


def swapped(codes: Tensor) -> Tensor:
    """Return codes (units, images, units): in part u, unit u of all images is that of the first.

    Parameters
    ----------
    codes
        (images, units)

    Examples
    --------
    >>> swapped(torch.tensor([[1, 2], [3, 4]])).tolist()
    [[[1, 2], [1, 4]], [[1, 2], [3, 2]]]
    """
    number = codes.shape[1]
    changed = codes.repeat(number, 1, 1)
    every = torch.arange(number)
    changed[every, :, every] = codes[0, :, None]
    return changed


def traversed(codes: Tensor, mean: Tensor, sd: Tensor, values: Tensor) -> Tensor:
    """Return codes (units, values, images, units): in part (u, v), unit u of all images is mean + value v times sd.

    Parameters
    ----------
    codes
        (images, units)
    mean, sd
        (units,) of the code over images of the data.
    values
        (values,) in standard deviations.
    """
    number = codes.shape[1]
    changed = codes.repeat(number, len(values), 1, 1)
    every = torch.arange(number)
    changed[every, :, :, every] = (mean + values[:, None] * sd).T[..., None]
    return changed


@torch.no_grad()
def swap_units(
    encode: Encode, decode: Decode, reader: FactorReader, inputs: Inputs, grid: FactorGrid, settings: SwapSettings
) -> Swapped:
    """Decode batches of images with swapped and traversed units, and read the factors.

    Parameters
    ----------
    encode, decode
        The model; `decode` starts from the same noise for all codes at a position of a batch.
    reader
        Classifier of images (batch, channels, height, width) in [0, 1].
    inputs, grid
        The images and their factors.
    settings
        Sizes and numbers of batches.
    """
    true = [grid.sample(settings.images, FIXED.numpy("swaps", number)) for number in range(settings.batches)]
    read = []
    for factors in true:
        codes = encode(inputs(factors))
        decoded = decode(torch.cat([codes[None], swapped(codes)]))  # as they are, then unit by unit
        read.append(reader.read(decoded))
        if len(read) == 1:
            first = decoded
    decodings, swaps = np.split(np.stack(read), [1], axis=1)
    codes = encode(inputs(true[0]))
    of_many = encode(inputs(grid.sample(READ, FIXED.numpy("swaps/codes"))))
    values = torch.tensor(TRAVERSED, device=codes.device, dtype=codes.dtype)
    along = decode(traversed(codes, of_many.mean(dim=0), of_many.std(dim=0), values))
    along = along.movedim(2, 0)  # (images, units, values, channels, height, width)
    shown, before = pixels_of(inputs(true[0])), pixels_of(first[0])
    pictures = {
        "swap_examples": shown,
        "swap_decoded": before,
        "swaps": pixels_of(first[1:]),
        "examples": shown[:SHOWN],
        "reconstructions": before[:SHOWN],
        "traversals": pixels_of(along[:SHOWN]),
        "traversal_values": values.cpu().numpy(),
    }
    return Swapped(np.stack(true), decodings[:, 0], swaps, reader.read(along), pictures)


def measure_swaps(
    found: Swapped, chosen: NDArray[np.integer], accuracy: NDArray, grid: FactorGrid
) -> list[Measurement]:
    """Return the measurements of swaps and traversals, of each factor by its name in the key ``factor``.

    Parameters
    ----------
    found
        From `swap_units`.
    chosen
        (factors,) the unit that stands for each factor.
    accuracy
        (factors,) accuracy of the classifier on images of the data.
    grid
        The factors.
    """
    measured: list[Measurement] = []
    batches, images = found.true.shape[:2]
    for number, name in enumerate(grid.names):
        unit = int(chosen[number])
        transfer, leak = transfer_and_leak(found.decoded, found.swaps[:, unit], number)
        values = {
            "reader_accuracy": (float(accuracy[number]), READ),
            "decoded_accuracy": (float((found.decoded == found.true)[..., number].mean()), batches * images),
            "transfer": (transfer, batches * (images - 1)),
            "leak": (leak, batches * (images - 1)),
            "selectivity": (selectivity(found.decoded[0], found.traversals[:, unit], number), images),
        }
        measured += [
            Measurement(metric, value, UNITS[metric], count, {"factor": name})
            for metric, (value, count) in values.items()
        ]
    return measured


def accuracy_of(reader: FactorReader, inputs: Inputs, grid: FactorGrid) -> NDArray[np.floating]:
    """Return the share (factors,) of images of the data whose level the classifier reads."""
    factors = grid.sample(READ, FIXED.numpy("swaps/accuracy"))
    return (reader.read(inputs(factors)) == factors).mean(axis=0)
