"""Settings of sequences of spoken digits; numbers of the paper and its code stand in ``configs/``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class AudioMNISTSequenceConfig:
    """Clips in which several speakers say digits one after the other, labelled in their order."""

    name: str = "audio_mnist_sequence"
    source: str = "fsdd"
    """audiomnist (the paper's 60 speakers, you place them) or fsdd (six speakers: those of data.path, or 1,200
    recordings that the project holds)."""
    path: str = ""
    """Folder of recordings; empty is data/AudioMNIST, or the project's for fsdd. A run is known by their content."""
    test_speakers: int = 0
    """Speakers, the last ones, that only tests are spoken by; 0 is the source's own number."""
    voices: int = 1
    """Voices in which each training speaker speaks: beyond their own other pitches, speeds and microphones."""
    level: float = 0.0
    """Root mean square that every recording is brought to, full scale is 1; 0 leaves their loudness as it is."""
    standardised: bool = False
    """Whether decibels are brought to a mean of about 0 and a deviation of about 1, all clips by the same numbers."""
    seconds: float = field(default=MISSING, metadata={"spatial": True})
    """Length of a clip."""
    min_digits: int = MISSING
    max_digits: int = MISSING
    """Digits per clip, uniform in [min_digits, max_digits]."""
    classes: int = MISSING
    """Digits 0 .. classes-1 occur."""
    vocabulary: int = MISSING
    """Tokens of the decoder, start and end of a label among them; at least classes + 2."""
    noise_std: float = MISSING
    """Standard deviation of the noise before it is cut at one of it; full scale is 1."""

    @property
    def spatial(self) -> tuple[int, int]:
        """Frames of a clip, and 1; (0, 1) for a length that is no number."""
        if not math.isfinite(self.seconds):
            return 0, 1
        from sparseid.data.audio_mnist_sequence.times import frames_of, samples_of

        return frames_of(samples_of(self.seconds)), 1
