"""Runs of presets, and so the rows that an artefact may read.

They are saved when a preset is planned, so that a report composes nothing: for the project's own presets in
``outputs/recorded/presets.csv``, for new or edited presets, or with other user-provided files, in
``<outputs>/planned/<experiment>-<scale>.csv``, which takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.config.choices import choices, scales
from sparseid.config.identity import member_seeds, recipe_hash, run_name
from sparseid.config.search_path import CONFIGS, sets_search_path
from sparseid.papers.recorded import PRESETS, RECORDED, parse_seeds, read_table, seeds_text, write_table
from sparseid.papers.rows import without_empty_keys

if TYPE_CHECKING:
    import pandas as pd

    from sparseid.config.schema import RunConfig
    from sparseid.config.sweep import Plan

COLUMNS = ("experiment", "scale", "run", "recipe", "seeds", "variants")
PLANNED = "planned"
"""Folder of tables below the folder of runs."""

_SEPARATOR = "; "
_HARMLESS = re.compile(
    r"experiment|scale|outputs|force|trainer|logger(\..+)?|hydra/launcher|hydra\.(launcher\..+|searchpath)"
)
"""Keys that a command may set without changing the runs of its preset."""

VARIANTS = "variants"
"""Column of rows with the variants of the preset that share their run."""

Line = tuple[str, str, str, str, str, str]
"""A run of a preset: the values of :data:`COLUMNS`."""


def preset_runs(experiment: str, scale: str, outputs: Path | None = None) -> frozenset[tuple[str, int]]:
    """Return (recipe hash, seed) of every run of a preset at a scale, of a stack for each member.

    Parameters
    ----------
    experiment, scale
        The preset; one that was never planned has no runs.
    outputs
        The folder of runs; a preset that was planned there may differ from the project's own.

    Raises
    ------
    InputError
        If a table is damaged.
    """
    return frozenset(
        (recipe, seed)
        for _, _, _, recipe, seeds, _ in _lines(experiment, scale, outputs)
        for seed in parse_seeds(seeds)
    )


def preset_recipes(experiment: str, scale: str, outputs: Path | None = None) -> frozenset[str]:
    """Return the recipe hashes of a preset's runs at a scale."""
    return frozenset(recipe for recipe, _ in preset_runs(experiment, scale, outputs))


def presets_of(artefact: str) -> tuple[str, ...]:
    """Return the presets whose runs an artefact reads: by default the one of its own id."""
    from sparseid.papers.registry import ARTEFACTS  # imports figures: slower than a plan or an estimate needs

    return ARTEFACTS[artefact].presets or (artefact,)


def artefact_runs(artefact: str, scale: str, outputs: Path | None = None) -> frozenset[tuple[str, int]]:
    """Return (recipe hash, seed) of every run that an artefact reads at a scale, of all its presets."""
    return frozenset().union(*(preset_runs(name, scale, outputs) for name in presets_of(artefact)))


def artefact_recipes(artefact: str, scale: str, outputs: Path | None = None) -> frozenset[str]:
    """Return the recipe hashes of the runs that an artefact reads at a scale."""
    return frozenset(recipe for recipe, _ in artefact_runs(artefact, scale, outputs))


def of_artefact(rows: pd.DataFrame, artefact: str, scale: str, outputs: Path | None = None) -> pd.DataFrame:
    """Return the rows at `scale` with the settings of the artefact's presets, whatever their seed unless it says which.

    Runs with other settings (``method.encoder.width=8``) have their own tables and never get into the artefact. If a
    preset has variants, column ``variants`` is a tuple of the names of those that share a row's run. The rows are
    prepared (`papers.registry.prepared`).
    """
    from sparseid.papers.registry import ARTEFACTS, prepared

    mine = rows[(rows["scale"] == scale) & rows["recipe"].isin(artefact_recipes(artefact, scale, outputs))]
    mine = without_empty_keys(mine[mine["seed"].map(ARTEFACTS[artefact].seeds).astype(bool)])
    lines = [line for name in presets_of(artefact) for line in _lines(name, scale, outputs) if line[-1]]
    shared: dict[str, tuple[str, ...]] = {}
    for _, _, _, recipe, _, variants in lines:  # one of each seed
        shared[recipe] = (*shared.get(recipe, ()), *variants.split(_SEPARATOR))
    return prepared(mine.assign(**{VARIANTS: mine["recipe"].map(shared)}) if shared else mine)


def variant_name(text: str, run: RunConfig) -> str:
    """Return the name of a variant with one of its runs: ``mixing=additive, gain_x1=10``; ``base`` without overrides.

    If it changes the trainer, its name has the training steps as well.
    """
    words = [re.sub(r"^[\w.]*\.", "", word) for word in text.split()]
    if re.search(r"(^|\s)trainer\.", text):
        words.append(f"{run.trainer.max_samples // run.trainer.batch_size} steps")
    return ", ".join(words) or "base"


def save_planned_runs(planned: Plan, overrides: Sequence[str], configs: Path) -> None:
    """Save the runs of the preset of a planned command, unless they are known.

    Parameters
    ----------
    planned
        The plan of the command: all runs of its preset, unless an override may change them.
    overrides
        The command.
    configs
        The folder of YAML files; a preset that was never planned is planned from it, without the overrides.
    """
    run = planned.trials[0].run
    outputs = Path(run.outputs)
    if all(_HARMLESS.fullmatch(text.partition("=")[0].lstrip("+")) for text in overrides):
        _write_planned(planned, outputs)
    elif not _lines(run.experiment, run.scale, outputs):
        from sparseid.config.sweep import plan  # imports Hydra

        searched = filter(sets_search_path, overrides)
        _write_planned(plan([f"experiment={run.experiment}", f"scale={run.scale}", *searched], configs), outputs)


def _write_planned(planned: Plan, outputs: Path) -> None:
    """Write the table of a planned preset, unless it equals the project's own."""
    lines = planned_lines(planned)
    experiment, scale, *_ = lines[0]
    path = _planned_file(experiment, scale, outputs)
    if lines == recorded_presets().get((experiment, scale)):
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, COLUMNS, lines)


def planned_lines(planned: Plan) -> list[Line]:
    """Return the lines of a planned preset, sorted."""
    return sorted(
        (run.experiment, run.scale, run_name(run), recipe_hash(run), seeds_text(member_seeds(run)), names)
        for run, names in (
            (trial.run, _SEPARATOR.join(variant_name(text, trial.run) for text in trial.variants))
            for trial in planned.trials
        )
    )


@cache
def recorded_presets() -> dict[tuple[str, str], list[Line]]:
    """Return the lines of each of the project's own presets, (experiment, scale)."""
    path = RECORDED / PRESETS
    return _read(path) if path.exists() else {}


def compose_presets(configs: Path = CONFIGS) -> Iterator[Line]:
    """Compose every preset of a folder at every scale and yield the lines of its runs (a minute)."""
    from sparseid.config.sweep import plan  # imports Hydra

    for experiment in choices("experiment", [configs]):
        for scale in sorted(scales(experiment, [configs])):
            yield from planned_lines(plan([f"experiment={experiment}", f"scale={scale}"], configs))


def _lines(experiment: str, scale: str, outputs: Path | None) -> list[Line]:
    path = None if outputs is None else _planned_file(experiment, scale, outputs)
    if path is None or not path.exists():
        return recorded_presets().get((experiment, scale), [])
    return _read(path, "Remove the file: planning the preset recreates it").get((experiment, scale), [])


def _planned_file(experiment: str, scale: str, outputs: Path) -> Path:
    return outputs / PLANNED / f"{experiment.replace('/', '-')}-{scale}.csv"


def _read(path: Path, remedy: str = "") -> dict[tuple[str, str], list[Line]]:
    found: dict[tuple[str, str], list[Line]] = {}
    for line in read_table(path, COLUMNS, remedy=remedy).itertuples(index=False, name=None):
        found.setdefault(line[:2], []).append(line)
    return found
