"""Validation of settings, before any heavy import."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparseid.config.schema import RunConfig
from sparseid.extensions import parts
from sparseid.optional import absence
from sparseid.settings import SettingsError, field_errors, settings_errors
from sparseid.spelling import did_you_mean


def papers() -> list[str]:
    """Return the names of all papers, those of extensions included."""
    return list(parts("papers", "__init__.py"))


def problems(run: RunConfig) -> list[SettingsError]:
    """Return all errors of a configuration, most general first; empty if it is valid.

    Data sets and methods validate their own settings.
    """
    found = [*_root(run), *_stack(run), *settings_errors(run.trainer, "trainer.", run)]
    if run.data.interface not in run.method.interfaces:
        text = f"{run.method.name} cannot be trained on {run.data.name}: pick another method or other data"
        return [SettingsError(("method.name", "data.name"), text)]
    return [*found, *settings_errors(run.data, "data.", run), *settings_errors(run.method, "method.", run)]


def missing_files(run: RunConfig) -> list[SettingsError]:
    """Return errors for user-provided data that are missing or unusable.

    They are separate from `problems` because runs can be planned and reported without the data.
    """
    return list(run.data.missing_files())


def _root(run: RunConfig) -> Iterator[SettingsError]:
    yield from field_errors(run, nested=False)
    if not re.fullmatch(r"\w[\w-]*", run.paper):
        yield SettingsError(("paper",), "paper names a folder: it may have letters, digits, _ and - only")
    elif run.paper not in papers() and (
        hint := did_you_mean(run.paper, papers())
    ):  # presets may have a name of their own
        yield SettingsError(("paper",), f"there is no paper {run.paper}; {hint}")
    yield from field_errors(run.logger, "logger.")
    if run.logger.name == "wandb" and (text := absence("wandb", "dashboards")):
        yield SettingsError(("logger.name",), text)
    project = run.logger.project
    if run.logger.name == "wandb" and (len(project) > 128 or set(project) & set("/\\#?%:")):
        text = "Weights & Biases takes at most 128 characters as a project's name, and none of / \\ # ? % :"
        yield SettingsError(("logger.project",), text)
    if not run.outputs.strip():
        yield SettingsError(("outputs",), "outputs must name a folder")


def _stack(run: RunConfig) -> Iterator[SettingsError]:
    if run.method.stacked and run.trainer.devices > 1:
        text = "a stack is trained on one device: set trainer.devices=1"
        yield SettingsError(("trainer.devices",), text)
    if not run.seeds:
        return
    if not run.method.stacked:
        text = f"{run.method.name} trains one seed per run: sweep over seeds with seed=0,1,2 instead of seeds=[0,1,2]"
        yield SettingsError(("seeds",), text)
    if run.seed:
        yield SettingsError(("seed", "seeds"), f"the seeds of a stack are given by seeds: write seeds=[{run.seed}]")
    if min(run.seeds) < 0:
        yield SettingsError(("seeds",), "seeds must be at least 0")
    if len(set(run.seeds)) < len(run.seeds):
        yield SettingsError(("seeds",), "seeds contains a seed twice: remove the duplicate")
