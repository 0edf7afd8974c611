"""Settings of film ratings; numbers of the paper's code stand in ``configs/data/movielens.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class MadeRatingsConfig:
    """Ratings of low rank, made here: films have a few genres each, users like a few genres each."""

    users: int = MISSING
    movies: int = MISSING
    genres: int = MISSING


@dataclass
class MovielensConfig:
    """Which films a user rated well, from the files of GroupLens or made here."""

    name: str = "movielens"
    source: str = "latent_factors"
    """latent_factors (made here), ml-25m (the paper's), ml-latest-small, ml-1m or ml-100k (you download them)."""
    path: str = ""
    """Folder or zip file of GroupLens; empty is the one in data/movielens. A run is known by its content."""
    min_rating: float = MISSING
    """Ratings of at least this count as positive, others as nothing."""
    min_positives: int = MISSING
    """Users with fewer positive ratings are left out."""
    movies: int = MISSING
    """Films kept: those with most positive ratings."""
    users: int = MISSING
    """Most users, chosen at random."""
    folds: int = MISSING
    """Parts of which one is held out."""
    fold: int = 0
    """Which one."""
    made: MadeRatingsConfig = field(default_factory=MadeRatingsConfig)
