"""Ratings of low rank, in the form of MovieLens: films have a few genres, users like a few genres."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.movielens.settings import MadeRatingsSettings

RATED = 0.1
"""Share of films that a user has rated, on average."""
POPULARITY, TASTE, NOISE, ACTIVITY = 1.0, 1.2, 0.6, 0.6
"""Standard deviations: of a film's popularity, of what a genre adds for a user, of a rating, of a user's activity."""
MEAN_STARS = 3.4
STARS = 0.55
"""Stars per unit of liking."""


def draw_ratings(config: MadeRatingsSettings) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return ratings (userId, movieId, rating) and genres of each film, the same for every run.

    A film belongs to one genre and, one in three, to a second. A user's liking of a film is the mean of the user's
    normal tastes for its genres plus the film's popularity; the more it is, the likelier the film is rated and the more
    stars it gets, from 0.5 to 5 in halves.
    """
    generator = FIXED.numpy("movielens/made")
    first = generator.integers(config.genres, size=config.movies)
    second = (first + generator.integers(1, config.genres, size=config.movies)) % config.genres
    second = np.where(generator.random(config.movies) < 1 / 3, second, first)
    tastes = TASTE * generator.standard_normal((config.users, config.genres))
    popularity = POPULARITY * generator.standard_normal(config.movies)
    liking = (tastes[:, first] + tastes[:, second]) / 2 + popularity
    activity = ACTIVITY * generator.standard_normal((config.users, 1))
    chance = np.exp(activity + liking - liking.max())
    chance *= RATED / chance.mean()
    users, movies = np.nonzero(generator.random(liking.shape) < chance)
    stars = MEAN_STARS + STARS * liking[users, movies] + NOISE * generator.standard_normal(len(users))
    ratings = pd.DataFrame(
        {"userId": users + 1, "movieId": movies + 1, "rating": np.clip(np.round(2 * stars) / 2, 0.5, 5.0)}
    )
    return ratings, {movie + 1: _genres(a, b) for movie, (a, b) in enumerate(zip(first, second, strict=True))}


def _genres(first: int, second: int) -> str:
    return "|".join(f"genre {genre + 1}" for genre in sorted({int(first), int(second)}))
