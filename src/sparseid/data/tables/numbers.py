"""Numbers in text, and why a text is none."""

from __future__ import annotations

import math

SHOWN = 40
"""Maximum number of characters of a value in a message."""


def number_of(text: str) -> float:
    """Return the number that a text is; NaN if it is none."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def refusal(text: str) -> str:
    """Return why a text is not a finite number, and the remedy."""
    text = text.strip()
    if not text or text.casefold() in ("na", "nan", "n/a", "null", "none", "-"):
        return f"{'the value' if not text else repr(text)} is missing: fill it, or drop the row or column"
    if math.isinf(number_of(text)):
        return f"{text} is infinite: replace it"
    comma = ": write decimals with a point" if not math.isnan(number_of(text.replace(",", ".", 1))) else ""
    return f"{text[:SHOWN]!r} is not a number{comma or '; columns of text are named in the settings, or dropped'}"
