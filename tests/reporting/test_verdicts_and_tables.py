import math
from typing import get_args

import pytest

from sparseid.metrics.intervals import Summary, summarise
from sparseid.papers.aggregation import Aggregation
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, rows_frame
from sparseid.papers.targets import Target
from sparseid.reporting.aggregate import entries
from sparseid.reporting.tables import (
    LEGEND,
    MARKS,
    OLDER_CODE,
    PARTLY,
    Line,
    latex,
    lines,
    markdown,
    marks,
    number,
    ours_text,
    paper_text,
)
from sparseid.reporting.verdicts import MEANINGS, Word, judge


def target(value, **fields):
    return Target(id="t", artefact="a", keys={}, metric="m", value=value, unit="percent", **fields)


def ours(mean, low=math.nan, high=math.nan, n=3):
    return Summary(mean, low, high, mean, math.nan, mean, n)


@pytest.mark.parametrize(
    ("paper", "own", "scale", "word"),
    [
        (target(1.48), None, "paper", "missing"),
        (target(1.48), summarise([math.nan]), "paper", "missing"),
        (target(None), ours(1.0), "paper", "no printed number"),
        (None, ours(1.0), "small", "no printed number"),
        (target(1.48), ours(1.48), "small", "not comparable"),
        (target(1.48, interval=(0.07, 4.23)), ours(5.0, 4.1, 6.0), "paper", "agrees"),  # intervals overlap
        (target(1.48, interval=(0.07, 4.23)), ours(4.0, n=1), "paper", "agrees"),  # one seed within the spread
        (target(1.48, interval=(0.07, 4.23)), ours(5.0, 4.5, 6.0), "paper", "differs"),
        (target(1.48), ours(1.4849, n=1), "paper", "agrees"),  # what is printed is rounded
        (target(1.48), ours(1.49, n=1), "paper", "differs"),
        (target(5.0, uncertainty=1.5), ours(6.4, n=1), "paper", "agrees"),  # read off a plot
        (target(90.0, op=">"), ours(96.0), "paper", "agrees"),
        (target(90.0, op=">"), ours(80.0), "paper", "differs"),
        (target(0.5, op="<=", uncertainty=0.1), ours(0.55), "paper", "agrees"),
        (target(0.5, op="<="), ours(0.7), "paper", "differs"),
    ],
)
def test_verdicts(paper, own, scale, word):
    assert judge(paper, own, scale).word == word


def test_a_number_that_pools_some_groups_only_is_no_verdict_on_the_papers():
    assert judge(target(1.48), ours(4.0), "paper", complete=False).word == "incomplete"
    assert judge(target(1.48), ours(4.0), "small", complete=False).word == "not comparable"
    assert judge(target(1.48), None, "paper", complete=False).word == "missing"


def test_a_difference_has_a_size():
    assert str(judge(target(1.48), ours(4.0), "paper")) == "differs by +2.5"


def test_numbers_are_written_as_readers_expect():
    assert paper_text(target(0.5, op="<=", uncertainty=0.1)) == "≤ ~0.5"
    assert paper_text(target(1.4795, interval=(0.07, 4.23))) == "1.48 [0.07, 4.23]"
    assert paper_text(target(0.52, interval=(0.47, 0.57), spread_kind="sd")) == "0.52 ± 0.05"
    assert paper_text(target(None)) == paper_text(None) == "–"
    assert paper_text(target(None, words="neural, network")) == "neural, network"
    assert ours_text(ours(14.199, 12.8, 15.5)) == "14.2 [12.8, 15.5]"
    assert ours_text(ours(0.52, 0.47, 0.57), symmetric=True) == "0.520 ± 0.0500"
    assert ours_text(ours(2.0, n=1)) == "2.00"
    assert ours_text(ours(2.0, n=1), symmetric=True) == "2.00"
    assert number(100.0) == "100"


def test_tables_in_markdown_and_latex(sparling_rows):
    rows = newest(rows_frame([row for seed in range(2) for row in sparling_rows(seed)]))
    table = lines(entries(ARTEFACTS["sparling/fig4"], rows, "small"), ARTEFACTS["sparling/fig4"])
    assert len(table) == 44 + 2  # whole domains that are missing take one line
    assert table[0].texts[:2] == ("DigitCircle, 0 cuts above final", "FPE, %")
    assert table[-1].texts == ("AudioMNIST", "44 numbers", "", "", "0", "missing")
    assert "| DigitCircle, 3 cuts above final | CE, % | ~21.8 | 18.1 [18.0, 18.1] | 2 | not comparable |" in markdown(
        table, "x"
    )
    tex = latex(table, "50 % of_all ± 1")
    assert r"\caption{50 \% of\_all $\pm$ 1}" in tex
    assert r"DigitCircle, 3 cuts above final & CE, \% & \textasciitilde{}21.8 & 18.1 [18.0, 18.1] & 2" in tex
    assert tex.count(r"\\") == len(table) + 1
    assert tex.count(r"\par{\footnotesize ") == 2
    assert r"\par{\footnotesize missing: no finished run gives this number}" in tex


def test_replicates_without_a_value_are_counted_and_explained(sparling_rows):
    rows = newest(rows_frame([row for seed in range(3) for row in sparling_rows(seed)]))
    entry = ARTEFACTS["sparling/fig4"]
    whole = lines(entries(entry, rows, "small"), entry)
    assert marks(whole) == {}
    assert {line.texts[4] for line in whole} == {"0", "3"}
    rows.loc[(rows["seed"] > 0) & (rows["metric"] == "fpe"), "value"] = math.nan
    table = lines(entries(entry, rows, "small"), entry)
    assert {line.texts[4] for line in table if line.texts[1].startswith("FPE")} == {"1 of 3"}
    assert {line.texts[4] for line in table if line.texts[1].startswith("FNE")} == {"3"}
    assert marks(table) == {PARTLY: MARKS[PARTLY]}
    assert f"* {PARTLY}: {MARKS[PARTLY]}" in markdown(table, "x")


def test_every_verdict_is_explained():
    assert list(MEANINGS) == list(get_args(Word))
    text = markdown([Line(("a", "b", "1", f"2{OLDER_CODE}", "3", "agrees"), "agrees")], "x")
    assert text.endswith(f"\n\n* agrees: {MEANINGS['agrees']}\n* {OLDER_CODE}: {LEGEND[OLDER_CODE]}\n")


def test_a_table_of_nothing():
    assert lines([], Aggregation()) == []
