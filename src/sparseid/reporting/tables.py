"""Comparison tables as Markdown, LaTeX (booktabs) and rows for HTML and the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sparseid.metrics.intervals import Summary
from sparseid.papers.aggregation import Convention
from sparseid.papers.labels import written, written_cell, written_unit
from sparseid.papers.targets import Target
from sparseid.reporting.aggregate import Cell
from sparseid.reporting.verdicts import MEANINGS

HEADER = ("cell", "metric", "paper", "ours", "n", "verdict")
OLDER_CODE = "\N{DAGGER}"
"""Marks numbers with rows of another commit than the table's newest."""
PARTLY = "n of m"
"""Written in the place of n where some of the m replicates that were run have no value."""
MARKS = {
    PARTLY: "of m that were run, n have a value; the others diverged, or the metric is not defined for them",
    OLDER_CODE: "contains rows made by another commit than the table's newest row",
}
LEGEND: dict[str, str] = {**MEANINGS, **MARKS}
"""What verdicts and marks of the tables mean."""
_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_TEX = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "~": r"\textasciitilde{}", "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
     "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$", "<": r"$<$", ">": r"$>$", OLDER_CODE: r"$^\dagger$",
     _PLUS_MINUS: r"$\pm$", "^": r"\^{}", "\N{EN DASH}": "--", "\N{GREEK SMALL LETTER BETA}": r"$\beta$"}
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of a comparison table, as text under :data:`HEADER`, and its verdict's word."""

    texts: tuple[str, str, str, str, str, str]
    word: str


def lines(cells: Sequence[Cell], convention: Convention) -> list[Line]:
    """Write cells as lines; a whole domain (first key) without any measurement becomes a single line.

    Keys that are the same in every cell go without saying, except the first. The numbers of ours are written in the
    paper's `convention`.
    """
    names = _telling_keys(cells)
    made = []
    for first, group in groupby(cells, key=lambda cell: cell.keys.get(names[0], "")):
        members = list(group)
        if len(members) > 1 and all(cell.verdict.word == "missing" for cell in members):
            made.append(Line((written(first), f"{len(members)} numbers", "", "", "0", "missing"), "missing"))
        else:
            made += [_line(cell, names, convention.symmetric) for cell in members]
    return made


def number(value: float, width: float = 0.0) -> str:
    """Write a number of ours with three significant digits, more where they hide its interval or lie close to 100.

    Parameters
    ----------
    value
        The number.
    width
        Of its interval, whose first digit is written; 0 where there is none: then what lies close to 100 (accuracies,
        sparsities) has four decimals.

    Examples
    --------
    >>> number(1.4), number(14.1993), number(99.99498), number(0.0)
    ('1.40', '14.2', '99.9950', '0')
    >>> number(99.3594, width=0.3), number(99.99498, width=0.0004)
    ('99.4', '99.9950')
    """
    if not value or abs(value) >= 1000:
        return f"{value:.0f}"
    needed = min(-math.floor(math.log10(width)), 6) if width else 4 if 99 < value < 100 else 0
    usual = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{needed}f}" if needed > usual else f"{value:#.3g}".rstrip(".")


def printed(value: float) -> str:
    """Write a number of the paper with at most three significant digits, those close to 100 in full.

    Examples
    --------
    >>> printed(1.4795), printed(1.5), printed(99.26)
    ('1.48', '1.5', '99.26')
    """
    return f"{value:.6g}" if 99 < value < 1e6 else f"{value:.3g}"


def paper_text(target: Target | None) -> str:
    """Write the paper's number: relation, ``~`` where it was read off a plot, interval."""
    if target is None or target.value is None:
        return (target.words if target else "") or "\N{EN DASH}"
    sign = {"=": "", "<=": "\N{LESS-THAN OR EQUAL TO} ", ">=": "\N{GREATER-THAN OR EQUAL TO} "}
    text = sign.get(target.op, f"{target.op} ") + ("~" if target.uncertainty else "") + printed(target.value)
    if target.interval is None:
        return text
    low, high = target.interval
    if target.spread_kind == "sd":
        return f"{text} {_PLUS_MINUS} {printed((high - low) / 2)}"
    return f"{text} [{printed(low)}, {printed(high)}]"


def ours_text(ours: Summary | None, symmetric: bool = False) -> str:
    """Write our centre and its interval, as +- where it is `symmetric`; no interval for a single replicate."""
    if ours is None or math.isnan(ours.centre):
        return "\N{EN DASH}"
    if math.isnan(ours.low):
        return number(ours.centre)
    width = ours.high - ours.low
    if symmetric:
        return f"{number(ours.centre, width)} {_PLUS_MINUS} {number(width / 2)}"
    return f"{number(ours.centre, width)} [{number(ours.low, width)}, {number(ours.high, width)}]"


def markdown(table: Sequence[Line], caption: str) -> str:
    """Return a Markdown table under its caption, with the meaning of its verdicts below."""
    rows = [HEADER, ("---",) * len(HEADER), *(line.texts for line in table)]
    body = "\n".join("| " + " | ".join(text.replace("|", r"\|") for text in row) + " |" for row in rows)
    notes = "".join(f"* {word}: {meaning}\n" for word, meaning in legend(table).items())
    return f"**{caption}**\n\n{body}\n" + (f"\n{notes}" if notes else "")


def latex(table: Sequence[Line], caption: str) -> str:
    """Return a LaTeX table with booktabs rules, with the meaning of its verdicts below."""
    rows = [" & ".join(text.translate(_TEX) for text in line.texts) + r" \\" for line in table]
    notes = [f"{word}: {meaning}".translate(_TEX) for word, meaning in legend(table).items()]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            rf"\caption{{{caption.translate(_TEX)}}}",
            r"\begin{tabular}{llrrrl}",
            r"\toprule",
            " & ".join(HEADER) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par{{\footnotesize {note}}}" for note in notes),
            r"\end{table}",
            "",
        ]
    )


def legend(table: Sequence[Line]) -> dict[str, str]:
    """Return what the verdicts and marks that occur in a table mean, in the order of :data:`LEGEND`."""
    words = {line.word for line in table}
    return {word: meaning for word, meaning in MEANINGS.items() if word in words} | marks(table)


def marks(table: Sequence[Line]) -> dict[str, str]:
    """Return what the marks that occur in a table mean, in the order of :data:`MARKS`."""
    columns = [dict(zip(HEADER, line.texts, strict=True)) for line in table]
    used = {PARTLY for texts in columns if " of " in texts["n"]} | {
        OLDER_CODE for texts in columns if OLDER_CODE in texts["ours"]
    }
    return {mark: meaning for mark, meaning in MARKS.items() if mark in used}


def caption(title: str, scale: str, convention: Convention) -> str:
    """Return the caption of a comparison table: what it shows, at which scale, and how ours are summed up."""
    return f"{title} (scale={scale}; ours: {convention})"


def metric_text(metric: str, unit: str) -> str:
    """Return a metric's name with its unit."""
    unit = written_unit(unit)
    return written(metric) + (f", {unit}" if unit else "")


def _line(cell: Cell, names: Sequence[str], symmetric: bool) -> Line:
    n = cell.ours.n if cell.ours else 0
    texts = (
        written_cell({name: cell.keys[name] for name in names if name in cell.keys}),
        metric_text(cell.metric, cell.unit),
        paper_text(cell.target),
        ours_text(cell.ours, symmetric) + (OLDER_CODE if cell.older_commits else ""),
        f"{n} of {cell.run}" if n < cell.run else str(n),
        str(cell.verdict),
    )
    return Line(texts, cell.verdict.word)


def _telling_keys(cells: Sequence[Cell]) -> list[str]:
    """Return the keys that tell cells apart, led by the first one that any cell has."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.keys))
    return names[:1] + [name for name in names[1:] if len({cell.keys.get(name) for cell in cells}) > 1] or [""]
