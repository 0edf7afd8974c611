"""Parent runs: a run may start from the weights of another one, which has to be finished first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparseid.config.schema import RunConfig


def parent_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return the settings, by dotted key, in which the parent of `cfg` differs from it; empty without a parent."""
    changes: dict[str, Any] = cfg.method.parent_run(cfg)
    return changes


def parent_run(cfg: RunConfig) -> RunConfig | None:
    """Return the configuration of the parent run, which has to be finished before `cfg` can start, or None.

    It has the same output folder and is never forced: a repetition would not change the weights that `cfg` starts from.
    """
    needed = cfg
    for key, value in parent_settings(cfg).items():
        needed = _with(needed, key.split("."), value)
    return None if needed is cfg else replace(needed, force=False)


def _with(node: Any, path: list[str], value: Any) -> Any:
    """Return a copy of nested dataclasses with one field changed."""
    name, *rest = path
    return replace(node, **{name: _with(getattr(node, name), rest, value) if rest else value})
