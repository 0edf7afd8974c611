"""Models of core splice sites: which windows look like an acceptor or a donor, whatever surrounds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from sparseid.data.cache import DAMAGED
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
    and the same of ``donor``. The first layer has 4 inputs (A, C, G, T), the last one 3 outputs.

    Raises
    ------
    InputError
        If the file cannot be read, or an array is missing or has another shape.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, AttributeError, TypeError, *DAMAGED) as error:
        text = "an npz file of arrays expected (src/sparseid/data/splicing/README.md)"
        raise InputError(f"{path} cannot be read: {text}", KEYS) from error
    return CoreModels([_network(arrays, name, path) for name in CLASSES])


def _network(arrays: dict[str, np.ndarray], name: str, path: Path) -> list[tuple[Tensor, Tensor]]:
    layers: list[tuple[Tensor, Tensor]] = []
    channels = 4
    while (key := f"{name}_{len(layers)}_weight") in arrays or not layers:
        weight, bias = arrays.get(key), arrays.get(key.replace("weight", "bias"))
        fits = weight is not None and weight.ndim == 3 and weight.shape[1] == channels and weight.shape[2] > 0
        if not fits or weight is None or bias is None or bias.shape != weight.shape[:1]:
            wanted = f"{key} (out, {channels}, width) and its bias (out,)"
            found = {of: array.shape for of, array in arrays.items() if of.startswith(f"{name}_{len(layers)}_")}
            raise InputError(f"{path}: {wanted} expected, found {found or 'neither'}", KEYS)
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise InputError(f"{path}: {key} or its bias has NaN or infinite values", KEYS)
        layers.append((torch.from_numpy(weight).float(), torch.from_numpy(bias).float()))
        channels = len(bias)
    if channels != 3:
        raise InputError(
            f"{path}: the last layer of {name} has {channels} outputs instead of none, acceptor, donor", KEYS
        )
    return layers
