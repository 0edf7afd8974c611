"""Runs that are left out because their rows are kept in git."""

import pytest

from sparseid.config.sweep import plan
from sparseid.launching import kept


@pytest.fixture
def planned():
    return plan(["experiment=digitcircle", "scale=smoke", "method.training=retrained"])


def test_what_is_measured_is_left_out(planned, monkeypatch):
    rows = dict.fromkeys(key for cell in planned.cells for key in kept.keys(cell.run))
    monkeypatch.setattr(kept, "measured", lambda: rows)
    assert kept.without_measured(planned).cells == ()


def test_a_run_that_another_starts_from_is_made_though_it_is_measured(planned, monkeypatch):
    source, _ = planned.cells
    monkeypatch.setattr(kept, "measured", lambda: dict.fromkeys(kept.keys(source.run)))
    assert kept.without_measured(planned).cells == planned.cells
