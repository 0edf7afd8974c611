"""What settings of the latent walk mean, and what they cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sparseid.data.time_series import Factors, Fault, length_faults, series_faults
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.latent_walk import LatentWalkConfig

FEWEST_LATENTS = 3
"""With two of them observed one is left, or with one observed two: less is no task."""


def factors_of(config: LatentWalkConfig) -> Factors:
    """Return the places of z1 and z2 in z = [z1, z2]."""
    z1_is_fixed = config.setting == "b" and config.setting_b == "z1_fixed"
    first = config.fixed_latents if z1_is_fixed else config.latents - config.fixed_latents
    return Factors(slice(0, first), slice(first, config.latents))


def faults(config: LatentWalkConfig, batch_size: int) -> Iterator[Fault]:
    """Yield what makes the settings impossible; `batch_size` is the training samples of a seed in a batch."""
    for name, allowed in (
        ("setting", ("a", "b")),
        ("setting_b", ("z1_fixed", "z2_fixed")),
        ("boundary", ("redraw", "reflect")),
        ("mixing", ("shared", "additive")),
    ):
        if text := unlisted(f"data.{name}", getattr(config, name), allowed):
            yield (f"data.{name}",), text
    for name, least in (
        ("latents", FEWEST_LATENTS),
        ("fixed_latents", 1),
        ("samples", 1),
        ("dim_x1", 1),
        ("dim_x2", 1),
        ("n_square_layers", 1),
        ("slope", 0),
        ("conditioning_draws", 1),
    ):
        if not least <= getattr(config, name) < math.inf:
            yield (f"data.{name}",), f"data.{name} must be at least {least}"
    for name in ("box", "gain_x1", "gain_x2"):
        if not 0 < getattr(config, name) < math.inf:
            yield (f"data.{name}",), f"data.{name} must be above 0"
    if not 0 < config.sigma <= config.box:
        text = "a step is not larger than the box: data.sigma must be above 0 and at most data.box"
        yield ("data.sigma", "data.box"), text
    if not 0 <= config.conditioning_quantile <= 1:
        yield ("data.conditioning_quantile",), "data.conditioning_quantile must be between 0 and 1"
    yield from _sizes(config)
    yield from series_faults(config.held_out, config.attribution_samples, config.sampling)
    if 0 < config.held_out < 1:
        yield from length_faults(config.samples, config.held_out, config.sampling, batch_size, "data.samples")


def _sizes(config: LatentWalkConfig) -> Iterator[Fault]:
    """Yield which sizes do not go together."""
    latents, features = config.latents, config.dim_x1 + config.dim_x2
    if config.fixed_latents >= latents:
        text = "each of the two factors has a latent: data.fixed_latents must be below data.latents"
        yield ("data.fixed_latents", "data.latents"), text
        return
    if latents > features:
        text = f"{features} observed features do not determine {latents} latents: lower data.latents"
        yield ("data.latents", "data.dim_x1", "data.dim_x2"), text
    z2 = factors_of(config).z2
    if z2.stop - z2.start > config.dim_x2:
        text = f"z2 has {z2.stop - z2.start} latents and only x2 depends on it: make data.dim_x2 as large at least"
        yield ("data.dim_x2", "data.latents", "data.fixed_latents"), text
