"""What settings of film ratings cannot be, and which files are not there or cannot be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sparseid.data.movielens.sources import MADE, RELEASES, placed_files
from sparseid.errors import InputError
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.movielens import MovielensConfig

__all__ = ["absent_files", "faults", "placed_files"]

HIGHEST = 5.0
"""Rating of GroupLens, and of those that are made."""

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: MovielensConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the files hold."""
    if text := unlisted("data.source", config.source, (MADE, *RELEASES)):
        yield ("data.source",), text
    if config.source == MADE and config.path:
        text = f"data.path names the files of a release: write which one, data.source={' or '.join(RELEASES)}"
        yield ("data.path", "data.source"), text
    for name, number, least in (
        ("min_rating", config.min_rating, 0),
        ("min_positives", config.min_positives, 1),
        ("movies", config.movies, 2),
        ("users", config.users, 2),
        ("folds", config.folds, 2),
        ("made.users", config.made.users, 2),
        ("made.movies", config.made.movies, 2),
        ("made.genres", config.made.genres, 2),
    ):
        if not least <= number < math.inf:
            yield (f"data.{name}",), f"data.{name} must be at least {least}"
    if config.min_rating > HIGHEST:
        yield ("data.min_rating",), f"data.min_rating must be at most {HIGHEST:g}: no rating is higher"
    if config.source == MADE and config.movies > config.made.movies:
        text = f"data.movies={config.movies} films cannot be kept of data.made.movies={config.made.movies}: lower it"
        yield ("data.movies", "data.made.movies"), text
    if not 0 <= config.fold < config.folds:
        yield ("data.fold", "data.folds"), f"data.fold must be between 0 and {config.folds - 1}, one of data.folds"


def absent_files(config: MovielensConfig) -> Iterator[Fault]:
    """Yield which of the user's files is not there or cannot be used, with what to do; they are read once."""
    if config.source not in RELEASES:
        return
    from sparseid.data.movielens.prepare import prepared

    try:
        prepared(config)
    except InputError as error:
        yield error.keys, str(error)
