"""What a check of settings yields, and the checks of a single setting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.spelling import unlisted


@dataclass(frozen=True)
class Problem:
    """One thing that cannot work: the dotted keys that clash, and why, with what to do."""

    keys: tuple[str, ...]
    text: str


def one_of(settings: Any, prefix: str, **allowed: tuple[Any, ...]) -> Iterator[Problem]:
    """Yield the fields of `settings` whose value is not among the allowed ones."""
    for name, values in allowed.items():
        key = f"{prefix}{name}"
        if text := unlisted(key, getattr(settings, name), values):
            yield Problem((key,), text)


def between(
    settings: Any, prefix: str, low: float, high: float, *names: str, open_ends: bool = False
) -> Iterator[Problem]:
    """Yield the fields of `settings` outside [low, high], or outside (low, high); NaN is always outside."""
    for name in names:
        value = getattr(settings, name)
        if not (low < value < high if open_ends else low <= value <= high) or math.isinf(value):
            bounds = (
                f"at least {low}"
                if high == math.inf and not open_ends
                else f"{'strictly ' if open_ends else ''}between {low} and {high}"
            )
            yield Problem((f"{prefix}{name}",), f"{prefix}{name} must be {bounds}")
