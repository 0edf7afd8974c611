"""``kill -9`` at ten moments of a smoke run, each followed by the same command: the rows of an undisturbed run."""

import random
import shutil
import signal
import time

import pytest


def state(smoke):
    path = smoke.folder / "status.json"
    return path.read_text() if path.exists() else ""


def fresh(path, since):
    """Return whether a file was written by the current process."""
    return path.exists() and path.stat().st_mtime >= since


MOMENTS = [
    ("composing the configuration", lambda smoke, since: True, 0.4),
    ("importing torch", lambda smoke, since: "running" in state(smoke), 2.0),
    ("first steps", lambda smoke, since: fresh(smoke.folder / "environment.json", since), 0.3),
    ("first validation", lambda smoke, since: any(smoke.folder.glob("checkpoints/milestones/*")), 0.0),
    ("writing a checkpoint", lambda smoke, since: any(smoke.folder.glob("checkpoints/.*.tmp")), 0.0),
    ("just written", lambda smoke, since: fresh(smoke.folder / "checkpoints/last.ckpt", since), 0.0),
    ("second density", lambda smoke, since: (smoke.folder / "checkpoints/milestones/density-01.ckpt").exists(), 0.3),
    ("testing", lambda smoke, since: (smoke.folder / "checkpoints/milestones/density-02.ckpt").exists(), 0.2),
    ("writing rows", lambda smoke, since: fresh(smoke.folder / "arrays.npz", since), 0.0),
    ("reporting", lambda smoke, since: '"done"' in state(smoke), 1.5),
]
"""Moments of the kill: a condition, then a random delay of up to some seconds."""

LAST = MOMENTS[-1][0]
"""The one moment after the run is done."""


def kill(smoke, reached, delay):
    """Start the command and kill it `delay` seconds after `reached`; return whether it was killed while running."""
    since = time.time()
    process = smoke.start()
    while process.poll() is None and not reached(smoke, since):
        time.sleep(0.001)
    time.sleep(delay)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_in_time(smoke, name, reached, delay, before):
    """Kill the command at a moment; where that came too late, put a folder back and kill sooner.

    `before` are the folders before each moment so far. If an earlier kill came so late that this moment never comes
    (training was over), the folder before that kill is put back.
    """
    shutil.copytree(smoke.outputs, before[-1])
    for attempt, folder in enumerate(reversed([*before, *before[-1:] * 3])):
        killed = kill(smoke, reached, delay / 2**attempt)
        if killed and (name == LAST or '"done"' not in state(smoke)):
            return
        shutil.rmtree(smoke.outputs)
        shutil.copytree(folder, smoke.outputs)
    pytest.fail(f"was over each time before it could be killed: {name}")


@pytest.mark.slow
def test_ten_kills_leave_the_rows_of_an_undisturbed_run(smoke, undisturbed, tmp_path):
    draw = random.Random(0)
    smoke.outputs.mkdir()
    before = []
    for name, reached, within in MOMENTS:
        before.append(tmp_path / f"before {name}")
        kill_in_time(smoke, name, reached, draw.uniform(0, within), before)
    code, said = smoke.run()
    assert code == 0, said
    assert "is done" in said  # the last kill came after the rows ...
    assert "Report:" in said  # ... so that only the report was left to make
    assert smoke.numbers() == undisturbed.numbers()
    assert smoke.files() == undisturbed.files()
    code, said = smoke.run()
    assert code == 0
    assert said.startswith(f"{smoke.folder.name} is done: {smoke.folder} (force=true repeats it)\n")
    assert "updating the report" not in said  # its numbers are printed again, nothing is made again
