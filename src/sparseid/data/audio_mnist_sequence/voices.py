"""Additional voices from few speakers: normalised loudness, other speeds, other microphones.

Not in the paper, which has 51 speakers to train on, recorded in one room with one microphone. The six speakers of the
project's sample have recorded themselves, each with their own microphone: the median level of the loudest is 23 dB
above that of the quietest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import FULL_SCALE, Recording, Recordings
from sparseid.streams import FIXED

SPEED = 0.16
"""Largest change of speed (and pitch) of a voice, as the logarithm of the factor."""
GAIN = 6.0
"""Largest change of loudness of a voice, in decibels."""
TILT = 5.0
"""Largest spectral tilt: high frequencies are louder or quieter than low ones by at most twice this, in decibels."""
BENDS, BEND = 8, 5.0
"""Number of frequencies between which the gain is interpolated, and its standard deviation there, in decibels."""


class Voice(NamedTuple):
    """Difference of a voice from its speaker's: a factor of speed, and decibels at equally spaced frequencies."""

    speed: float
    decibels: NDArray[np.float64]


def draw_voice(rng: np.random.Generator) -> Voice:
    """Draw a voice."""
    speed = np.exp(rng.uniform(-SPEED, SPEED))
    tilt = rng.uniform(-TILT, TILT) * np.linspace(-1, 1, BENDS)
    return Voice(float(speed), rng.uniform(-GAIN, GAIN) + tilt + BEND * rng.standard_normal(BENDS))


def with_voices(recordings: Recordings, test_speakers: int, voices: int, level: float) -> Recordings:
    """Normalise the loudness of recordings and add voices of each training speaker.

    Parameters
    ----------
    recordings
        Original recordings.
    test_speakers
        Number of (last) speakers without additional voices.
    voices
        Number of voices of each other speaker: their own and ``voices - 1`` drawn ones, the same for all seeds. Each is
        a speaker.
    level
        Root mean square of every recording before its voice's gain; full scale is 1. 0 leaves the loudness unchanged.

    Returns
    -------
    Recordings
        Recordings of ``(speakers - test_speakers) * voices + test_speakers`` speakers, test speakers last.
    """
    if voices == 1 and not level:
        return recordings
    training = len(recordings.speakers) - test_speakers
    others = [
        [draw_voice(FIXED.numpy("audio_mnist_sequence/voices", speaker, n)) for n in range(1, voices)]
        for speaker in range(training)
    ] + [[]] * test_speakers
    first = np.cumsum([0, *(1 + len(drawn) for drawn in others)]).tolist()
    made = []
    described = zip(recordings.speaker.tolist(), recordings.digit.tolist(), recordings.take.tolist(), strict=True)
    for number, (speaker, digit, take) in enumerate(described):
        own = levelled(recordings.sound(number), level)
        for n, sound in enumerate([own, *(spoken_by(own, voice) for voice in others[speaker])]):
            samples = np.rint(sound * FULL_SCALE).clip(-FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
            made.append(Recording(first[speaker] + n, digit, take, samples))
    names = [
        name + (f" {n + 1}" if n else "")
        for name, drawn in zip(recordings.speakers.tolist(), others, strict=True)
        for n in range(1 + len(drawn))
    ]
    return Recordings.of(made, names)


def levelled(sound: NDArray[np.floating], level: float) -> NDArray[np.floating]:
    """Return a recording with the root mean square `level`; silence, or any recording at level 0, is unchanged."""
    present = np.sqrt(np.mean(np.square(sound, dtype=np.float64)))
    return sound * (level / present) if level and present else sound


def spoken_by(sound: NDArray[np.floating], voice: Voice) -> NDArray[np.float64]:
    """Return a recording in another voice: its spectrum weighted, its length scaled."""
    length = max(1, round(len(sound) / voice.speed))
    spectrum = np.fft.rfft(sound)
    bins = length // 2 + 1
    kept = np.zeros(bins, complex)
    both = min(bins, len(spectrum))
    kept[:both] = spectrum[:both]
    decibels = np.interp(np.linspace(0, 1, bins), np.linspace(0, 1, len(voice.decibels)), voice.decibels)
    return np.fft.irfft(kept * 10 ** (decibels / 20), length) * (length / len(sound))
