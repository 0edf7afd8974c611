"""Digest of what a figure is drawn from."""

from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting.collect import Collection
from sparseid.reporting.figure_source import figure_source


def test_variants_of_the_preset_count_and_where_a_row_was_read_does_not(sparling_rows):
    rows = newest(rows_frame(sparling_rows(0, densities=2)))

    def source(**columns):
        own = rows.assign(**columns)
        return figure_source(ARTEFACTS["sparling/fig4"], own, Collection(own, [], []), "small")

    one, two = (source(variants=[(name,)] * len(rows)) for name in ("base", "S=1"))
    assert len({source(), one, two}) == 3
    assert source(source="recorded") == source(source="outputs") == source(device="cuda")
    assert source(recipe="other") != source()
