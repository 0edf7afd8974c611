"""An interrupted run ends like one never interrupted, bit for bit."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy

from sparseid.training.checkpoints import load
from sparseid.training.run import execute

CALLS = {"training_step": 60, "validation_step": 16, "on_validation_end": 8, "on_train_epoch_end": 9, "test_step": 5}
"""Calls of each hook in an undisturbed run."""


def moments():
    for hook, calls in CALLS.items():
        for call in (1, calls // 2, calls):
            yield hook, call


@pytest.mark.parametrize("save_every_s", [0.0, 60.0])
@pytest.mark.parametrize(("hook", "call"), list(moments()))
def test_killed_anywhere(tmp_path, undisturbed, hook, call, save_every_s):
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook=hook, kill_at=call, save_every_s=save_every_s))
    folder = execute(toy.toy_config(tmp_path, save_every_s=save_every_s))
    assert toy.results(folder) == toy.results(undisturbed)


def test_killed_again_and_again(tmp_path, undisturbed):
    for hook, call in [("training_step", 11), ("validation_step", 2), ("training_step", 3), ("on_validation_end", 2)]:
        with pytest.raises(toy.Killed):
            execute(toy.toy_config(tmp_path, hook=hook, kill_at=call, save_every_s=0.0))
    assert toy.results(execute(toy.toy_config(tmp_path))) == toy.results(undisturbed)


def test_resume_repeats_no_batch_that_is_in_the_checkpoint(tmp_path, monkeypatch):
    drawn = []
    sample = toy.ToyData.sample
    monkeypatch.setattr(toy.ToyData, "sample", lambda self, index: drawn.append(index) or sample(self, index))
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook="training_step", kill_at=11))
    assert drawn == list(range(11))
    drawn.clear()
    execute(toy.toy_config(tmp_path))
    assert drawn == list(range(7, 60))  # the last validation was after step 7


def test_a_finished_schedule_ends_the_training_and_is_not_continued(tmp_path):
    folder = execute(toy.toy_config(tmp_path / "a", cuts=3))
    assert load(folder / "checkpoints" / "last.ckpt")["global_step"] == 3 * toy.PERIOD
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path / "b", cuts=3, hook="test_step", kill_at=1))
    assert toy.results(execute(toy.toy_config(tmp_path / "b", cuts=3))) == toy.results(folder)


def test_milestones_after_the_checkpoint_are_removed(tmp_path):
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook="training_step", kill_at=40))
    milestones = tmp_path / "toy-seed0" / "checkpoints" / "milestones"
    (milestones / "cut99.ckpt").write_bytes((milestones / "cut1.ckpt").read_bytes())
    execute(toy.toy_config(tmp_path))
    assert sorted(path.stem for path in milestones.iterdir()) == ["cut1", "cut4", "cut7"]


def test_epoch_numbers_go_on(tmp_path, monkeypatch):
    seen = {}
    monkeypatch.setattr(
        toy.ToyModule, "on_train_batch_start", lambda self, *_: seen.setdefault(self.global_step, self.current_epoch)
    )
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook="training_step", kill_at=25, save_every_s=0.0))
    seen.clear()
    execute(toy.toy_config(tmp_path))
    assert seen == {step: step // toy.PERIOD for step in range(24, 60)}


def test_kill_9(tmp_path, undisturbed):
    """A process of its own, killed at random moments of its training, its validations and its checkpoints."""
    moment = random.Random(5)
    command = [sys.executable, str(Path(toy.__file__)), str(tmp_path), "step_s=0.03", "save_every_s=0.05"]
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        metrics = tmp_path / "toy-seed0" / "metrics.csv"
        written = metrics.stat().st_mtime_ns if metrics.exists() else 0
        while process.poll() is None and not (metrics.exists() and metrics.stat().st_mtime_ns > written):
            time.sleep(0.01)  # until training starts
        time.sleep(moment.uniform(0.1, 1.0))
        process.kill()
        assert process.wait() == -signal.SIGKILL, process.stdout.read().decode()
    subprocess.run(command, check=True, capture_output=True)
    assert toy.results(tmp_path / "toy-seed0") == toy.results(undisturbed)
