"""A tiny method and data set with everything that makes a resume hard, and a command line to run and kill them.

``python toy.py FOLDER key=value ...`` runs one toy run as the launcher would.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytorch_lightning as pl
import torch
from torch import nn

from sparseid.config.schema import LoggerSettings, RunConfig
from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream
from sparseid.measurements import Evaluation, Measurement
from sparseid.methods.module import ExperimentModule
from sparseid.settings import DataSettings, MethodSettings, TrainerSettings
from sparseid.streams import FIXED, Streams
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows

BATCH, PERIOD, MAX_STEPS = 8, 7, 60


class Killed(BaseException):
    """Stands for kill -9 where a process of its own would be slow."""


@dataclass
class ToyDataSettings(DataSettings):
    name: str = "toy"

    loads = f"{__name__}:ToyData"


@dataclass
class ToySettings(MethodSettings):
    name: str = "toy"
    cuts: int = 100  # validations after which the schedule ends
    diverge_at: int = -1
    step_s: float = 0.0
    kill_at: int = -1  # number of the hook call at which to raise Killed
    hook: str = ""  # only calls of this hook count
    rank: int = -1  # the process in which kill_at and diverge_at happen; -1 is all
    plain: int = 0  # neither batch norm nor dropout nor noise: nothing that differs between processes

    loads = f"{__name__}:ToyModule"


def toy_config(outputs: Path, **changes) -> RunConfig:
    toy = ToySettings(**{k: changes.pop(k) for k in list(changes) if k in ToySettings.__dataclass_fields__})
    devices = changes.pop("devices", 1)
    trainer = TrainerSettings(
        max_samples=changes.pop("max_steps", MAX_STEPS) * BATCH,
        batch_size=BATCH,
        accelerator="cpu",
        devices=devices,
        strategy="ddp" if devices > 1 else "auto",
        threads=1,
        save_every_s=changes.pop("save_every_s", 60.0),
    )
    return RunConfig(
        experiment="toy",
        scale="smoke",
        paper="toys",
        outputs=str(outputs),
        method=toy,
        data=ToyDataSettings(),
        trainer=trainer,
        logger=LoggerSettings(),
        **changes,
    )


class ToyData(DataModule):
    def __init__(self, seed: int):
        super().__init__()
        self.streams = Streams(seed)
        self.drawn: list[int] = []

    @classmethod
    def from_settings(cls, settings, run):
        return cls(run.seed)

    def sample(self, index: int):
        self.drawn.append(index)
        x = self.streams.numpy("batches", index).normal(size=(BATCH, 4)).astype(np.float32)
        x = x[self.trainer.global_rank :: self.trainer.world_size]  # this process's share
        return torch.from_numpy(x), torch.from_numpy(x.sum(1, keepdims=True))

    def fixed(self, name: str, items: int):
        x = torch.from_numpy(FIXED.numpy(name).normal(size=(items, 4)).astype(np.float32))
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)

    def train_dataloader(self):
        return BatchStream(self.sample, lambda: self.trainer.global_step, PERIOD)

    def val_dataloader(self):
        return self.fixed("validation", 16)

    def test_dataloader(self):
        return self.fixed("test", self.test_items)


class Schedule(pl.Callback):
    """Changes the module at every validation end, as an adaptive density does."""

    def __init__(self):
        self.cuts = 0

    def on_validation_epoch_end(self, trainer, pl_module):
        self.cuts += 1
        pl_module.scale.mul_(0.9)
        pl_module.milestone = f"cut{self.cuts}" if self.cuts % 3 == 1 else None
        if self.cuts >= pl_module.toy.cuts:
            trainer.should_stop = True

    def state_dict(self):
        return {"cuts": self.cuts}

    def load_state_dict(self, state_dict):
        self.cuts = state_dict["cuts"]


class ToyModule(ExperimentModule):
    def __init__(self, toy: ToySettings):
        super().__init__()
        self.toy = toy
        between = [nn.ReLU()] if toy.plain else [nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3)]
        self.net = nn.Sequential(nn.Linear(4, 16), *between, nn.Linear(16, 1))
        self.register_buffer("scale", torch.ones(()))
        self.register_buffer("after_batch", torch.zeros(()))
        self.schedule = Schedule()
        self.calls = 0
        self.progress_note = "toy note"

    @classmethod
    def from_settings(cls, settings, data, run):
        return cls(settings)

    def called(self, hook: str) -> None:
        self.calls += hook == self.toy.hook and self.meant()
        if self.calls == self.toy.kill_at:
            raise Killed

    def meant(self) -> bool:
        return self.toy.rank in (-1, self.global_rank)

    def configure_callbacks(self):
        return [self.schedule]

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=20)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": warmup, "interval": "step"}}

    def on_train_start(self):
        torch.rand(3)  # draws that an undisturbed run makes once and a resumed one again

    def training_step(self, batch, batch_idx):
        self.called("training_step")
        time.sleep(self.toy.step_s)
        x, y = batch
        noise = (random.gauss(0, 1) + float(np.random.normal()) + torch.randn(())) * 1e-3  # noqa: NPY002
        loss = nn.functional.mse_loss(self.net(x) * self.scale, y if self.toy.plain else y + noise)
        if self.global_step == self.toy.diverge_at and self.meant():
            loss = loss * float("nan")
        self.log("scale", self.scale)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        loss = self.trainer.strategy.reduce(outputs["loss"].detach(), reduce_op="mean")
        self.after_batch += loss  # state changed by the last hook of a step

    def on_train_epoch_end(self):
        self.called("on_train_epoch_end")

    def validation_step(self, batch, batch_idx):
        self.called("validation_step")
        time.sleep(self.toy.step_s)
        x, y = batch
        self.log("val/error", nn.functional.mse_loss(self.net(x), y))

    def on_validation_epoch_end(self):
        draw = self.trainer.strategy.broadcast(torch.rand(()))  # a global draw; one decision for all processes
        self.scale.add_(draw * 0.01)

    def evaluations(self, folder: Path):
        last = Evaluation({"cut": "last"}, folder / "checkpoints" / "last.ckpt", 12)
        kept = sorted((folder / "checkpoints" / "milestones").glob("*.ckpt"))
        return [Evaluation({"cut": path.stem}, path, 6) for path in kept] + [last]

    def on_test_start(self):
        super().on_test_start()
        self.errors, self.items = [], 0

    def on_validation_end(self):
        self.called("on_validation_end")

    def test_step(self, batch, batch_idx):
        self.called("test_step")
        x, y = batch
        self.errors.append(float(nn.functional.mse_loss(self.net(x) * self.scale, y)))
        self.items += len(x)

    def on_test_end(self):
        mean = np.float32(np.mean(self.errors)) + np.float32(np.random.normal())  # noqa: NPY002
        self.measurements.append(Measurement("error", float(mean), "%", self.items, {"split": np.int64(1)}))
        self.measurements.append(Measurement("sum", float(self.after_batch), n=self.items))
        self.measurements.append(Measurement("undefined", float("nan")))
        self.arrays["errors"] = np.array(self.errors)


def start(outputs: Path, *arguments: str, **popen) -> subprocess.Popen:
    """Start a toy run in a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, str(outputs), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell lets what it starts in the background ignore Ctrl-C, and that would be inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **popen,
    )


def wait_until(condition, process: subprocess.Popen) -> None:
    """Wait while the process lives; the test's own time limit ends what never comes true."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def directory(cfg) -> Path:
    """A run's folder whatever the toy's switches: a run is resumed without the switch that interrupted it."""
    return Path(cfg.outputs) / f"toy-seed{cfg.seed}"


def identity(cfg) -> str:
    """A run's hash whatever the toy's switches, for the same reason."""
    return f"hash{cfg.seed}"


def results(folder: Path) -> tuple:
    """Everything of a run that must not depend on interruptions; the recipe names what interrupts the toy."""
    passing = {"written": "", "commit": "", "dirty": False, "recipe": ""}
    rows = [dataclasses.replace(row, **passing) for row in read_rows(folder / "result.json")]
    weights = load(folder / "checkpoints" / "last.ckpt")["state_dict"]
    return (
        rows,
        (folder / "metrics.csv").read_text(),
        {name: tensor.tolist() for name, tensor in weights.items()},
        sorted(path.name for path in (folder / "checkpoints").rglob("*.ckpt")),
    )


def main() -> None:
    from sparseid.training import build, recipe, run
    from sparseid.training.errors import RunError

    run.run_directory = recipe.run_directory = directory
    build.run_hash = recipe.run_hash = identity
    changes = dict(argument.split("=") for argument in sys.argv[2:])
    kinds = {"step_s": float, "save_every_s": float, "hook": str}
    typed = {k: kinds.get(k, int)(v) for k, v in changes.items()}
    if "force" in typed:
        typed["force"] = bool(typed["force"])
    try:
        print(run.execute(toy_config(Path(sys.argv[1]), **typed)))
    except RunError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt as error:
        print(error, file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    os.environ["PYTHONHASHSEED"] = "0"
    main()
