"""All papers, those of extensions included, and their tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.extensions import load
from sparseid.papers.artefact import Artefact
from sparseid.papers.packages import paper_packages
from sparseid.papers.paper import Paper, RunTable
from sparseid.papers.rows import joined, select
from sparseid.spelling import nearest

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure


def _papers() -> dict[str, Paper]:
    found = [_paper(name, package) for name, package in paper_packages().items()]
    return {paper.name: paper for paper in sorted(found, key=lambda paper: (paper.position, paper.name))}


def _paper(name: str, package: str) -> Paper:
    paper = getattr(load(package), "PAPER", None)
    if not isinstance(paper, Paper) or paper.name != name:
        raise InputError(f"{package} defines no PAPER called {name!r}: write PAPER = Paper(name={name!r}, ...)")
    return paper


def _artefacts() -> dict[str, Artefact]:
    found: dict[str, Artefact] = {}
    for paper in PAPERS.values():
        for entry in paper.artefacts:
            if entry.id in found:
                raise InputError(f"two papers have an artefact {entry.id}: {found[entry.id].paper} and {paper.name}")
            found[entry.id] = entry
    return found


PAPERS: dict[str, Paper] = _papers()
"""Papers by name, in the order of the report."""

ARTEFACTS: dict[str, Artefact] = _artefacts()
"""Artefacts of all papers by id, in the order of the report."""


def artefact(name: str) -> Artefact:
    """Return the artefact called `name`.

    Raises
    ------
    InputError
        If it is unknown; the message suggests the nearest one.
    """
    if name in ARTEFACTS:
        return ARTEFACTS[name]
    hint = f" Did you mean {' or '.join(near)}?" if (near := nearest(name, ARTEFACTS)) else ""
    raise InputError(f"unknown artefact {name!r}.{hint} Known: {', '.join(ARTEFACTS)}.")


def prepared(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as the tables, claims and figures of their papers read them (``Paper.prepare``)."""
    of_papers = [(name, rows[rows["paper"] == name]) for name in rows["paper"].unique()]
    return joined(rows[:0], *(PAPERS[name].prepare(own) if name in PAPERS else own for name, own in of_papers))


def run_summary(paper: str, rows: pd.DataFrame) -> Artefact | None:
    """Return the table that summarises one run with these rows; None if its paper declares none for such a run."""
    if paper in PAPERS:
        for candidate in (*PAPERS[paper].artefacts, *PAPERS[paper].summaries):
            if candidate.summary_of_run and len(select(rows, candidate.selects)):
                return candidate
    return None


def run_tables(paper: str, rows: pd.DataFrame) -> list[RunTable]:
    """Return the further tables of one run with these rows."""
    tables = PAPERS[paper].run_tables if paper in PAPERS else None
    return tables(rows) if tables else []


def run_figures(paper: str, rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run by file name."""
    draw = PAPERS[paper].run_figures if paper in PAPERS else None
    return draw(rows, arrays, scale) if draw else {}
