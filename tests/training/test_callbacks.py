import json
import math
import types

import pytest
import torch

from sparseid.training.callbacks import Progress, StepCurves, Timing
from sparseid.training.errors import RunDiverged


class Trainer:
    """The attributes of a trainer that the callbacks read."""

    is_global_zero, global_rank, world_size = True, 0, 1

    def __init__(self, step=0):
        self.global_step = step
        self.callback_metrics = {}


MODULE = types.SimpleNamespace(device=torch.device("cpu"), progress_note="density 3x")


def steps(curves, trainer, losses):
    for loss in losses:
        trainer.global_step += 1
        curves.on_train_batch_end(trainer, MODULE, {"loss": torch.tensor(loss)}, None, 0)


def test_curves_hold_the_mean_of_an_interval_and_what_was_logged(tmp_path):
    trainer, curves = Trainer(), StepCurves(tmp_path / "metrics.csv", 10, print)
    curves.on_train_start(trainer, MODULE)
    trainer.callback_metrics = {"rate": torch.tensor(0.5), "val/error": torch.tensor(2.0)}
    steps(curves, trainer, [1.0] * 25 + [3.0] * 25 + [7.0])
    curves.on_validation_end(trainer, MODULE)
    assert (tmp_path / "metrics.csv").read_text().splitlines() == [
        "step,samples,name,value",
        "50,500,loss,2.0",
        "50,500,rate,0.5",
        "51,510,val/error,2.0",
    ]


def test_curves_are_cut_back_on_resume(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("step,samples,name,value\n50,50,loss,1.0\n60,60,val,2.0\n100,100,loss,3.0\n6")
    StepCurves(path, 1, print).on_train_start(Trainer(step=60), MODULE)
    assert path.read_text() == "step,samples,name,value\n50,50,loss,1.0\n60,60,val,2.0\n"


@pytest.mark.parametrize(
    ("damage", "left"),
    [
        (b"50,50,lo\xff\xfes,1.0\n", "1"),
        (b"50,50,lo60,60,val,2.0\n7\xe9\n", "2"),
        (b"\n50,,loss,1.0\nx,50,loss,1.0\n50,50,loss,\n", "4"),
    ],
)
def test_damaged_lines_of_curves_are_left_out_and_counted(tmp_path, damage, left):
    path, said = tmp_path / "metrics.csv", []
    whole = b"step,samples,name,value\n40,40,loss,1.0\n"
    path.write_bytes(whole + damage + b"60,60,val,2.0\n60,60,va")
    StepCurves(path, 1, said.append).on_train_start(Trainer(step=60), MODULE)
    assert path.read_bytes() == whole + b"60,60,val,2.0\n"
    assert said == [f"damaged lines of metrics.csv are left out: {left}"]


def test_interval_survives_a_checkpoint(tmp_path):
    first, second = (StepCurves(tmp_path / name, 1, print) for name in ("a.csv", "b.csv"))
    trainer = Trainer()
    first.on_train_start(trainer, MODULE)
    steps(first, trainer, [4.0] * 20)
    second.load_state_dict(first.state_dict())
    second.on_train_start(trainer, MODULE)
    steps(second, trainer, [1.0] * 30)
    assert "50,50,loss,2.2\n" in (tmp_path / "b.csv").read_text()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_every_step_is_looked_at_on_the_cpu(tmp_path, bad):
    trainer, curves = Trainer(step=7), StepCurves(tmp_path / "metrics.csv", 1, print)
    curves.on_train_start(trainer, MODULE)
    with pytest.raises(RunDiverged, match=r"^the loss is not finite at step 10$"):
        steps(curves, trainer, [1.0, 1.0, bad])


def test_a_look_over_several_steps_names_them(tmp_path):
    curves = StepCurves(tmp_path / "metrics.csv", 1, print)
    curves._sum, curves._checked, curves._step = torch.tensor(math.nan), 50, 73  # as on a GPU before a checkpoint
    with pytest.raises(RunDiverged, match="at a step from 51 to 73"):
        curves.check(Trainer())


def test_progress_line(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("sparseid.training.callbacks.time.monotonic", lambda: now[0])
    lines = []
    trainer = Trainer(step=10)
    progress = Progress(lines.append, types.SimpleNamespace(loss=0.125), max_samples=100_000, batch_size=100)
    progress.on_train_start(trainer, MODULE)
    trainer.global_step, now[0] = 100, 129.0
    progress.on_train_batch_end(trainer, MODULE)
    assert lines == []
    trainer.global_step, now[0] = 310, 130.0
    progress.on_train_batch_end(trainer, MODULE)
    assert lines == ["31.0 % of at most 100,000 samples, 1,000 samples/s, loss 0.125, at most 0:01:09 left, density 3x"]
    now[0] = 161.0
    progress.on_validation_batch_end(trainer, MODULE)
    assert "0 samples/s, loss 0.125, at most ? left" in lines[1]
    progress.curves.loss, trainer.global_step, now[0] = math.nan, 311, 201.0  # before the first point of the curve
    progress.on_train_batch_end(trainer, MODULE)
    assert "samples, 2.5 samples/s, at most 7:39:20 left" in lines[2]


def test_timing_adds_up_over_starts(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("sparseid.training.callbacks.time.monotonic", lambda: now[0])
    trainer = Trainer()
    trainer.strategy = types.SimpleNamespace(root_device=torch.device("cpu"))

    def start(state, begin):
        now[0] = begin
        timing = Timing(tmp_path / "timing.json", batch_size=8)
        timing.load_state_dict(state)
        now[0] += 3  # the data are made
        timing.on_train_start(trainer, MODULE)
        for _ in range(3):
            now[0] += 2
            trainer.global_step += 1
            timing.on_train_batch_end(trainer, MODULE)
        now[0] += 1.5
        timing.on_validation_end(trainer, MODULE)
        return timing

    saved = start(Timing(tmp_path / "timing.json", 8).state_dict(), 0.0).state_dict()
    timing = start(saved, 5000.0)
    timing.on_train_end(trainer, MODULE)
    for _ in range(2):
        timing.on_test_start(trainer, MODULE)
        now[0] += 0.25
        timing.on_test_end(trainer, MODULE)
    assert json.loads((tmp_path / "timing.json").read_text()) == {
        "device": "cpu",
        "threads": torch.get_num_threads(),
        "world_size": 1,
        "prepare_s": 3.0,  # of the last start
        "train_s": 15.0,
        "test_s": 0.5,
        "samples": 48,
        "steps": 6,
    }


def test_timing_of_a_full_disk_hides_no_error(tmp_path):
    trainer = Trainer()
    trainer.strategy = types.SimpleNamespace(root_device=torch.device("cpu"))
    timing = Timing(tmp_path / "missing" / "timing.json", 1)
    timing.on_exception(trainer, MODULE, ValueError())
    with pytest.raises(OSError, match="missing"):
        timing.on_train_end(trainer, MODULE)
