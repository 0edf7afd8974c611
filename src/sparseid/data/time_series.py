"""Settings of any time series for contrastive learning: split sizes and validation rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sparseid.config.latent_walk import SamplingConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys in conflict, and the reason with a remedy."""

FEWEST_HELD_OUT = 2
"""Minimum number of samples for a fraction of explained variance."""


class Factors(NamedTuple):
    """Latents of each factor of z = [z1, z2]."""

    z1: slice
    z2: slice


def split_sizes(samples: int, held_out: float) -> tuple[int, int]:
    """Return the number of training samples, at the beginning, and of held-out samples, at the end.

    Examples
    --------
    >>> split_sizes(1005, 0.1)
    (904, 101)
    """
    last = math.ceil(samples * held_out)
    return samples - last, last


def series_faults(held_out: float, attribution_samples: int, sampling: SamplingConfig) -> Iterator[Fault]:
    """Yield the errors in the settings of any time series, whatever its length."""
    if not 0 < held_out < 1:
        yield ("data.held_out",), "data.held_out must be strictly between 0 and 1"
    if attribution_samples < 1:
        yield ("data.attribution_samples",), "data.attribution_samples must be at least 1"
    for name in ("time_offset", "time_delta", "label_positives"):
        if getattr(sampling, name) < 1:
            yield (f"data.sampling.{name}",), f"data.sampling.{name} must be at least 1"


def length_faults(
    samples: int, held_out: float, sampling: SamplingConfig, batch_size: int, source: str
) -> Iterator[Fault]:
    """Yield the errors of a time series that is too short; `source` is the key that sets its length."""
    train, last = split_sizes(samples, held_out)
    if train < batch_size:
        text = f"a seed has {train} training samples, less than one batch: lower trainer.batch_size"
        yield ("trainer.batch_size", source, "data.held_out"), text
    for name in ("time_offset", "time_delta"):
        if getattr(sampling, name) >= max(train, 1):
            text = f"no two of the {train} training samples are data.sampling.{name} steps apart: lower it"
            yield (f"data.sampling.{name}", source, "data.held_out"), text
    if last < FEWEST_HELD_OUT:
        text = f"at least {FEWEST_HELD_OUT} samples must be held out: raise data.held_out"
        yield ("data.held_out", source), text
