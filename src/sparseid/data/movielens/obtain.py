"""``make data DATASETS=movielens``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sparseid.data.download import unchecked
from sparseid.data.movielens.reader import read_ratings, read_titles
from sparseid.data.movielens.sources import PAPERS, RELEASES, fetch
from sparseid.errors import InputError


def movielens() -> Iterator[str]:
    """Download and read MOVIELENS: ml-25m (the default, the paper's), ml-latest-small, ml-1m or ml-100k."""
    source = os.environ.get("MOVIELENS") or PAPERS
    if source not in RELEASES:
        raise InputError(f"MOVIELENS={source}: write {' or '.join(RELEASES)}")
    release = RELEASES[source]
    yield f"{source}: {release.megabytes:g} MB from GroupLens, if not downloaded yet"
    folder = fetch(source)
    ratings = read_ratings(folder / release.ratings, release)
    titles, *_ = read_titles(folder / release.titles, release)
    yield f"{folder}: {len(ratings)} ratings by {ratings['userId'].nunique()} users, {len(titles)} films"
    if release.md5 is None:
        yield unchecked(folder / release.ratings)
    if source != PAPERS:
        yield f"NOT the paper's release, {PAPERS}: runs on it are marked, and not compared with the paper"
    preset = "table1" if source == PAPERS else "movielens"
    yield f"use: python run.py experiment=sparse_vae/{preset} data.source={source}"
