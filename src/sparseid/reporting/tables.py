"""Comparison tables as Markdown, LaTeX (booktabs) and rows for HTML and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from sparseid.metrics.intervals import Summary
from sparseid.papers.aggregation import Aggregation
from sparseid.papers.artefact import Artefact
from sparseid.papers.labels import entry_label, label, unit_label
from sparseid.papers.targets import Target
from sparseid.reporting.aggregate import Entry
from sparseid.reporting.verdicts import MEANINGS

HEADER = ("entry", "metric", "paper", "ours", "n", "verdict")
OLDER_CODE = "\N{DAGGER}"
"""Mark of numbers with rows of another commit than the table's newest."""
PARTLY = "n of m"
"""Form of n if some of the m replicates have no value."""
MARKS = {
    PARTLY: "of the m runs, n have a value; the others diverged or ended early, or the metric is undefined for them",
    OLDER_CODE: "contains rows of another commit than the table's newest row",
}
LEGEND: dict[str, str] = {**MEANINGS, **MARKS}
"""Verdict or mark -> explanation."""
_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_TEX = str.maketrans(
    {"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "~": r"\textasciitilde{}", "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
     "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$", "<": r"$<$", ">": r"$>$", OLDER_CODE: r"$^\dagger$",
     _PLUS_MINUS: r"$\pm$", "^": r"\^{}", "\N{EN DASH}": "--", "\N{GREEK SMALL LETTER BETA}": r"$\beta$"}
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line of a comparison table: texts under :data:`HEADER`, and the word of its verdict."""

    texts: tuple[str, str, str, str, str, str]
    word: str


def lines(entries: Sequence[Entry], artefact: Artefact) -> list[Line]:
    """Format entries of an artefact as lines; a whole domain (first key) without any measurement becomes a single line.

    Keys with the same value in every entry are omitted, except the first. Labels are those of the artefact's paper.
    """
    names = _distinguishing_keys(entries)
    found = []
    for first, group in groupby(entries, key=lambda entry: entry.keys.get(names[0], "")):
        members = list(group)
        if len(members) > 1 and all(entry.verdict.word == "missing" for entry in members):
            found.append(
                Line((label(first, artefact.paper), f"{len(members)} numbers", "", "", "0", "missing"), "missing")
            )
        else:
            found += [_line(entry, names, artefact) for entry in members]
    return found


def number(value: float, width: float = 0.0) -> str:
    """Format our number with three significant digits, more if they hide its interval or if it is close to 100.

    Parameters
    ----------
    value
        The number.
    width
        Width of its interval, whose first digit is shown; 0 without one: numbers close to 100 (accuracies, sparsities)
        then have four decimals.

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
    """Format a number of the paper with at most three significant digits, those close to 100 in full.

    Examples
    --------
    >>> printed(1.4795), printed(1.5), printed(99.26)
    ('1.48', '1.5', '99.26')
    """
    return f"{value:.6g}" if 99 < value < 1e6 else f"{value:.3g}"


def paper_text(target: Target | None) -> str:
    """Format the paper's number: relation, ``~`` if it was read off a plot, interval."""
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
    """Format our centre and its interval, as +- if it is `symmetric`; no interval for a single replicate."""
    if ours is None or math.isnan(ours.centre):
        return "\N{EN DASH}"
    if math.isnan(ours.low):
        return number(ours.centre)
    width = ours.high - ours.low
    if symmetric:
        return f"{number(ours.centre, width)} {_PLUS_MINUS} {number(width / 2)}"
    return f"{number(ours.centre, width)} [{number(ours.low, width)}, {number(ours.high, width)}]"


def markdown(table: Sequence[Line], caption: str) -> str:
    """Return a Markdown table with a caption above and explanations of its verdicts below."""
    notes = "".join(f"* {word}: {meaning}\n" for word, meaning in legend(table).items())
    return markdown_table(HEADER, [line.texts for line in table], caption) + (f"\n{notes}" if notes else "")


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]], caption: str) -> str:
    """Return texts under a header as a Markdown table with a caption above."""
    rows = [header, ("---",) * len(header), *lines]
    body = "\n".join("| " + " | ".join(text.replace("|", r"\|") for text in row) + " |" for row in rows)
    return f"**{caption}**\n\n{body}\n"


def latex(table: Sequence[Line], caption: str) -> str:
    """Return a LaTeX table with booktabs rules and explanations of its verdicts below."""
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
    """Return explanations of the verdicts and marks in a table, in the order of :data:`LEGEND`."""
    words = {line.word for line in table}
    return {word: meaning for word, meaning in MEANINGS.items() if word in words} | marks(table)


def marks(table: Sequence[Line]) -> dict[str, str]:
    """Return explanations of the marks in a table, in the order of :data:`MARKS`."""
    columns = [dict(zip(HEADER, line.texts, strict=True)) for line in table]
    used = {PARTLY for texts in columns if " of " in texts["n"]} | {
        OLDER_CODE for texts in columns if OLDER_CODE in texts["ours"]
    }
    return {mark: meaning for mark, meaning in MARKS.items() if mark in used}


def caption(title: str, scale: str, aggregation: Aggregation) -> str:
    """Return the caption of a comparison table: title, scale and aggregation of our replicates."""
    return f"{title} (scale={scale}; ours: {aggregation})"


def metric_text(metric: str, unit: str, paper: str) -> str:
    """Return the label of a paper's metric, with its unit."""
    unit = unit_label(unit, paper)
    return label(metric, paper) + (f", {unit}" if unit else "")


def _line(entry: Entry, names: Sequence[str], artefact: Artefact) -> Line:
    n = entry.ours.n if entry.ours else 0
    texts = (
        entry_label({name: entry.keys[name] for name in names if name in entry.keys}, artefact.paper),
        metric_text(entry.metric, entry.unit, artefact.paper),
        paper_text(entry.target),
        ours_text(entry.ours, artefact.aggregation.symmetric) + (OLDER_CODE if entry.older_commits else ""),
        f"{n} of {entry.run}" if n < entry.run else str(n),
        str(entry.verdict),
    )
    return Line(texts, entry.verdict.word)


def _distinguishing_keys(entries: Sequence[Entry]) -> list[str]:
    """Return the keys whose values differ between entries, preceded by the first key of any entry."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.keys))
    return names[:1] + [name for name in names[1:] if len({entry.keys.get(name) for entry in entries}) > 1] or [""]
