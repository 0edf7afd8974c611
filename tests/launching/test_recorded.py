"""Runs that are skipped because their results are recorded."""

import pytest

from sparseid.config.sweep import plan
from sparseid.launching import recorded


@pytest.fixture
def planned():
    return plan(["experiment=digitcircle", "scale=smoke", "method.training=retrained"])


def test_what_is_recorded_is_skipped(planned, monkeypatch):
    results = dict.fromkeys(result for trial in planned.trials for result in recorded.wanted(trial.run))
    monkeypatch.setattr(recorded, "results", lambda: results)
    assert recorded.without_recorded(planned).trials == ()


def test_a_run_that_another_starts_from_is_made_though_it_is_recorded(planned, monkeypatch):
    source, _ = planned.trials
    monkeypatch.setattr(recorded, "results", lambda: dict.fromkeys(recorded.wanted(source.run)))
    assert recorded.without_recorded(planned).trials == planned.trials


def test_all_runs_of_a_preset_with_recorded_results_are_skipped(monkeypatch):
    monkeypatch.delenv("SPARSEID_RECORDED")
    planned = plan(["experiment=ddl/table4", "scale=small"])
    assert len(planned.trials) > 1
    assert recorded.without_recorded(planned).trials == ()
