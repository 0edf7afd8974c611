"""Check of the one claim of the paper."""

from __future__ import annotations

import pandas as pd

from sparseid.papers.claims import Finding, claim, significantly_above
from sparseid.papers.rows import per_seed

PENALTIES = (0.0, 0.1, 0.3)


@claim("toy-fig1-penalty_finds_support")
def penalty_finds_support(rows: pd.DataFrame) -> Finding:
    without, with_penalty = (per_seed(rows, "support_f1", penalty=penalty) for penalty in (0.0, 0.3))
    return significantly_above(with_penalty, without, "F1, penalty 0.3 against none")
