"""Global random generators of Python, NumPy and torch: seeding, saving and restoring."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, NumPy and torch on every device."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  libraries draw from the global generator
    torch.manual_seed(seed)


def rng_state() -> dict[str, Any]:
    """Return the states of all global generators as numbers, lists and tensors (loadable with ``weights_only``)."""
    version, words, gauss = random.getstate()
    _, key, position, has_gauss, cached = np.random.get_state()  # noqa: NPY002
    return {
        "python": [version, list(words), gauss],
        "numpy": [np.asarray(key).tolist(), int(position), int(has_gauss), float(cached)],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_rng(state: dict[str, Any]) -> None:
    """Restore all global generators from the result of `rng_state`.

    The CUDA states are skipped if the number of devices has changed, since the draws then differ anyway.
    """
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    key, position, has_gauss, cached = state["numpy"]
    np.random.set_state(("MT19937", np.array(key, dtype=np.uint32), position, has_gauss, cached))  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])
