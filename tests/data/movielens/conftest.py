"""Small files in the layouts of the releases of MovieLens."""

import numpy as np
import pytest

from sparseid.data.movielens.settings import MadeRatingsSettings, MovielensSettings


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))


@pytest.fixture
def settings():
    """Return the settings of the preset, changed as asked, for files of a few users and films."""
    published = {"min_rating": 4.0, "min_positives": 3, "movies": 5, "users": 100000, "folds": 2}
    return lambda **changes: MovielensSettings(**(published | {"made": MadeRatingsSettings(60, 20, 4)} | changes))


@pytest.fixture
def ratings():
    """(user, film, stars) of 40 users: the higher a film's number, the fewer rate it."""
    generator = np.random.default_rng(0)
    rated = generator.random((40, 9)) < np.linspace(0.9, 0.3, 9)
    return [
        (int(user) + 1, 10 * int(film) + 7, float(generator.choice([2, 3, 4, 5]))) for user, film in np.argwhere(rated)
    ]


@pytest.fixture
def write(tmp_path, ratings):
    """Write the files of a release and return their folder."""

    def to_folder(source, rows=None, titles=None, encoding=None):
        rows = ratings if rows is None else rows
        titles = titles or {10 * film + 7: f"Película {film}, The (199{film})" for film in range(9)}
        folder = tmp_path / source
        folder.mkdir(parents=True, exist_ok=True)
        release = folder.name
        if release in ("ml-25m", "ml-latest-small"):
            lines = ["userId,movieId,rating,timestamp", *(f"{u},{m},{r},96{u}" for u, m, r in rows)]
            named = ["movieId,title,genres", *(f'{m},"{title}",Drama|Comedy' for m, title in titles.items())]
            names, encoding = ("ratings.csv", "movies.csv"), encoding or "utf-8"
        elif release == "ml-1m":
            lines = [f"{u}::{m}::{r:.0f}::96{u}" for u, m, r in rows]
            named = [f"{m}::{title}::Drama|Comedy" for m, title in titles.items()]
            names, encoding = ("ratings.dat", "movies.dat"), encoding or "latin-1"
        else:
            lines = [f"{u}\t{m}\t{r:.0f}\t96{u}" for u, m, r in rows]
            named = [f"{m}|{title}|01-Jan-1995||http://x|0|0|1" for m, title in titles.items()]
            names, encoding = ("u.data", "u.item"), encoding or "latin-1"
        for name, text in zip(names, (lines, named), strict=True):
            (folder / name).write_bytes(("\n".join(text) + "\n").encode(encoding))
        return folder

    return to_folder
