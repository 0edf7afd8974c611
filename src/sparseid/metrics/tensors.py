"""Arrays of users as tensors."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


def as_tensor(values: Tensor | ArrayLike) -> Tensor:
    """Return a tensor as it is, and anything else as a tensor of its own memory.

    Torch takes neither reversed views nor arrays in another byte order, as some files have them.

    Examples
    --------
    >>> as_tensor(np.arange(3, dtype=">i8")[::-1]).tolist()
    [2, 1, 0]
    """
    if isinstance(values, Tensor):
        return values
    array = np.asarray(values)
    return torch.from_numpy(np.array(array, array.dtype.newbyteorder("="), order="C"))
