"""What settings of the single cells cannot be, found without reading a file of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.gtex.sources import SOURCES, atlas_path, atlas_table_path
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.config.gtex import GtexConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: GtexConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the cells are and whether they are there."""
    for name, value, allowed in (
        ("source", config.source, tuple(SOURCES)),
        ("tf_layout", config.tf_layout, ("htftarget", "dorothea")),
        ("dendrogram", config.dendrogram, ("after_cap", "before_cap")),
        ("standardise", config.standardise, ("train", "none")),
        ("held_out.train_on", config.held_out.train_on, ("all", "closest")),
    ):
        if value not in allowed:
            yield (f"data.{name}",), f"data.{name} must be {' or '.join(allowed)}"
    for name, number, least in (
        ("cap", config.cap, 4),
        ("latents", config.latents, 1),
        ("z_choice", config.z_choice, 0),
        ("delta_std", config.delta_std, 0),
        ("noise_std_y", config.noise_std_y, 0),
        ("held_out.index", config.held_out.index, -1),
        ("magic.knn", config.magic.knn, 1),
        ("magic.t", config.magic.t, 0),
        ("magic.components", config.magic.components, 0),
    ):
        if not least <= number < math.inf:
            yield (f"data.{name}",), f"data.{name} must be at least {least}"
    if not 0 < config.magic.decay < math.inf:
        yield ("data.magic.decay",), "data.magic.decay must be above 0"
    if not 0 <= config.S <= config.latents:
        text = f"along an arc 0 to {config.latents} weights can change, one per latent: data.S must lie between"
        yield ("data.S", "data.latents"), text
    if config.held_out.train_on == "closest" and config.held_out.index < 0:
        text = "there is no closest type without a held-out one: write data.held_out.index=0"
        yield ("data.held_out.train_on", "data.held_out.index"), text
    if config.tf_targets and not Path(config.tf_targets).is_file():
        yield ("data.tf_targets",), f"there is no table of transcription factors {config.tf_targets}"
    if config.source in SOURCES:
        yield from _of_source(config)


def absent_files(config: GtexConfig) -> Iterator[Fault]:
    """Yield which of the files that only the user can place is not there, with what to do."""
    if config.source == "atlas":
        for path in (lambda: atlas_path(config.path), lambda: atlas_table_path(config.tf_targets)):
            try:
                path()
            except InputError as error:
                yield error.keys, str(error)
                return  # the answer tells of both


def _of_source(config: GtexConfig) -> Iterator[Fault]:
    candidates = config.z_genes or SOURCES[config.source].latents
    if len(set(candidates)) < len(candidates):
        yield ("data.z_genes",), "data.z_genes names a gene twice"
    choices = math.comb(len(candidates), config.latents) if config.latents >= 1 else 0
    if config.z_choice >= choices:
        text = f"{config.latents} of {len(candidates)} genes can be chosen in {choices} ways: data.z_choice is none"
        yield ("data.z_choice", "data.latents", "data.z_genes"), text
    if config.source != "atlas" and config.path:
        yield ("data.path", "data.source"), "data.path names the atlas' file: write data.source=atlas"
