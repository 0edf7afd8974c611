"""Which tables and figures there are; what each is made of stands in ``papers/<paper>/artefacts.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.papers.artefact import Artefact
from sparseid.papers.ddl import artefacts as ddl
from sparseid.papers.ddl import figures as ddl_figures
from sparseid.papers.regcl import artefacts as regcl
from sparseid.papers.regcl import figures as regcl_figures
from sparseid.papers.rows import select
from sparseid.papers.sparling import artefacts as sparling
from sparseid.papers.sparling import figures as sparling_figures
from sparseid.papers.sparse_vae import artefacts as sparse_vae
from sparseid.papers.sparse_vae import panels as sparse_vae_panels
from sparseid.papers.targets import load_targets
from sparseid.papers.tbr import artefacts as tbr
from sparseid.papers.tbr import figures as tbr_figures
from sparseid.spelling import nearest

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

PAPERS = ("sparling", "tbr", "regcl", "sparse_vae", "ddl")
"""The folders of ``sparseid.papers`` that are papers, in the order of the report."""

_BUILT = (sparling, tbr, regcl, sparse_vae, ddl)
ARTEFACTS: dict[str, Artefact] = {entry.id: entry for paper in _BUILT for entry in paper.ARTEFACTS}
"""Artefact id -> artefact, in the order of the report."""

_FIGURES = {
    "sparling": sparling_figures,
    "tbr": tbr_figures,
    "regcl": regcl_figures,
    "sparse_vae": sparse_vae_panels,
    "ddl": ddl_figures,
}
"""Paper -> the module whose ``run_figures`` draws the pictures of one of its runs."""


def not_built(paper: str) -> list[str]:
    """Return the artefacts of a paper that its targets name and :data:`ARTEFACTS` does not have yet."""
    return [name for name in load_targets(paper).titles if name not in ARTEFACTS]


def artefact(name: str) -> Artefact:
    """Return the artefact called `name`.

    Raises
    ------
    InputError
        If there is none; names the nearest one.
    """
    if name in ARTEFACTS:
        return ARTEFACTS[name]
    near = nearest(name, ARTEFACTS, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"There is no artefact {name!r}.{hint} Known: {', '.join(ARTEFACTS)}.")


def run_summary(paper: str, rows: pd.DataFrame) -> Artefact | None:
    """Return what sums up one run with these rows; None if no summary is declared for such a run."""
    for candidate in (*ARTEFACTS.values(), *regcl.SUMMARIES, *sparse_vae.SUMMARIES, *ddl.SUMMARIES):
        if candidate.summary_of_run and candidate.paper == paper and len(select(rows, candidate.selects)):
            return candidate
    return None


def run_figures(paper: str, rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the pictures of one run, by file name; those whose arrays the run did not save are left out."""
    return _FIGURES[paper].run_figures(rows, arrays, load_targets(paper).targets, scale) if paper in _FIGURES else {}
