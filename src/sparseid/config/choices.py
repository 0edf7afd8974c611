"""Choices of each group (files on the search path), and the typed keys that can be set."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sparseid.config.components import FOLDERS, settings_classes
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import config_file, config_folders, yaml_files
from sparseid.text import lines_of, read_text

SINGLE_GROUPS = ("experiment", "scale", "method", "data")
"""Groups that determine the available keys and files: one choice per command."""

PICKED_GROUPS = (*SINGLE_GROUPS, "trainer", "logger")
"""Every group that a user selects from, in the order of the help page."""

LAUNCHER = "hydra/launcher"
"""Hydra's group of launchers: ours, and those of Hydra and of installed plugins."""


def choices(group: str, folders: Sequence[Path] = ()) -> list[str]:
    """Return the choices of a group, for example ``["digitcircle", "sparling/fig3"]`` for ``experiment``.

    Parameters
    ----------
    group
        A folder of YAML files, such as ``experiment`` or ``hydra/launcher``.
    folders
        The search path; by default our folder and those of extensions.
    """
    roots = [folder / group for folder in folders or config_folders()]
    files = {path.relative_to(root) for root in roots for path in yaml_files(root)}
    names = [path.with_suffix("").as_posix() for path in files if not (group == "experiment" and path.parts[0] == "at")]
    by_size = {"smoke": 0, "small": 1, "paper": 2}
    return sorted(names, key=lambda name: (by_size.get(name, 0), name))


def scales(experiment: str, folders: Sequence[Path] = ()) -> list[str]:
    """Return the scales that an experiment has values for."""
    folders = folders or config_folders()
    values = _values_of(experiment, folders)
    return [name for name in choices("scale", folders) if config_file(f"experiment/at/{values}.{name}", folders)]


def _values_of(experiment: str, folders: Sequence[Path]) -> str:
    """Return the experiment whose values at each scale are used: `experiment`, or another that its defaults select."""
    path = config_file(f"experiment/{experiment}", folders)
    picked = re.search(r"override /experiment/at@_global_: (\S+)\.\$", read_text(path, western=True)) if path else None
    return picked[1] if picked else experiment


def description(group: str, choice: str, folders: Sequence[Path] = ()) -> str:
    """Return the first comment line of a choice's file that is not a Hydra directive; empty without one."""
    file = config_file(f"{group}/{choice}", folders or config_folders())
    assert file is not None
    for line in lines_of(read_text(file, western=True)):
        if line.startswith("#") and not line.lstrip("# ").startswith("@"):
            return line.lstrip("# ").rstrip()
    return ""


def typed_keys(schema: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every dotted key of a dataclass and of its nested dataclasses, parents before children, with its type."""
    hints = typing.get_type_hints(schema)
    for field in dataclasses.fields(schema):
        yield prefix + field.name, hints[field.name]
        if dataclasses.is_dataclass(hints[field.name]):
            yield from typed_keys(hints[field.name], f"{prefix}{field.name}.")


def dotted_keys(schema: type, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key of a dataclass and of its nested dataclasses, parents before children."""
    return (key for key, _ in typed_keys(schema, prefix))


def settable_types() -> Iterator[tuple[str, Any]]:
    """Yield every dotted key that a run can have, of the root and of every choice of a typed group, with its type."""
    yield from typed_keys(RunConfig)
    for group in FOLDERS:
        for schema in settings_classes(group).values():
            yield from typed_keys(schema, f"{group}.")


def settable_keys() -> list[str]:
    """Return every dotted key of `settable_types`, once."""
    return list(dict.fromkeys(key for key, _ in settable_types()))
