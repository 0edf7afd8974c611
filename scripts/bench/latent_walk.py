"""Drawing latent walks and positives by label, against a loop over steps and a search in every batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from timing import report, seconds
from torch import Tensor

from sparseid.config.search_path import CONFIGS
from sparseid.data.latent_walk.datamodule import LatentWalkData
from sparseid.data.latent_walk.generator import draw_latents
from sparseid.data.latent_walk.settings import LatentWalkSettings
from sparseid.data.neighbours import label_changes, positive_tables
from sparseid.printing import protect_output
from sparseid.streams import Streams

SAMPLES, LATENTS, BATCH = 20_000, 6, 512
STEPS = 2000
"""Number of steps of a run, over which the cost of the table of positives is spread."""


def settings() -> LatentWalkSettings:
    """Return the published generator with fewer samples."""
    stored = OmegaConf.load(CONFIGS / "data" / "latent_walk.yaml")
    assert isinstance(stored, DictConfig)
    del stored["defaults"]
    merged = OmegaConf.merge(OmegaConf.structured(LatentWalkSettings), stored, {"latents": LATENTS, "samples": SAMPLES})
    config = OmegaConf.to_object(merged)
    assert isinstance(config, LatentWalkSettings)
    return config


def step_by_step(config: LatentWalkSettings, seeds: Sequence[int]) -> np.ndarray:
    """Walk all members one time step after the other; steps that leave the box are redrawn until they do not."""
    rngs = [Streams(seed).numpy("data/steps") for seed in seeds]
    walks = np.zeros((len(seeds), config.samples, config.latents), dtype=np.float32)
    position = np.zeros((len(seeds), config.latents))
    for t in range(1, config.samples):
        trial = position + config.sigma * np.stack([rng.standard_normal(config.latents) for rng in rngs])
        while (outside := np.abs(trial) > config.box).any():
            again = np.stack([rng.standard_normal(config.latents) for rng in rngs])
            trial = np.where(outside, position + config.sigma * again, trial)
        walks[:, t] = position = trial
    return walks


def search(labels: Tensor, changes: Tensor, references: Tensor) -> Tensor:
    """Return a batch's positives (members, batch) by the distance of every query to every label."""
    drawn = torch.randint(labels.shape[1], references.shape)
    found = []
    for own, change, reference, row in zip(labels, changes, references, drawn, strict=True):
        query = own[reference] + change[row]
        squares = own.square().sum(dim=1) - 2 * query @ own.T  # up to a term that is the same for all labels
        found.append(squares.argmin(dim=1))
    return torch.stack(found)


def walks(config: LatentWalkSettings) -> tuple[list[str], dict[str, dict[str, float]]]:
    """Compare the walks of one member and of ten."""
    lines: list[str] = []
    values: dict[str, dict[str, float]] = {}
    for members in (1, 10):
        seeds = list(range(members))
        work: dict[str, Callable[[], object]] = {
            "windows": partial(draw_latents, config, seeds),
            "loop": partial(step_by_step, config, seeds),
        }
        times = seconds(work, repeats=3)
        rate, ratio = members * config.samples / times["windows"], times["loop"] / times["windows"]
        lines.append(f"  walks of {members:2d} members          {rate:11,.0f} samples/s   loop / windows {ratio:6.1f}")
        values[f"walks, {members} members"] = times | {"samples_per_s": rate, "loop_over_windows": ratio}
    return lines, values


def positives(config: LatentWalkSettings) -> tuple[list[str], dict[str, dict[str, float]]]:
    """Compare the positives of a batch, including its fraction of the table's cost."""
    data = LatentWalkData(config, [0], BATCH)
    data.positives = ("labels",)
    data.setup()
    labels = data.train.labels
    changes = torch.from_numpy(label_changes(labels[0].numpy(), config.sampling.time_delta))[None]
    references = torch.randint(labels.shape[1], (1, BATCH))
    sampling, numbers = config.sampling, iter(range(10**9))
    times = seconds(
        {
            "table": lambda: positive_tables(labels, [0], sampling.time_delta, sampling.label_positives),
            "batch": lambda: data.training_batch(next(numbers)),
            "search": lambda: search(labels, changes, references),
        },
        repeats=5,
    )
    ours = times["batch"] + times["table"] / STEPS
    ratio = times["search"] / ours
    lines = [
        f"  table of positives by label    {times['table']:.2f} s, once per member",
        f"  batch of {BATCH} and its fraction of the table, over {STEPS} steps    {1e3 * ours:.2f} ms   "
        f"search of its positives / ours {ratio:.1f}",
    ]
    return lines, {"positives": times | {"search_over_ours": ratio, "steps": float(STEPS)}}


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    config = settings()
    (lines, values), (more, measured) = walks(config), positives(config)
    title = f"Latent walks of {SAMPLES:,} steps and {LATENTS} latents, one CPU thread"
    report("latent_walk", [title, *lines, *more], values | measured)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
