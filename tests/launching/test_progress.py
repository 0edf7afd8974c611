"""Progress lines of a sweep."""

from pathlib import Path

import pytest

from sparseid.launching import progress
from sparseid.launching.one_run import FAILED, Outcome


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_counts_and_the_time_left(clock, capsys):
    sweep = progress.SweepProgress(["a", "b", "c", "d", "e"], at_once=2)
    assert sweep.line() == "0 of 5 done, 0 running, 5 waiting"
    sweep.began("a")
    sweep.began("b")
    clock[0] = 100
    sweep.ended(Outcome("a", Path("a")))
    sweep.began("c")
    clock[0] = 120  # b has taken longer than the mean, c is 20 s old: (2 * 100 + 0 + 80) / 2
    assert sweep.line() == "1 of 5 done, 2 running, 2 waiting, about 0:02:20 left"
    sweep.ended(Outcome("b", Path("b"), FAILED, "no luck"))
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["a done", "1 of 5 done, 1 running, 3 waiting, about 0:02:30 left"]
    assert said[2:4] == ["b FAILED: no luck", "1 of 5 done, 1 failed, 1 running, 2 waiting, about 0:02:35 left"]


def test_silence_is_broken_every_half_minute(clock, capsys):
    sweep = progress.SweepProgress(["a"], at_once=1)
    sweep.began("a")
    clock[0] = 29
    sweep.tick()
    assert capsys.readouterr().out == ""
    clock[0] = 31
    sweep.tick()
    sweep.tick()
    assert capsys.readouterr().out == "0 of 1 done, 1 running, 0 waiting\n"


def test_a_trial_waited_for_is_named_once(clock, capsys):
    sweep = progress.SweepProgress(["a"], at_once=1)
    for _ in range(3):
        sweep.began("a")
        sweep.waits("a", "made by process 7")
    assert capsys.readouterr().out == "a waits: made by process 7\n"
    assert sweep.line() == "0 of 1 done, 0 running, 1 waiting"
