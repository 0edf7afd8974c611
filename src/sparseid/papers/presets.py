"""Which rows an artefact may read: those made with the settings of its presets."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.config.choices import choices
from sparseid.config.search_path import CONFIGS, config_folders
from sparseid.data.cache import digest
from sparseid.data.gtex.settings import GtexSettings
from sparseid.data.paths import data_folder
from sparseid.files import write_text
from sparseid.papers.fingerprint import fingerprint, of_code, of_files

if TYPE_CHECKING:
    import pandas as pd

    from sparseid.config.schema import RunConfig

COMPOSED_BY = ("config", "data", "methods", "metrics", "stacking", "settings.py", "papers/presets.py")
"""The code that composes and checks a configuration: what ``config`` may import, and this."""


@cache
def preset_runs(experiment: str, scale: str, configs: Path = CONFIGS) -> frozenset[tuple[str, int]]:
    """Return (recipe hash, seed) of every run that a preset asks for at a scale, of a stack for each member.

    Without a preset of that name there are none.
    Hydra takes tenths of a second for a preset, so the answer is kept in the data folder, and used as long as nothing
    that it depends on has changed: the files of `configs`, the code and libraries that compose them, and the files that
    the user has placed or a preset names. Where it cannot be kept or read, the preset is composed.
    """
    if experiment not in choices("experiment", config_folders(configs)):
        return frozenset()
    kept = data_folder() / "cache" / "presets" / f"{experiment.replace('/', '-')}-{scale}.json"
    made_from = fingerprint(experiment, scale, _dependencies(configs))
    recipes = _read(kept, made_from)
    if recipes is None:
        recipes, named = _compose(experiment, scale, configs)
        if made_from == fingerprint(experiment, scale, _dependencies.__wrapped__(configs)):  # not edited meanwhile
            _write(kept, {"made_from": made_from, "named": named, "recipes": recipes})
    return frozenset((recipe, seed) for recipe, seeds in recipes.items() for seed in seeds)


@cache
def preset_recipes(experiment: str, scale: str) -> frozenset[str]:
    """Return the recipe hashes of the runs that a preset asks for at a scale."""
    return frozenset(recipe for recipe, _ in preset_runs(experiment, scale))


def presets_of(artefact: str) -> tuple[str, ...]:
    """Return the presets whose runs an artefact reads: the one of its own id where it names none."""
    from sparseid.papers.registry import ARTEFACTS  # draws figures: more than a plan or an estimate needs

    return ARTEFACTS[artefact].presets or (artefact,)


@cache
def artefact_runs(artefact: str, scale: str) -> frozenset[tuple[str, int]]:
    """Return (recipe hash, seed) of every run that an artefact reads at a scale, of all its presets."""
    return frozenset().union(*(preset_runs(name, scale) for name in presets_of(artefact)))


def artefact_recipes(artefact: str, scale: str) -> frozenset[str]:
    """Return the recipe hashes of the runs that an artefact reads at a scale."""
    return frozenset(recipe for recipe, _ in artefact_runs(artefact, scale))


def of_artefact(rows: pd.DataFrame, artefact: str, scale: str) -> pd.DataFrame:
    """Return the rows that were made at `scale` with the settings of the artefact's presets, whatever their seed.

    Runs with other settings (``method.encoder.width=8``) keep their own tables and never slip into the artefact.
    """
    mine = rows[rows["scale"] == scale]
    return mine[mine["recipe"].isin(artefact_recipes(artefact, scale))] if len(mine) else mine


def _compose(experiment: str, scale: str, configs: Path) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Return the seeds of each recipe of a preset, and the state of each file that its settings name."""
    from sparseid.config.identity import member_seeds, recipe_hash  # imports Hydra: only where nothing is remembered
    from sparseid.config.sweep import plan

    seeds: dict[str, set[int]] = {}
    named: set[str] = set()
    for cell in plan([f"experiment={experiment}", f"scale={scale}"], configs).cells:
        seeds.setdefault(recipe_hash(cell.run), set()).update(member_seeds(cell.run))
        named |= _named_files(cell.run)
    return {recipe: sorted(of_recipe) for recipe, of_recipe in seeds.items()}, {name: _state(name) for name in named}


def _named_files(run: RunConfig) -> set[str]:
    """Return what stands in the settings of a run that may name a file, whose content then counts in its recipe."""
    settings: list[Any] = [run.method, run.data]
    marked = {
        getattr(node, field.name) for node in settings for field in dataclasses.fields(node) if "file" in field.metadata
    }
    if isinstance(run.data, GtexSettings):
        marked |= {run.data.path, run.data.tf_targets}
    return marked - {""}


def _state(name: str) -> str:
    """Return the digest of a file; empty if there is none that can be read."""
    try:
        return digest(Path(name))
    except OSError:
        return ""


@cache
def _dependencies(configs: Path) -> str:
    """Return the fingerprint of everything that any preset depends on."""
    placed = {name: digest(path) for name, path in GtexSettings(source="atlas").user_files().items()}
    return fingerprint(of_files(*config_folders(configs)), of_code(COMPOSED_BY, ("hydra-core", "omegaconf")), placed)


def _read(kept: Path, made_from: str) -> dict[str, list[int]] | None:
    """Return the recipes of a kept answer; None if there is none, it is out of date or cannot be read."""
    try:
        answer = json.loads(kept.read_text(encoding="utf-8"))
        if answer["made_from"] != made_from or any(_state(name) != state for name, state in answer["named"].items()):
            return None
        return {str(recipe): [int(seed) for seed in seeds] for recipe, seeds in answer["recipes"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(kept: Path, answer: dict[str, Any]) -> None:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_text(kept, json.dumps(answer))
    except OSError:
        pass  # a folder that cannot be written to costs time, nothing else
