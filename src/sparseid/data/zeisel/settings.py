"""What settings of the mouse cortex cells cannot be, and whether the file is there and can be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.paths import unusable
from sparseid.data.zeisel.gene_sets import place_of_sets, read_gene_sets
from sparseid.data.zeisel.reader import ORIGINAL, SAMPLE, place_of
from sparseid.errors import InputError
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.zeisel import ZeiselConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: ZeiselConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the file holds."""
    if text := unlisted("data.source", config.source, (SAMPLE, ORIGINAL)):
        yield ("data.source",), text
    if config.source == SAMPLE and config.path:
        yield ("data.path", "data.source"), f"data.path names the original file: write data.source={ORIGINAL}"
    if config.source == SAMPLE and config.enrichment:
        text = f"genes of the sample have no names to look up in sets: write data.source={ORIGINAL}"
        yield ("data.enrichment", "data.source"), text
    if config.gene_sets and not config.enrichment:
        yield ("data.gene_sets", "data.enrichment"), "data.gene_sets is not read: write data.enrichment=true"
    for name, least in (("genes", 2), ("noisy_genes", 2), ("min_molecules", 1), ("correlated_genes", 1)):
        if getattr(config, name) < least:
            yield (f"data.{name}",), f"data.{name} must be at least {least}"
    if not -1 <= config.correlation < 1:
        yield ("data.correlation",), "data.correlation must be at least -1 and below 1"
    if not -math.inf < config.noise_exponent <= 0:
        yield ("data.noise_exponent",), "data.noise_exponent must be 0 or negative"
    if not 0 <= config.noise_floor < math.inf:
        yield ("data.noise_floor",), "data.noise_floor must be at least 0"


def absent_files(config: ZeiselConfig) -> Iterator[Fault]:
    """Yield that a file is not there or cannot be used, with what to do; each is read once."""
    if config.source != ORIGINAL:
        return
    from sparseid.data.zeisel.prepare import prepared

    try:
        prepared(config)
        if config.enrichment:
            read_gene_sets(place_of_sets(config))
    except InputError as error:
        yield error.keys, str(error)


def placed_files(config: ZeiselConfig) -> dict[str, Path]:
    """Return the user's files, those that can be read."""
    if config.source != ORIGINAL:
        return {}
    files = {"path": place_of(config)} | ({"gene_sets": place_of_sets(config)} if config.enrichment else {})
    return {name: path for name, path in files.items() if not unusable(path)}
