"""Mel spectrograms in decibels, the input of the audio domain's networks (authors' code)."""

from __future__ import annotations

import torch
from torch import Tensor

from sparseid.data.audio_mnist_sequence.times import BANDS, HOP, RATE, WINDOW
from sparseid.optional import need

FLOOR = 1e-10
"""Minimum power, before the logarithm."""
RANGE = 80.0
"""Dynamic range: decibels below a clip's own maximum at which its spectrogram is clipped."""
AT_ONCE = 16
"""Clips whose spectrograms are computed together; more do not fit the cache."""


MEAN, DEVIATION = -30.0, 15.0
"""Approximate mean and standard deviation of the decibels of clips."""


class MelDecibels(torch.nn.Module):
    """Mel bands of a sound in dB: periodic Hann window, centred frames with reflected ends, power, HTK mel bands.

    Parameters
    ----------
    standardised
        Subtract :data:`MEAN` from the decibels and divide them by :data:`DEVIATION`.
    """

    def __init__(self, standardised: bool = False) -> None:
        super().__init__()
        need("torchaudio", "audio")
        import torchaudio

        self.standardised = standardised
        self.power = torchaudio.transforms.MelSpectrogram(RATE, WINDOW, hop_length=HOP, n_mels=BANDS)

    @torch.no_grad()
    def forward(self, sound: Tensor) -> Tensor:
        """Map sounds (N, samples) to (N, bands, frames, 1)."""
        decibels = torch.cat([self._decibels(part) for part in sound.split(AT_ONCE)]).unsqueeze(3)
        return decibels.sub_(MEAN).div_(DEVIATION) if self.standardised else decibels

    def _decibels(self, sound: Tensor) -> Tensor:
        decibels = 10 * self.power(sound).clamp_min(FLOOR).log10()
        return decibels.maximum(decibels.amax((1, 2), keepdim=True) - RANGE)
