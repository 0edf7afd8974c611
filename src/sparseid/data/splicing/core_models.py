"""Models of core splice sites: which windows look like an acceptor or a donor, whatever surrounds them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sparseid.data.npz import read_npz
from sparseid.errors import InputError

KEYS = ("data.path",)
LEAST_LOG_PROBABILITY = -10.0
"""Natural logarithm of the probability above which a position is a site of the core motif (authors' code)."""
CLASSES = ("acceptor", "donor")


class CoreModels:
    """Two networks of convolutions with ReLU between them, from sequences to logits of none, acceptor, donor.

    Parameters
    ----------
    layers
        For acceptors and for donors: weight (out, in, width) and bias (out,) of each convolution. A window of the
        network is centred on its position; bases beyond the sequence are zero.
    """

    def __init__(self, layers: list[list[tuple[Tensor, Tensor]]]) -> None:
        self.layers = layers

    def scores(self, inputs: Tensor) -> Tensor:
        """Return log-probabilities of acceptor and donor less the minimum, (items, positions, 2); positive: a site.

        Parameters
        ----------
        inputs
            (items, 4, positions), one-hot.
        """
        columns = []
        for own, layers in enumerate(self.layers, start=1):
            x = inputs
            for number, (weight, bias) in enumerate(layers):
                width = weight.shape[2]
                x = functional.pad(x.relu() if number else x, ((width - 1) // 2, width // 2))
                x = functional.conv1d(x, weight.to(inputs), bias.to(inputs))
            columns.append(x.log_softmax(1)[:, own] - LEAST_LOG_PROBABILITY)
        return torch.stack(columns, dim=2)


def read_core_models(path: Path) -> CoreModels:
    """Read the weights of both networks from an npz file.

    Its arrays are ``acceptor_0_weight`` (out, in, width), ``acceptor_0_bias`` (out,), ``acceptor_1_weight`` and so on,
    and the same of ``donor``; widths are odd. The first layer has 4 inputs (A, C, G, T), the last one 3 outputs.

    Raises
    ------
    InputError
        If the file cannot be read, or an array is missing, unknown, has another shape or values that are not numbers.
    """
    try:
        arrays = read_npz(path)
    except InputError as error:
        text = "its arrays are described in src/sparseid/data/splicing/README.md"
        raise InputError(f"{path} cannot be read: {error}; {text}", KEYS) from error
    networks = [_network(arrays, name, path) for name in CLASSES]
    if arrays:
        text = f"{', '.join(sorted(arrays))} would not be used: rename or remove what is not called"
        raise InputError(f"{path}: {text} as acceptor_0_weight or donor_1_bias are", KEYS)
    return CoreModels(networks)


def _network(arrays: dict[str, np.ndarray], name: str, path: Path) -> list[tuple[Tensor, Tensor]]:
    """Take the layers of a network out of the arrays."""
    layers: list[tuple[Tensor, Tensor]] = []
    channels = 4
    numbers = [int(found[1]) for found in map(re.compile(rf"{name}_(\d+)_(?:weight|bias)").fullmatch, arrays) if found]
    for number in range(1 + max(numbers, default=0)):
        layer = f"{name}_{number}_"
        weight = _array(arrays, f"{layer}weight", ("out", channels, "width"), path)
        if weight.shape[2] % 2 == 0:
            text = f"{layer}weight has the even width {weight.shape[2]}, so that its window has no centre"
            raise InputError(f"{path}: {text}: append a column of zeros on one side of its middle", KEYS)
        bias = _array(arrays, f"{layer}bias", (len(weight),), path)
        layers.append((torch.from_numpy(weight).float(), torch.from_numpy(bias).float()))
        channels = len(bias)
    if channels != 3:
        raise InputError(
            f"{path}: the last layer of {name} has {channels} outputs instead of none, acceptor, donor", KEYS
        )
    return layers


def _array(arrays: dict[str, np.ndarray], name: str, shape: tuple[int | str, ...], path: Path) -> np.ndarray:
    """Take an array of this shape out of the arrays; a text in `shape` stands for any number from 1 on."""
    wanted = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
    if name not in arrays:
        raise InputError(f"{path} has no array {name} {wanted}: export it, too", KEYS)
    array = arrays.pop(name)
    fits = array.ndim == len(shape) and all(
        size == of if isinstance(of, int) else size > 0 for size, of in zip(array.shape, shape, strict=True)
    )
    if not fits:
        raise InputError(f"{path}: {name} has shape {array.shape} instead of {wanted}", KEYS)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: {name} has values of type {array.dtype} instead of numbers", KEYS)
    if not np.isfinite(array).all():
        raise InputError(f"{path}: {name} has NaN or infinite values", KEYS)
    return array
