"""What can be picked: the files of ``configs/`` per group, and the typed keys that may be set."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterator
from pathlib import Path

from sparseid.config.schema import GROUPS, RunConfig

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
"""The project's own ``configs/`` folder."""

SINGLE_GROUPS = ("experiment", "scale", "method", "data")
"""Groups that decide which keys and which files there are: one choice per command."""

PICKED_GROUPS = (*SINGLE_GROUPS, "trainer", "logger")
"""Every group a user picks from, in the order of the help page."""

LAUNCHER = "hydra/launcher"
"""Hydra's group of launchers: ours, and those of Hydra and of installed plugins."""


def choices(group: str, configs: Path = CONFIGS) -> list[str]:
    """Return the choices of a group, for example ``["digitcircle", "sparling/fig3"]`` for ``experiment``."""
    folder = configs / group
    files = (path.relative_to(folder) for path in folder.rglob("*.yaml"))
    names = [path.with_suffix("").as_posix() for path in files if not (group == "experiment" and path.parts[0] == "at")]
    by_size = {"smoke": 0, "small": 1, "paper": 2}
    return sorted(names, key=lambda name: (by_size.get(name, 0), name))


def scales(experiment: str, configs: Path = CONFIGS) -> list[str]:
    """Return the scales an experiment has values for."""
    folder, _, stem = f"experiment/at/{_values_of(experiment, configs)}".rpartition("/")
    found = {
        path.name.removeprefix(f"{stem}.").removesuffix(".yaml") for path in (configs / folder).glob(f"{stem}.*.yaml")
    }
    return [scale for scale in choices("scale", configs) if scale in found]


def _values_of(experiment: str, configs: Path) -> str:
    """Return the experiment whose values at each scale one takes: its own, or those that its defaults list picks."""
    path = configs / "experiment" / f"{experiment}.yaml"
    picked = re.search(r"override /experiment/at@_global_: (\S+)\.\$", path.read_text()) if path.is_file() else None
    return picked[1] if picked else experiment


def description(group: str, choice: str, configs: Path = CONFIGS) -> str:
    """Return the first comment line of a choice's file that is not a Hydra directive (empty if it has none)."""
    for line in (configs / group / f"{choice}.yaml").read_text().splitlines():
        if line.startswith("#") and not line.lstrip("# ").startswith("@"):
            return line.lstrip("# ").rstrip()
    return ""


def dotted_keys(schema: type, prefix: str = "") -> Iterator[str]:
    """Yield every key of a dataclass and of the dataclasses in it, dotted, parents before children."""
    hints = typing.get_type_hints(schema)
    for field in dataclasses.fields(schema):
        yield prefix + field.name
        if dataclasses.is_dataclass(hints[field.name]):
            yield from dotted_keys(hints[field.name], f"{prefix}{field.name}.")


def settable_keys() -> list[str]:
    """Return every dotted key some run can have: the root's and those of every choice of a typed group."""
    keys = list(dotted_keys(RunConfig))
    for group, schemas in GROUPS.items():
        for schema in schemas.values():
            keys.extend(dotted_keys(schema, f"{group}."))
    return list(dict.fromkeys(keys))
