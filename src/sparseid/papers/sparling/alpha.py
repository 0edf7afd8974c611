"""Alpha of the simplified DigitCircle (appendix B.3): its rows and claims are computed without any run."""

from __future__ import annotations

from typing import get_args

import pandas as pd

from sparseid.measurements import Key
from sparseid.metrics.motif_necessity import COUNTS, Split, alpha, flow, placement_probability, placements
from sparseid.papers.claims import Finding, claim
from sparseid.papers.rows import COLUMNS, with_keys

PUBLISHED = 0.465
"""Printed alpha, of flows divided by 5."""


def alpha_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the computed rows; the argument is ignored.

    Per number k of motifs ``config_count`` and ``config_probability``; per ``split`` of a placement's probability
    (constant5 as published, k as it should be) the ``flow`` from each k, and ``alpha``, their sum.
    """
    values: list[tuple[dict[str, Key], str, str, float]] = []
    for count in COUNTS:
        values.append(({"k": count}, "config_count", "count", len(placements(count))))
        values.append(({"k": count}, "config_probability", "probability", placement_probability(count)))
    for split in get_args(Split):
        for count in COUNTS[1:]:
            values.append(({"k": count, "split": split}, "flow", "probability", flow(count, split)))
        values.append(({"split": split}, "alpha", "probability", alpha(split)))
    same = {"paper": "sparling", "run": "computed", "recipe": "", "seed": 0, "n": 1, "commit": "", "dirty": False}
    same |= {"device": "", "written": "1970-01-01T00:00:00+00:00", "scale": "paper"}
    lines = [same | {"metric": name, "unit": unit, "value": value} for _, name, unit, value in values]
    return with_keys(pd.DataFrame(lines, columns=COLUMNS), [keys for keys, *_ in values])


@claim("sparling-alpha-alpha_value")
def value_as_printed(rows: pd.DataFrame) -> Finding:
    value = alpha("constant5")
    text = f"alpha {value:.4f} with the published split, {alpha('k'):.4f} with each placement split by its own k"
    return Finding("holds" if abs(value - PUBLISHED) < 0.001 else "fails", text, value)


@claim("sparling-alpha-alpha_high")
def above_quarter(rows: pd.DataFrame) -> Finding:
    value = alpha("constant5")
    return Finding("holds" if value > 0.25 else "fails", f"alpha {value:.4f}", value)
