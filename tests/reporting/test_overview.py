"""The start page's counts and sentences."""

import pytest

from sparseid.reporting.overview import ArtefactLine, OpenClaim, Overview, read_overview, write_overview


def line(scale, claims, name="p/table1", verdicts=(), **fields):
    return ArtefactLine(name, "Table 1", "a", scale, 1, 2, claims, dict(verdicts), **fields)


def test_claims_of_a_scale_count_once_whatever_the_number_of_readings():
    lines = [line("small", {"holds": 2}), line("small", {"holds": 1, "fails": 1}, reading=True)]
    overview = Overview("p", "Paper", {}, [*lines, line("small", {"fails": 3}), line("paper", {"holds": 9})])
    assert overview.claims("small") == {"holds": 2, "fails": 3}


def test_open_claims_are_named_once_at_the_scale_with_the_most_runs():
    fails, undecided = OpenClaim("A.", "fails", "small-a"), OpenClaim("B.", "undecided", "small-b")
    again = OpenClaim("A.", "fails", "small-c")
    lines = [
        line("small", {"fails": 1, "undecided": 1}, open_claims=[fails, undecided]),
        line("small", {"fails": 1}, name="p/table1_ours", reading=True, open_claims=[again]),
        line("paper", {"fails": 1}, open_claims=[OpenClaim("A.", "fails", "paper-a")]),
    ]
    overview = Overview("p", "Paper", {"smoke": (9, 9), "small": (4, 5), "paper": (3, 70)}, lines)
    assert overview.open_claims("fails") == [fails]
    assert overview.open_claims("undecided") == [undecided]


@pytest.mark.parametrize(
    ("progress", "scale"),
    [({"smoke": (9, 9), "small": (1, 9)}, "small"), ({"smoke": (9, 9), "small": (0, 9)}, "smoke"),
     ({"small": (3, 9), "paper": (4, 99)}, "paper"), ({"small": (0, 9)}, ""), ({}, "")],
)  # fmt: skip
def test_smoke_is_described_only_if_nothing_else_was_run(progress, scale):
    assert Overview("p", "Paper", progress, []).scale == scale


def test_a_sentence_says_what_was_reproduced_and_what_was_not():
    lines = [
        line("small", {"holds": 2, "fails": 1, "unchecked": 0}, verdicts={"not comparable": 3, "missing": 1}),
        line("small", {"holds": 0, "unchecked": 2}, name="p/fig1", verdicts={"missing": 4}),
        line("small", {"fails": 3}, name="p/table1_ours", verdicts={"agrees": 1}, reading=True),
        line("", {"unchecked": 7}, name="p/fig2"),
    ]
    sentence = Overview("p", "Paper", {"small": (1, 2)}, lines).sentence
    assert sentence == (
        "At scale=small, 1 of 2 tables and figures is measured, 1 more is not built yet; of the paper's 5 claims, "
        "2 hold, 1 fails, none is undecided and 2 are not checked yet."
    )
    without = Overview("p", "Paper", {"small": (0, 2)}, lines[:1])
    assert without.sentence == "No run is finished yet: 1 table or figure is built."
    assert "claim" not in Overview("p", "Paper", {"small": (1, 2)}, [line("small", {})]).sentence


def test_lines_of_scales_without_a_run_are_apart():
    lines = [line(scale, {}) for scale in ("small", "paper", "")]
    overview = Overview("p", "Paper", {"small": (1, 2), "paper": (0, 9)}, lines)
    assert [of.scale for of in overview.lines(measured=True)] == ["small", ""]
    assert [of.scale for of in overview.lines(measured=False)] == overview.empty_scales == ["paper"]


def test_what_is_written_is_read_again(tmp_path):
    claim = OpenClaim("A.", "fails", "small-a")
    lines = [line("small", {"holds": 2}, reading=True, open_claims=[claim])]
    overview = Overview("p", "Paper", {"small": (1, 2)}, lines, own=4, url="https://arxiv.org/abs/1")
    write_overview(overview, tmp_path)
    assert read_overview("p", tmp_path) is None  # without its page
    (tmp_path / overview.path).touch()
    read = read_overview("p", tmp_path)
    assert read.artefacts == overview.artefacts
    assert (read.own, read.url) == (4, overview.url)
