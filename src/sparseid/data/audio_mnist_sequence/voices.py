"""More voices from few speakers: recordings at one loudness, at other speeds, heard through other microphones.

Not in the paper, which has 51 speakers to train on, recorded in one room with one microphone. The six speakers that the
project holds have recorded themselves, each with a microphone of their own: the median level of the loudest is 23 dB
above that of the quietest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import FULL_SCALE, Recording, Recordings
from sparseid.streams import FIXED

SPEED = 0.16
"""A voice is faster (and higher) or slower (and lower) by a factor of at most e to the power of this."""
GAIN = 6.0
"""A voice is louder or quieter by at most so many decibels."""
TILT = 5.0
"""High frequencies are louder than low ones by at most twice so many decibels, or quieter."""
BENDS, BEND = 8, 5.0
"""The gain goes up and down between so many frequencies; its standard deviation at each of them, decibels."""


class Voice(NamedTuple):
    """How a voice differs from its speaker's: a factor of speed, and decibels at equally spaced frequencies."""

    speed: float
    decibels: NDArray[np.float64]


def draw_voice(rng: np.random.Generator) -> Voice:
    """Draw a voice."""
    speed = np.exp(rng.uniform(-SPEED, SPEED))
    tilt = rng.uniform(-TILT, TILT) * np.linspace(-1, 1, BENDS)
    return Voice(float(speed), rng.uniform(-GAIN, GAIN) + tilt + BEND * rng.standard_normal(BENDS))


def with_voices(recordings: Recordings, test_speakers: int, voices: int, level: float) -> Recordings:
    """Bring recordings to one loudness and let each training speaker speak in several voices.

    Parameters
    ----------
    recordings
        What there is.
    test_speakers
        Speakers, the last ones, that keep their own voice.
    voices
        Of each other speaker: their own and ``voices - 1`` drawn ones, the same for all seeds. Each is a speaker.
    level
        Root mean square of every recording before its voice's gain; full scale is 1. 0 leaves the loudness as it is.

    Returns
    -------
    Recordings
        Of ``(speakers - test_speakers) * voices + test_speakers`` speakers, those of the tests last.
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
    """Return a recording with the root mean square `level`; silence, and all at level 0, stays as it is."""
    present = np.sqrt(np.mean(np.square(sound, dtype=np.float64)))
    return sound * (level / present) if level and present else sound


def spoken_by(sound: NDArray[np.floating], voice: Voice) -> NDArray[np.float64]:
    """Return a recording in another voice: its spectrum, weighted, as a shorter or longer sound."""
    length = max(1, round(len(sound) / voice.speed))
    spectrum = np.fft.rfft(sound)
    bins = length // 2 + 1
    kept = np.zeros(bins, complex)
    both = min(bins, len(spectrum))
    kept[:both] = spectrum[:both]
    decibels = np.interp(np.linspace(0, 1, bins), np.linspace(0, 1, len(voice.decibels)), voice.decibels)
    return np.fft.irfft(kept * 10 ** (decibels / 20), length) * (length / len(sound))
