"""Which rows an artefact may read: those made with the settings of its own preset."""

from __future__ import annotations

from functools import cache

import pandas as pd


@cache
def preset_runs(experiment: str, scale: str) -> frozenset[tuple[str, int]]:
    """Return (recipe hash, seed) of every run that a preset asks for at a scale, of a stack for each member."""
    from sparseid.config.identity import member_seeds, recipe_hash  # imports Hydra: only where rows are looked at
    from sparseid.config.sweep import plan

    runs = [cell.run for cell in plan([f"experiment={experiment}", f"scale={scale}"]).cells]
    hashed = [(recipe_hash(run), member_seeds(run)) for run in runs]
    return frozenset((recipe, seed) for recipe, seeds in hashed for seed in seeds)


@cache
def preset_recipes(experiment: str, scale: str) -> frozenset[str]:
    """Return the recipe hashes of the runs that a preset asks for at a scale."""
    return frozenset(recipe for recipe, _ in preset_runs(experiment, scale))


def of_preset(rows: pd.DataFrame, experiment: str, scale: str) -> pd.DataFrame:
    """Return the rows that were made at `scale` with the settings of the preset, whatever their seed.

    Runs with other settings (``method.encoder.width=8``) keep their own tables and never slip into the artefact.
    """
    mine = rows[rows["scale"] == scale]
    return mine[mine["recipe"].isin(preset_recipes(experiment, scale))] if len(mine) else mine
