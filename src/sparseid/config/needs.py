"""The parent run of one that starts from the weights of a trained run: it has to be done first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparseid.config.schema import RunConfig


def needed_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return the settings in which the parent of `cfg` differs from it, by dotted key; empty if it has none."""
    changes: dict[str, Any] = cfg.method.parent_run(cfg)
    return changes


def needed_run(cfg: RunConfig) -> RunConfig | None:
    """Return the configuration of the run that has to be done before `cfg` can begin, or None.

    It belongs to the same folder of runs and is never forced: a new one would not change what `cfg` starts from.
    """
    needed = cfg
    for key, value in needed_settings(cfg).items():
        needed = _with(needed, key.split("."), value)
    return None if needed is cfg else replace(needed, force=False)


def _with(node: Any, path: list[str], value: Any) -> Any:
    """Return a copy of nested dataclasses with one field changed."""
    name, *rest = path
    return replace(node, **{name: _with(getattr(node, name), rest, value) if rest else value})
