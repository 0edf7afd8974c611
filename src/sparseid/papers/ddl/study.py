"""Our study of what the paper leaves open about the data: the MCC of each reading in experiment=ddl/study.

A reading is a variant of the preset without its mask and weight, which are the columns of tables 5 and 6.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from sparseid.papers.ddl.claims import ALPHA, mcc
from sparseid.papers.presets import VARIANTS
from sparseid.papers.rows import keys_of, values_of, with_keys
from sparseid.papers.targets import load_targets

ID = "ddl/study"
"""The artefact and the preset whose runs it reads."""

ANCHORS = (("diverse", 0.0), ("diverse", ALPHA), ("dense", ALPHA))
"""Structure and weight of the numbers that a reading should give together: of table 6, and the base of table 5."""


def reading(variant: str) -> str:
    """Return the name of a variant without its mask and weight; ``base`` if nothing is left.

    Examples
    --------
    >>> reading("injective=none, mask=dense, alpha=0.05")
    'injective=none'
    >>> reading("alpha=0.0,0.05")
    'base'
    """
    return ", ".join(word for word in variant.split(", ") if not word.startswith(("mask=", "alpha="))) or "base"


def printed(structure: str, alpha: float, dim: int) -> float:
    """Return the paper's MCC of an anchor."""
    table = load_targets("ddl").of("ddl/table5" if structure == "dense" else "ddl/table6")
    keys = {"method": "base"} if structure == "dense" else {"alpha": alpha}
    (target,) = (target for target in table if target.keys == {**keys, "dim": dim})
    assert target.value is not None
    return target.value


def distance(rows: pd.DataFrame) -> pd.Series:
    """Return the mean absolute difference of the anchors to the paper's numbers by seed, in the rows of a reading.

    The mean is over anchors and numbers of latents; a seed without one of these has no distance.
    """
    found = [
        (mcc(rows, structure=structure, alpha=alpha, dim=dim) - printed(structure, alpha, int(dim))).abs()
        for structure, alpha in ANCHORS
        for dim in values_of(rows, "dim")
    ]
    complete = bool(found) and all(map(len, found))
    return pd.concat(found, axis=1).dropna().mean(axis=1) if complete else pd.Series(dtype=float)


def study_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the artefact, computed from those of the preset's runs at one scale.

    Per reading: ``mcc`` by structure, weight and number of latents, and ``distance``. None of rows without column
    ``variants``: they are of other settings.
    """
    of_row = [set(map(reading, names)) for names in rows[VARIANTS]] if VARIANTS in rows else []
    found: list[dict[str, Any]] = []
    found_keys: list[dict[str, Any]] = []
    for name in dict.fromkeys(name for names in of_row for name in sorted(names)):
        own = rows[[name in names for names in of_row]]
        own = own[own["metric"] == "mcc"]
        lines = [{str(key): value for key, value in row.items()} for row in own.to_dict("records")]
        found += lines
        found_keys += [{"reading": name, **keys} for keys in keys_of(own, ("structure", "alpha", "dim"))]
        of_seed = {line["seed"]: line for line in lines}
        for seed, value in distance(own).items():
            found.append({**of_seed[seed], "metric": "distance", "value": value})
            found_keys.append({"reading": name})
    return with_keys(pd.DataFrame(found, columns=rows.columns), found_keys) if found else rows.iloc[:0]
