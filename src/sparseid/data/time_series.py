"""Common settings of time series for contrastive learning, and the sizes of their splits (no torch)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from sparseid.settings import DataSettings, SettingsError, TrainerSettings, setting

FEWEST_HELD_OUT = 2
"""Minimum number of samples for a fraction of explained variance."""


class Factors(NamedTuple):
    """Latents of each factor of z = [z1, z2]."""

    z1: slice
    z2: slice


def split_sizes(samples: int, held_out: float) -> tuple[int, int]:
    """Return the number of training samples, at the beginning, and of held-out samples, at the end.

    Examples
    --------
    >>> split_sizes(1005, 0.1)
    (904, 101)
    """
    last = math.ceil(samples * held_out)
    return samples - last, last


def validation_size(training: int, share: float) -> int:
    """Return the number of validation samples of an early stop, at the end of the samples that are not held out.

    Examples
    --------
    >>> validation_size(900, 0.1), validation_size(8, 0.1)
    (90, 2)
    """
    return max(FEWEST_HELD_OUT, math.ceil(training * share))


@dataclass
class SamplingSettings:
    """Sampling of batches from a time series."""

    time_offset: int = setting("Steps from a reference to its positive in time.", at_least=1)
    clamp_end: bool = setting(
        "Allow references so near the end that the last sample becomes their positive in time (authors' code).",
        default=False,
    )
    time_delta: int = setting(
        "Steps between two labels whose difference is added to a reference's label to find its positive by label.",
        at_least=1,
    )
    label_positives: int = setting(
        "Number of positives by label that are drawn in advance for each reference; a batch uses one.", at_least=1
    )


@dataclass
class ContrastiveSettings(DataSettings):
    """Settings of a time series whose end is held out."""

    held_out: float = setting("Fraction of the series, at its end, that is held out.", above=0, below=1)
    attribution_samples: int = setting(
        "Number of training samples, evenly spaced in time, over which attribution maps are averaged.", at_least=1
    )
    sampling: SamplingSettings = setting("Sampling of batches.", default=SamplingSettings)

    interface: ClassVar[str] = "contrastive"

    def largest_label(self) -> tuple[float, str]:
        """Return the largest absolute value of a label, and the key of the setting that determines it."""
        raise NotImplementedError

    def training_samples(self, samples: int, trainer: TrainerSettings) -> int:
        """Return how many of the samples, at the beginning, are trained on."""
        training, _ = split_sizes(samples, self.held_out)
        stop = trainer.early_stop
        return training - validation_size(training, stop.held_out) if stop.patience else training

    def length_errors(self, samples: int, trainer: TrainerSettings, source: str) -> Iterator[SettingsError]:
        """Yield errors of a time series that is too short.

        Parameters
        ----------
        samples
            Length of the series.
        trainer
            Settings of the trainer: the batch size, and the early stop, which needs samples of its own.
        source
            Key of the setting that determines the length.
        """
        train, (_, last) = self.training_samples(samples, trainer), split_sizes(samples, self.held_out)
        if train < trainer.batch_size:
            text = f"a seed has {max(train, 0)} training samples, less than one batch: lower trainer.batch_size"
            yield SettingsError(("trainer.batch_size", source, "data.held_out"), text)
        for name in ("time_offset", "time_delta"):
            if getattr(self.sampling, name) >= max(train, 1):
                text = f"no two of the {max(train, 0)} training samples are data.sampling.{name} steps apart: lower it"
                yield SettingsError((f"data.sampling.{name}", source, "data.held_out"), text)
        if last < FEWEST_HELD_OUT:
            text = f"at least {FEWEST_HELD_OUT} samples must be held out: raise data.held_out"
            yield SettingsError(("data.held_out", source), text)
