import numpy as np

from sparseid.data.movielens.settings import MadeRatingsSettings
from sparseid.data.movielens.synthetic import draw_ratings


def test_films_of_a_genre_are_liked_by_the_same_users():
    ratings, named = draw_ratings(MadeRatingsSettings(users=800, movies=120, genres=6))
    assert set(ratings["rating"].unique()) <= set(np.arange(0.5, 5.5, 0.5))
    assert not ratings.duplicated(["userId", "movieId"]).any()
    liked = np.zeros((800, 120))
    liked[ratings["userId"] - 1, ratings["movieId"] - 1] = ratings["rating"] >= 4
    genres = [set(named[movie + 1].split("|")) for movie in range(120)]
    same = np.array([[a == b for b in genres] for a in genres])
    apart = np.array([[not a & b for b in genres] for a in genres])
    np.fill_diagonal(same, False)
    seen = liked.sum(axis=0) > 20
    correlation = np.corrcoef(liked[:, seen].T)
    same, apart = (relation[np.ix_(seen, seen)] for relation in (same, apart))
    assert correlation[same].mean() > correlation[apart].mean() + 0.1


def test_they_are_the_same_every_time():
    config = MadeRatingsSettings(users=30, movies=12, genres=3)
    assert draw_ratings(config)[0].equals(draw_ratings(config)[0])
