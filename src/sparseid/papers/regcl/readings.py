"""Our screen of readings of RegCL, and its confirmation: the closeness of each variant to all of table 1."""

from __future__ import annotations

import pandas as pd

from sparseid.papers.presets import VARIANTS
from sparseid.papers.regcl.closeness import closeness_rows
from sparseid.papers.rows import joined


def reading_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the artefact, computed from those of the preset's runs at one scale.

    They are those of :func:`~sparseid.papers.regcl.closeness.closeness_rows` for each variant with all entries, which
    is their key ``variant``. None of rows without column ``variants``: they are of other settings.
    """
    of_row = rows[VARIANTS].tolist() if VARIANTS in rows else []
    parts = [
        closeness_rows(rows[[variant in names for names in of_row]]).assign(key_variant=variant)
        for variant in dict.fromkeys(name for names in of_row for name in names)
    ]
    return joined(rows.iloc[:0], *parts)
