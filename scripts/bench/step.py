"""Breakdown of the time of a Sparling training step: generator, networks, backward, optimiser, validation, rest."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from timing import report

from sparseid.config.compose import compose
from sparseid.data.digit_circle.datamodule import DigitCircleData
from sparseid.methods.sparling.losses import sequence_cross_entropy, teacher_forcing
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.sparse_layer import SparseLayer
from sparseid.printing import protect_output
from sparseid.training.build import run_numbers

PARTS = ("generator", "encoder", "sparse layer", "decoder and loss", "backward", "optimiser", "validation", "rest")


class Clock:
    """Seconds by part; waits for the device at the borders, so that work is counted in the part that requested it."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside the block under `name`."""
        start = self.now()
        yield
        self.seconds[name] += self.now() - start

    def now(self) -> float:
        """Seconds, after all work on the device has ended."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()


def measure(scale: str, density: float, steps: int, device: torch.device) -> tuple[dict[str, float], float]:
    """Return the fraction of each part and samples per second, with validation in the proportion of a check period."""
    cfg = compose(["experiment=digitcircle", f"scale={scale}"])
    data = DigitCircleData.from_settings(cfg.data, run_numbers(cfg))
    module = SparlingModule.from_settings(cfg.method, data, run_numbers(cfg)).to(device).train()
    assert isinstance(module.sparse, SparseLayer)
    module.sparse.density = density
    adam: Any = module.configure_optimizers()["optimizer"]
    clock = Clock(device)

    def step(index: int) -> None:
        with clock.part("generator"):
            batch = type(b := data.training_batch(index))(*[tensor.to(device) for tensor in b])
        inputs, targets = teacher_forcing(batch.labels, module.domain.vocabulary)
        with clock.part("encoder"):
            dense = module.encoder(batch.inputs)
        with clock.part("sparse layer"):
            maps = module.sparse(dense)
        with clock.part("decoder and loss"):
            loss = sequence_cross_entropy(module.decoder(maps, inputs), targets)
        with clock.part("backward"):
            adam.zero_grad()
            loss.backward()
        with clock.part("optimiser"):
            module.configure_gradient_clipping(adam)
            adam.step()

    def validate() -> None:
        module.eval()
        with torch.no_grad():
            module.on_validation_epoch_start()
            for number, batch in enumerate(data.val_dataloader()):
                module.validation_step(type(batch)(*[tensor.to(device) for tensor in batch]), number)
        module.validation_accuracy()
        module.train()

    for index in range(3):
        step(index)
    clock.seconds.clear()
    begin = clock.now()
    for index in range(steps):
        step(index)
    training = clock.now() - begin
    rest = training - sum(clock.seconds.values())
    with clock.part("validation"):
        validate()
    # one validation belongs to batches_per_check steps
    parts = {name: value / steps for name, value in clock.seconds.items() if name != "validation"}
    parts["validation"] = clock.seconds["validation"] / data.batches_per_check
    parts["rest"] = rest / steps
    total = sum(parts.values())
    return {name: parts[name] / total for name in PARTS}, cfg.trainer.batch_size / total


def main() -> None:
    """Measure the scales that fit this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scales", nargs="+", default=["small"], help="smoke, small, paper (paper wants a GPU)")
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    lines, values = ["Where a training step's time goes"], {}
    for scale in arguments.scales:
        schedule = compose(["experiment=digitcircle", f"scale={scale}"]).method.schedule
        for when, density in (("first", schedule.start_density), ("last", 1.2 * schedule.min_density)):
            shares, rate = measure(scale, density, arguments.steps, device)
            lines.append(f"  {scale}, {when} density {density:.3g}: {rate:,.0f} samples/s on {device.type}")
            lines += [f"    {name:18s}{100 * share:5.1f} %" for name, share in shares.items()]
            values[f"{scale}, {when} density"] = {"samples_per_s": rate, "shares": shares}
    report("step", lines, values)


if __name__ == "__main__":
    protect_output()
    main()
