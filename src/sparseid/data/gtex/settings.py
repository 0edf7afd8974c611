"""What settings of the single cells cannot be, found without reading a file of cells."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.cache import digest
from sparseid.data.gtex.sources import SOURCES, atlas_path, atlas_table_path, placed_files
from sparseid.data.paths import unusable
from sparseid.errors import InputError
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.gtex import GtexConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


OWN = ("groupby", "include_regex", "exclude", "counts", "z_genes", "tf_targets")
"""Settings by which the user asks a file for something else than its source does."""

_FITTING: set[str] = set()
"""Settings and digests of files that were looked at in this process and can be used, as far as that shows."""


def faults(config: GtexConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the cells are and whether they are there."""
    for name, value, allowed in (
        ("source", config.source, tuple(SOURCES)),
        ("tf_layout", config.tf_layout, ("htftarget", "dorothea")),
        ("dendrogram", config.dendrogram, ("after_cap", "before_cap")),
        ("standardise", config.standardise, ("train", "none")),
        ("held_out.train_on", config.held_out.train_on, ("all", "closest")),
    ):
        if text := unlisted(f"data.{name}", value, allowed):
            yield (f"data.{name}",), text
    for name, number, least in (
        ("cap", config.cap, 4),
        ("latents", config.latents, 1),
        ("z_choice", config.z_choice, 0),
        ("delta_std", config.delta_std, 0),
        ("noise_std_y", config.noise_std_y, 0),
        ("held_out.index", config.held_out.index, -1),
        ("held_out.min_population", config.held_out.min_population, 0),
        ("held_out.min_neighbour", config.held_out.min_neighbour, 0),
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
    if config.tf_targets and (reason := unusable(Path(config.tf_targets))):
        yield ("data.tf_targets",), f"the table of transcription factors {config.tf_targets} {reason}"
    if config.source in SOURCES:
        yield from _of_source(config)


def absent_files(config: GtexConfig) -> Iterator[Fault]:
    """Yield which of the user's files is not there or cannot be used, with what to do.

    Files are looked at once, not for every run of a sweep: table, columns and genes, and the values of a file that is
    soon read; those of the atlas only the first run reads. What it refuses is remembered and yielded here from then on.
    """
    if config.source != "atlas" and not any(getattr(config, name) for name in OWN):
        return  # a source's own settings fit its file
    try:
        if config.source == "atlas":
            atlas_path(config.path)
            atlas_table_path(config.tf_targets)
        names = (*OWN, "source", "path", "tf_layout", "cap", "dendrogram")
        settings = {name: getattr(config, name) for name in names} | dataclasses.asdict(config.magic)
        files = {name: digest(path) for name, path in placed_files(config).items()}
        seen = json.dumps([settings, files], sort_keys=True)
        if seen not in _FITTING:
            from sparseid.data.gtex.prepare import check_header

            check_header(config)
            _FITTING.add(seen)
    except InputError as error:
        yield error.keys, str(error)


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
