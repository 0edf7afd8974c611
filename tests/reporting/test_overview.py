"""The start page's counts."""

from sparseid.reporting.overview import ArtefactLine, Overview, read_overview, write_overview


def line(scale, claims, **fields):
    return ArtefactLine("p/table1", "Table 1", "a", scale, 1, 2, claims, {}, **fields)


def test_claims_of_a_scale_count_once_whatever_the_number_of_readings():
    lines = [line("small", {"holds": 2}), line("small", {"holds": 1, "fails": 1}, reading=True)]
    overview = Overview("p", "Paper", {}, [*lines, line("small", {"fails": 3}), line("paper", {"holds": 9})])
    assert overview.claims("small") == {"holds": 2, "fails": 3}


def test_what_is_written_is_read_again(tmp_path):
    overview = Overview("p", "Paper", {"small": (1, 2)}, [line("small", {"holds": 2}, reading=True)], own=4)
    write_overview(overview, tmp_path)
    assert read_overview("p", tmp_path) is None  # without its page
    (tmp_path / overview.path).touch()
    read = read_overview("p", tmp_path)
    assert read.artefacts == overview.artefacts
    assert read.own == 4
