"""Settings of film ratings; values of the paper's code are in ``configs/data/movielens.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import FeatureMatrixSettings, Keys, Run, SettingsError, setting

SYNTHETIC = "latent_factors"
RELEASE_NAMES = ("ml-25m", "ml-latest-small", "ml-1m", "ml-100k")
"""Releases of GroupLens."""

HIGHEST = 5.0
"""Highest rating of GroupLens, and of synthetic ratings."""


@dataclass
class MadeRatingsSettings:
    """Synthetic ratings of low rank: films have a few genres each, users like a few genres each."""

    users: int = setting("Number of users.", at_least=2)
    movies: int = setting("Number of films.", at_least=2)
    genres: int = setting("Number of genres, the rank of the ratings.", at_least=2)


@dataclass
class MovielensSettings(FeatureMatrixSettings):
    """Positive film ratings by users, from the files of GroupLens or synthetic."""

    name: str = "movielens"
    source: str = setting(
        "latent_factors (synthetic), ml-25m (the paper's), ml-latest-small, ml-1m or ml-100k (to be downloaded).",
        default=SYNTHETIC,
        choices=(SYNTHETIC, *RELEASE_NAMES),
    )
    path: str = setting(
        "Folder of GroupLens' files; empty for the one in data/movielens. The run hash covers its content.",
        default="",
        path=True,
    )
    min_rating: float = setting("Minimum rating that counts as positive; others are ignored.", at_least=0)
    min_positives: int = setting("Users with fewer positive ratings are skipped.", at_least=1)
    movies: int = setting("Number of films: those with the most positive ratings.", at_least=2)
    users: int = setting("Maximum number of users, chosen at random.", at_least=2)
    folds: int = setting("Number of folds, one of which is held out.", at_least=2)
    fold: int = setting("Held-out fold.", default=0)
    made: MadeRatingsSettings = setting("Size of synthetic ratings.", default=MadeRatingsSettings)

    loads = "sparseid.data.movielens.datamodule:MovielensData"
    likelihood = "multinomial"
    obtained_by = "sparseid.data.movielens.obtain:movielens"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors that do not depend on the files."""
        if self.source == SYNTHETIC and self.path:
            text = f"data.path is the folder of a release: name it, data.source={' or '.join(RELEASE_NAMES)}"
            yield SettingsError(("data.path", "data.source"), text)
        if self.min_rating > HIGHEST:
            text = f"data.min_rating must be at most {HIGHEST:g}: no rating is higher"
            yield SettingsError(("data.min_rating",), text)
        if self.source == SYNTHETIC and self.movies > self.made.movies:
            text = f"data.movies={self.movies} exceeds data.made.movies={self.made.movies}: lower it"
            yield SettingsError(("data.movies", "data.made.movies"), text)
        if not 0 <= self.fold < self.folds:
            text = f"data.fold must be between 0 and {self.folds - 1}, one of data.folds"
            yield SettingsError(("data.fold", "data.folds"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield errors of user-provided files that are missing or unusable, with the remedy; each is read once."""
        if self.source not in RELEASE_NAMES:
            return
        from sparseid.data.movielens.prepare import prepared

        try:
            prepared(self)
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable ones of the files of ratings and titles."""
        if self.source not in RELEASE_NAMES:
            return {}
        from sparseid.data.movielens.sources import places
        from sparseid.data.paths import unusable

        files = dict(zip(("path", "titles"), places(self), strict=True))
        return {name: path for name, path in files.items() if not unusable(path)}

    def row_keys(self) -> Keys:
        """Return the column of the paper's table, the fold and the release."""
        return {"dataset": self.name, "fold": self.fold, "source": self.source}
