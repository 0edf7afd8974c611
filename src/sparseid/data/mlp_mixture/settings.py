"""What settings of the mixture cannot be, and what no longer holds with some that can; needs no torch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparseid.data.mlp_mixture.masks import NAMED, is_file, mask_of
from sparseid.errors import InputError
from sparseid.masks import Mask, latent_names, observation_names, regions, sufficiently_diverse, why_not_injective
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.mlp_mixture import MLPMixtureConfig

Fault = tuple[tuple[str, ...], str]

FEWEST_SAMPLES = 10
"""Of training and of test: of fewer no correlation means anything."""


def faults(config: MLPMixtureConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible: dotted keys, and why."""
    found = [*_choices(config), *_numbers(config)]
    if config.rho > 0 and config.latent_distribution != "normal":
        text = "only normal latents can be correlated: write data.rho=0 or data.latent_distribution=normal"
        found.append((("data.rho", "data.latent_distribution"), text))
    if config.groups and config.mask != "groups":
        text = "data.groups does nothing here: write data.mask=groups, or leave it away"
        found.append((("data.groups", "data.mask"), text))
    yield from found
    if not found:  # whatever is wrong with the mask would follow from it
        yield from _mask_faults(config)


def absent_files(config: MLPMixtureConfig) -> Iterator[Fault]:
    """Yield that the mask's file is not there, if so."""
    if is_file(config.mask) and not Path(config.mask).is_file():
        yield ("data.mask",), f"data.mask={config.mask}: there is no such file"


def placed_files(config: MLPMixtureConfig) -> dict[str, Path]:
    """Return no file: the mask's counts by its content as any setting that may name a file does."""
    return {}


def remarks(config: MLPMixtureConfig, mask: Mask) -> Iterator[str]:
    """Yield what a run's log should say about what can be identified of a member's data.

    Parameters
    ----------
    config
        What is drawn.
    mask
        (observations, latents) of the member.
    """
    if is_file(config.mask):
        yield f"the {len(mask)} lines of {config.mask} are the observations (data.outputs_per_row is for named masks)"
    mixed = [region for region in regions(mask) if len(region) > 1]
    if mixed:
        listed = "; ".join(latent_names(region) for region in mixed)
        yield f"the same observations read {listed}: these can be told from other latents, not from each other"
    elif not sufficiently_diverse(mask):
        yield "the mask is not Sufficiently Diverse, though no two latents are read by the same observations"
    if config.rho > 0:
        yield (
            f"latents correlate (data.rho={config.rho:g}): condition (ii) of set-theoretic indeterminacy and clauses 1 "
            "and 2 of Sufficient Diversity no longer hold, for they rest on independent latents. What is left: a true "
            "latent depends on a learned one only where every observation that reads the one reads the other"
        )
        if config.mask == "groups":
            yield (
                "with correlated latents R2 between blocks is above 0 however well they are separated: it is no "
                "measure of disentanglement here, only the Jacobian test is"
            )


def _choices(config: MLPMixtureConfig) -> Iterator[Fault]:
    if not is_file(config.mask) and (text := unlisted("data.mask", config.mask, (*NAMED, "the path of a csv file"))):
        yield ("data.mask",), text
    for name, allowed in (
        ("latent_distribution", ("normal", "laplace", "uniform")),
        ("activation", ("leaky_relu", "smooth_leaky")),
        ("injective", ("check", "dominant")),
    ):
        if text := unlisted(f"data.{name}", getattr(config, name), allowed):
            yield (f"data.{name}",), text


def _numbers(config: MLPMixtureConfig) -> Iterator[Fault]:
    for name, least in (
        ("latents", 2),
        ("outputs_per_row", 1),
        ("samples", FEWEST_SAMPLES),
        ("test_samples", FEWEST_SAMPLES),
        ("hidden", 1),
        ("layers", 1),
        ("noise", 0),
        ("bias_std", 0),
    ):
        if not least <= getattr(config, name) < math.inf:
            yield (f"data.{name}",), f"data.{name} must be at least {least}"
    if not 0 <= config.rho < 1:
        yield ("data.rho",), "data.rho must be at least 0 and below 1"
    if not 0 < config.slope <= 1:
        yield ("data.slope",), "data.slope must be above 0 and at most 1"
    if not 0 < config.gain < math.inf:
        yield ("data.gain",), "data.gain must be above 0"
    if config.mask == "circulant" and not 1 <= config.band <= config.latents:
        yield ("data.band", "data.latents"), "data.band must be between 1 and data.latents"


def _mask_faults(config: MLPMixtureConfig) -> Iterator[Fault]:
    """Yield why no mixture with this mask could be one that the theory is about."""
    fold = "as many free networks as latents fold them, nearly whatever is drawn: write data.injective=dominant, or"
    if config.injective == "check" and config.outputs_per_row == 1 and not is_file(config.mask):
        yield ("data.injective", "data.outputs_per_row"), f"{fold} data.outputs_per_row=2"
    if config.mask == "random" or (is_file(config.mask) and not Path(config.mask).is_file()):
        return  # drawn to fit; `absent_files` says so
    try:
        mask = mask_of(config, seed=0)
    except InputError as error:
        yield error.keys or ("data.mask",), str(error)
        return
    keys = ("data.groups" if config.mask == "groups" else "data.mask",)
    empty = np.flatnonzero(~mask.any(axis=1)).tolist()
    if empty:
        verb = "reads" if len(empty) == 1 else "read"
        yield keys, f"{observation_names(empty)} of this mask {verb} no latent and would be constant: leave it out"
    reasons = list(why_not_injective(mask))
    for reason in reasons:
        yield keys, f"{reason}; no mixture with this mask is injective, and nothing could be identified"
    if is_file(config.mask) and config.injective == "check" and not reasons and len(mask) == config.latents:
        yield ("data.injective", "data.mask"), f"{fold} give the mask more lines, about {2 * config.latents}"
