"""What channels, kinds and tokens of a run stand for, as pictures write and colour them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.papers.drawing import channel_colour

WRITTEN_TOKENS = {
    "PAREN(": "(",
    "PAREN)": ")",
    "FRAC(": "{",
    "FRACMID": "}/{",
    "FRAC)": "}",
    "SUB(": "_{",
    "SUB)": "}",
    "SUP(": "^{",
    "SUP)": "}",
}
"""Tokens of formulas that are written as in TeX, but for fractions: ``{x}/{y}``."""
RIGHT, WRONG = "#15803d", "#b91c1c"
"""Colours of what was decoded."""


class Meanings(NamedTuple):
    """What channels, kinds and tokens of a run stand for.

    Attributes
    ----------
    channel_kinds : (C,) int64
        Kind of each channel; -1 for none.
    kind_names, token_names
        How kinds and the tokens of labels are written.
    """

    channel_kinds: NDArray[np.int64]
    kind_names: Sequence[str]
    token_names: Sequence[str]

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Meanings:
        """Read them from the arrays of a run; without names kinds are digits, as in earlier runs on DigitCircle."""
        from sparseid.metrics.motifs import channel_symbols

        digits = [str(kind) for kind in range(len(arrays["confusion"]) - 1)]
        return cls(
            arrays["channel_kinds"] if "channel_kinds" in arrays else channel_symbols(arrays["confusion"]),
            list(map(str, arrays.get("kind_names", digits))),
            list(map(str, arrays.get("token_names", digits))),
        )

    def kind_colour(self, kind: int) -> str | None:
        """Return the colour of the first channel that stands for a kind; None if none does."""
        channels = np.flatnonzero(self.channel_kinds == kind)
        return channel_colour(int(channels[0])) if len(channels) else None

    def colour(self, channel: int) -> str:
        """Return the colour of a channel: that of its kind, or its own where it stands for none."""
        kind = int(self.channel_kinds[channel])
        return (self.kind_colour(kind) if kind >= 0 else None) or channel_colour(channel)

    def kind_of(self, channel: int) -> str:
        """Return the name of the kind that a channel stands for, or ``none``."""
        kind = int(self.channel_kinds[channel])
        return self.kind_names[kind] if kind >= 0 else "none"

    def written(self, tokens: NDArray[np.integer]) -> str:
        """Return a label; a token that is none of a label's is written as a question mark."""
        names = [WRITTEN_TOKENS.get(name, name) for name in self.token_names]
        return "".join(names[token] if token < len(names) else "?" for token in tokens if token >= 0)


def same_tokens(first: NDArray[np.integer], second: NDArray[np.integer]) -> bool:
    """Return whether two labels, padded with -1, are equal; different tokens may be written alike."""
    return np.array_equal(first[first >= 0], second[second >= 0])
