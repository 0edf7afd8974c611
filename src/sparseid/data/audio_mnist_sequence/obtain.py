"""``make data DATASETS=audiomnist``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings
from sparseid.data.audio_mnist_sequence.sources import recordings


def audiomnist() -> Iterator[str]:
    """Check AUDIOMNIST, your checkout of github.com/soerenab/AudioMNIST; if it is missing, print instructions."""
    config = AudioMNISTSequenceSettings(source="audiomnist", path=os.environ.get("AUDIOMNIST") or "")
    yield "audiomnist: reading and resampling, minutes the first time"
    found = recordings(config)
    seconds = len(found.samples) / 8000
    yield f"{len(found.lengths)} recordings (30,000 in the paper's) of {len(found.speakers)} speakers, {seconds:,.0f} s"
    path = f" data.path={shlex.quote(config.path)}" if config.path else ""
    yield f"use: data.source=audiomnist{path}"
