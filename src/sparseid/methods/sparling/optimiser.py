"""Adam with linear warm-up and gradient clipping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from sparseid.methods.sparling.settings import OptimizerSettings


def adam(
    parameters: Iterator[nn.Parameter], config: OptimizerSettings, first_step: Callable[[], int] = lambda: 0
) -> dict[str, Any]:
    """Return Adam and its schedule in Lightning's form.

    Parameters
    ----------
    parameters
        Parameters to train.
    config
        Learning rate, betas, steps of the warm-up.
    first_step
        Step at which the warm-up begins (again after a restart).
    """
    beta1, beta2 = config.betas
    optimizer = torch.optim.Adam(parameters, lr=config.lr, betas=(beta1, beta2), foreach=True)
    warmup = max(config.warmup_steps, 1)

    def warm(step: int) -> float:
        return min(1.0, (step - first_step() + 1) / warmup)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warm)
    return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def clip(parameters: Iterator[nn.Parameter], config: OptimizerSettings) -> None:
    """Clip the norm of the gradient; a ``clip_norm`` of 0 disables clipping."""
    if config.clip_norm > 0:
        nn.utils.clip_grad_norm_(parameters, config.clip_norm)
