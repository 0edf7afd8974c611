"""Conversions between seconds, samples and frames of a clip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RATE = 8000
"""Samples per second (Sparling, section 5.1)."""
WINDOW = 375
"""Samples in a frame's window: int(2 * 1.5 * 8000 / 64), authors' code."""
HOP = 187
"""Samples between frames: half a window, rounded down (authors' code)."""
BANDS = 64
"""Mel bands (Sparling, section 5.1)."""


def samples_of(seconds: float) -> int:
    """Return the number of samples of a clip."""
    return round(seconds * RATE)


def frames_of(samples: int) -> int:
    """Return the number of frames of a clip's spectrogram: one around each multiple of the hop, the first at sample 0.

    Examples
    --------
    >>> frames_of(120_000)
    642
    """
    return samples // HOP + 1


def frame_spans(starts: NDArray[np.integer], lengths: NDArray[np.integer], samples: int) -> NDArray[np.int64]:
    """Return the half-open spans of frames (..., 2) of recordings in a clip.

    Start and length are each scaled to frames and rounded down (authors' code), so a span may be one frame short.

    Parameters
    ----------
    starts, lengths
        Starts and lengths, in samples.
    samples
        Length of the clip.
    """
    first = np.asarray(starts, np.int64) * frames_of(samples) // samples
    return np.stack([first, first + np.asarray(lengths, np.int64) * frames_of(samples) // samples], axis=-1)
