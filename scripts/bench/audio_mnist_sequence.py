"""Clips of spoken digits per second: a whole batch at once, and clip by clip as in an ordinary Dataset."""

from __future__ import annotations

import numpy as np
import torch
import torchaudio
from timing import report, seconds
from torch.utils.data import DataLoader, Dataset

from sparseid.config.compose import compose
from sparseid.data.audio_mnist_sequence.datamodule import AudioMNISTSequenceData
from sparseid.data.audio_mnist_sequence.times import BANDS, HOP, RATE, WINDOW
from sparseid.printing import protect_output
from sparseid.training.build import run_numbers

BATCH = 32


class ClipByClip(Dataset[torch.Tensor]):
    """The same clips one at a time: starts drawn until no recordings overlap, a spectrogram for each clip."""

    def __init__(self, data: AudioMNISTSequenceData) -> None:
        self.law, self.speakers = data.distribution, data.speakers["train_speakers"]
        self.power = torchaudio.transforms.MelSpectrogram(RATE, WINDOW, hop_length=HOP, n_mels=BANDS)
        self.decibels = torchaudio.transforms.AmplitudeToDB(top_db=80.0)

    def __len__(self) -> int:
        return BATCH

    def __getitem__(self, index: int) -> torch.Tensor:
        rng, recordings, samples = np.random.default_rng(), self.law.recordings, self.law.samples
        while True:
            said = rng.integers(0, self.law.classes, rng.integers(self.law.min_digits, self.law.max_digits + 1))
            who = rng.choice(self.speakers, len(said))
            chosen = recordings.first[who, said] + rng.integers(0, recordings.counts[who, said])
            lengths = recordings.lengths[chosen].astype(int)
            if lengths.sum() <= samples * 0.9:
                break
        starts = np.sort(rng.integers(0, samples, len(said)))
        while (np.append(starts[1:], samples) < starts + lengths).any():
            starts = np.sort(rng.integers(0, samples, len(said)))
        sound = rng.standard_normal(samples).clip(-1, 1).astype(np.float32) * self.law.noise_std
        for start, recording in zip(starts, chosen, strict=True):
            spoken = recordings.sound(recording)
            sound[start : start + len(spoken)] += spoken
        decibels: torch.Tensor = self.decibels(self.power(torch.from_numpy(sound)))
        return decibels


def main() -> None:
    """Measure batches of 32 clips of 15 s of the project's sample of recordings."""
    cfg = compose(["experiment=audiomnist", "scale=paper", "data.source=fsdd"])
    data = AudioMNISTSequenceData.from_settings(cfg.data, run_numbers(cfg))
    rng, loader = np.random.default_rng(0), DataLoader(ClipByClip(data), BATCH)
    took = seconds({"ours": lambda: data.draw(BATCH, rng), "clip by clip": lambda: next(iter(loader))})
    rates = {name: BATCH / of_batch for name, of_batch in took.items()}
    lines = ["Spoken digits, clips of 15 s with their spectrograms, per second of one process"]
    lines += [f"  {name:14s} {rate:8,.0f}" for name, rate in rates.items()]
    lines.append(f"  ratio          {rates['ours'] / rates['clip by clip']:8.1f}")
    report("audio_mnist_sequence", lines, rates)


if __name__ == "__main__":
    protect_output()
    main()
