"""Preparation of ratings: a binary matrix of users by films, in the steps of the Sparse VAE's code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sparseid.data.cache import cached_arrays, digest
from sparseid.data.folds import SPLIT_SEED
from sparseid.data.movielens.reader import read_ratings, read_titles
from sparseid.data.movielens.settings import SYNTHETIC
from sparseid.data.movielens.sources import KEYS, RELEASES, find
from sparseid.data.movielens.synthetic import draw_ratings
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.movielens.settings import MovielensSettings

VERSION = 4
"""Incremented when the steps change; cached preparations are then recreated."""


class Positives(NamedTuple):
    """Positive ratings of users.

    Attributes
    ----------
    matrix
        (users, films) uint8: 1 for a positive rating.
    titles, genres
        (films,) titles, and genres as ``Action|Sci-Fi``, empty if unknown.
    remark
        Warning about the files, for the log.
    """

    matrix: NDArray[np.uint8]
    titles: NDArray[np.str_]
    genres: NDArray[np.str_]
    remark: str = ""


def prepared(config: MovielensSettings) -> Positives:
    """Return the matrix of a configuration; one computed from files is cached in the data folder.

    Raises
    ------
    InputError
        If a file is missing or cannot be used, or no users or too few films remain.
    """
    if config.source == SYNTHETIC:
        ratings, genres = draw_ratings(config.made)
        matrix, movies = positives(ratings, config)
        titles = [f"Film {movie} ({genres[movie]})" for movie in movies]
        return Positives(matrix, np.array(titles), np.array([genres[movie] for movie in movies]))
    files = find(config)
    chosen = {name: getattr(config, name) for name in ("source", "min_rating", "min_positives", "movies", "users")}
    kept = cached_arrays("movielens", [VERSION, chosen, *map(digest, files)], lambda: _from_files(config))
    matrix = np.unpackbits(kept["bits"], axis=1, count=len(kept["titles"]))
    return Positives(matrix, kept["titles"], kept["genres"], str(kept["remark"]))


def _from_files(config: MovielensSettings) -> dict[str, NDArray]:
    release, (ratings, titles) = RELEASES[config.source], find(config)
    matrix, movies = positives(read_ratings(ratings, release), config)
    names, genres, remark = read_titles(titles, release)
    if missing := [movie for movie in movies if movie not in names]:
        raise InputError(f"{titles} has no title of film {missing[0]} ({len(missing)} are missing)", KEYS)
    told = {"titles": [names[movie] for movie in movies], "genres": [genres[movie] for movie in movies]}
    return {"bits": np.packbits(matrix, axis=1), "remark": np.array(remark)} | {
        name: np.array(of_movies) for name, of_movies in told.items()
    }


def positives(ratings: pd.DataFrame, config: MovielensSettings) -> tuple[NDArray[np.uint8], list[int]]:
    """Return the binary matrix and the film of each column, by ascending number.

    Ratings of at least ``min_rating`` are positive. The matrix has users with at least ``min_positives`` of them, then
    the ``movies`` films with the most (ties by the lower number), then users with any of these films: at most
    ``users``, drawn with NumPy's legacy generator and in the order of the draw.

    Parameters
    ----------
    ratings
        Columns userId, movieId, rating; unique pairs of user and film.

    Raises
    ------
    InputError
        If no user has enough positive ratings, or they rate fewer films than `movies`.
    """
    good = ratings[ratings["rating"] >= config.min_rating]
    numbers = good["userId"].value_counts()
    good = good[good["userId"].isin(numbers.index[numbers >= config.min_positives])]
    if good.empty:
        most = f", the maximum is {numbers.max()}" if len(numbers) else ""
        text = f"no user has {config.min_positives} ratings of {config.min_rating:g} or more{most}"
        raise InputError(f"{text}: lower data.min_positives", ("data.min_positives", "data.min_rating", "data.path"))
    popular = good.groupby("movieId").size().sort_index().sort_values(ascending=False, kind="stable")
    if len(popular) < config.movies:
        text = f"users with enough positive ratings rated {len(popular)} films well, fewer than data.movies"
        raise InputError(f"{text}={config.movies}: lower it", ("data.movies", "data.min_positives", "data.path"))
    movies = np.sort(popular.index[: config.movies].to_numpy())
    good = good[good["movieId"].isin(movies)]
    users = np.unique(good["userId"].to_numpy())
    matrix = np.zeros((len(users), len(movies)), dtype=np.uint8)
    matrix[np.searchsorted(users, good["userId"]), np.searchsorted(movies, good["movieId"])] = 1
    if len(users) > config.users:
        matrix = matrix[np.random.RandomState(SPLIT_SEED).choice(len(users), config.users, replace=False)]
    return matrix, movies.tolist()
