"""Variants of a study's preset and their rows, for studies of what a paper leaves open.

Variants are identified by the recipes of their rows; a run that several of them share counts for each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pandas as pd

from sparseid.config.schema import RunConfig


@dataclass(frozen=True, eq=False)
class Variant:
    """One variant of a preset."""

    text: str
    """Its overrides as in the preset; empty for the setting that the others change."""
    recipes: frozenset[str]
    run: RunConfig
    """The last of its runs."""

    @property
    def keys(self) -> frozenset[str]:
        """Keys of its overrides."""
        return frozenset(word.partition("=")[0] for word in self.text.split())

    @property
    def steps(self) -> int:
        """Training steps of its runs."""
        return self.run.trainer.max_samples // self.run.trainer.batch_size

    def __str__(self) -> str:
        return self.without()

    def without(self, *keys: str) -> str:
        """Write its overrides other than those of some keys; ``base`` if none are left."""
        texts = [word for word in self.text.split() if word.partition("=")[0] not in keys]
        words = [re.sub(r"^[\w.]*\.", "", text) for text in texts]  # data.mixing=additive: mixing=additive
        steps = [f"{self.steps} steps"] if any(text.startswith("trainer.") for text in texts) else []
        return ", ".join([*words, *steps]) or "base"

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of its runs, whatever their seed."""
        return rows[rows["recipe"].isin(self.recipes)]


@cache
def variants_of(experiment: str, scale: str) -> tuple[Variant, ...]:
    """Return the variants of a preset at a scale, in its order."""
    from sparseid.config.identity import recipe_hash  # imports Hydra
    from sparseid.config.sweep import plan

    runs: dict[str, list[RunConfig]] = {}
    for planned in plan([f"experiment={experiment}", f"scale={scale}"]).trials:
        for text in planned.variants:
            runs.setdefault(text, []).append(planned.run)
    return tuple(Variant(text, frozenset(map(recipe_hash, own)), own[-1]) for text, own in runs.items())
