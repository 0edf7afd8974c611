"""Which run another one needs: one that starts from the weights of a trained run cannot be made before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sparseid.config.schema import RunConfig, SparlingConfig


def needed_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return in which settings the run that `cfg` needs differs from it, by dotted key; empty if it needs none."""
    if not isinstance(cfg.method, SparlingConfig) or cfg.method.training != "retrained":
        return {}
    return {
        "method.training": "sparling",
        "method.retrained.source_samples": 0,
        "method.retrained.steps_above": 0,
        "trainer.max_samples": cfg.method.retrained.source_samples or cfg.trainer.max_samples,
    }


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
