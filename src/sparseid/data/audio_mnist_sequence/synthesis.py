"""Spoken digits by formant synthesis, without recordings.

A digit is a chain of phonemes. Voiced ones are harmonics of the voice's pitch, weighted by resonances at the phoneme's
three formants; hisses are noise weighted by a resonance. Vowels have the mean formants of men in Peterson and Barney
(1952); a speaker scales all formants, like a longer or shorter vocal tract.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import FULL_SCALE, Recording, Recordings
from sparseid.data.audio_mnist_sequence.times import RATE
from sparseid.streams import FIXED

SPEAKERS, TAKES = 8, 5
BANDWIDTHS = np.array([80.0, 110.0, 160.0])
"""Bandwidths of the formants, in Hz."""
STRENGTHS = np.array([1.0, 0.6, 0.3])
"""Amplitudes of the formants, relative to the first."""
HISS_BANDWIDTH = 700.0
"""Bandwidth of the resonance of a hiss, in Hz."""
TRANSITION = 0.03
"""Time of the transition from one phoneme to the next, in seconds."""


class Phoneme(NamedTuple):
    """A stretch of speech: formants in Hz, voice and hiss in [0, 1], the hiss' centre in Hz, duration in seconds."""

    formants: tuple[float, float, float]
    voice: float
    hiss: float
    centre: float
    seconds: float


def _voiced(*formants: float, seconds: float = 0.11, voice: float = 1.0) -> Phoneme:
    return Phoneme((formants[0], formants[1], formants[2]), voice, 0.0, 2000.0, seconds)


def _hiss(centre: float, hiss: float, seconds: float, voice: float = 0.0) -> Phoneme:
    return Phoneme((350.0, 1500.0, 2500.0), voice, hiss, centre, seconds)


_NASAL = _voiced(280, 1100, 2300, seconds=0.09, voice=0.5)
_R = _voiced(420, 1300, 1600, seconds=0.07)
_SILENCE = _hiss(2000, 0.0, 0.05)
_S = _hiss(3700, 0.5, 0.13)
_V = _hiss(1500, 0.08, 0.06, voice=0.4)
_F = _hiss(2400, 0.12, 0.11)
_T = _hiss(3200, 0.45, 0.04)
_IH, _EH, _AH = _voiced(390, 1990, 2550), _voiced(530, 1840, 2480), _voiced(640, 1190, 2390)
_IY, _UW = _voiced(270, 2290, 3010, seconds=0.16), _voiced(300, 870, 2240, seconds=0.17)
_AA, _AO = _voiced(730, 1090, 2440, seconds=0.13), _voiced(570, 840, 2410, seconds=0.15)

DIGITS = (
    (_hiss(3700, 0.25, 0.1, voice=0.3), _IH, _R, _AO, _UW._replace(seconds=0.1)),  # zero
    (_UW._replace(seconds=0.08), _AH, _NASAL),  # one
    (_SILENCE, _T, _UW),  # two
    (_hiss(2800, 0.1, 0.09), _R, _IY),  # three
    (_F, _AO, _R),  # four
    (_F, _AA, _IH, _V),  # five
    (_S, _IH, _SILENCE, _hiss(1800, 0.35, 0.03), _S),  # six
    (_S, _EH, _V, _AH._replace(seconds=0.07), _NASAL),  # seven
    (_EH._replace(seconds=0.13), _IY._replace(seconds=0.09), _SILENCE, _T),  # eight
    (_NASAL, _AA, _IH, _NASAL),  # nine
)
"""Phonemes of zero to nine."""


class Voice(NamedTuple):
    """A speaker: pitch in Hz, scale of formants, scale of durations, fall of the pitch over a digit, loudness."""

    pitch: float
    formant_scale: float
    slowness: float
    fall: float
    loudness: float


def synthesised() -> Recordings:
    """Return the recordings, always the same: eight synthetic voices, five takes of each digit."""
    recordings = []
    for speaker in range(SPEAKERS):
        voice = draw_voice(FIXED.numpy("audio_mnist_sequence/voice", speaker))
        for digit in range(len(DIGITS)):
            for take in range(TAKES):
                rng = FIXED.numpy("audio_mnist_sequence/take", speaker, digit, take)
                recordings.append(Recording(speaker, digit, take, spoken(digit, voice, rng)))
    return Recordings.of(recordings, [f"voice{speaker}" for speaker in range(SPEAKERS)])


def draw_voice(rng: np.random.Generator) -> Voice:
    """Draw a speaker, from low to high voices; high ones tend to have high formants, as shorter people do."""
    height = rng.random()
    return Voice(
        pitch=95 * 2.2**height * rng.uniform(0.93, 1.07),
        formant_scale=0.93 + 0.25 * height + rng.uniform(-0.03, 0.03),
        slowness=rng.uniform(0.85, 1.25),
        fall=rng.uniform(0.05, 0.3),
        loudness=rng.uniform(0.15, 0.5),
    )


def spoken(digit: int, voice: Voice, rng: np.random.Generator) -> NDArray[np.int16]:
    """Return one take of a digit: durations, pitch and formants vary by a few per cent, phases and hiss are random."""
    phonemes = DIGITS[digit]
    seconds = np.array([phoneme.seconds for phoneme in phonemes]) * voice.slowness * rng.uniform(0.85, 1.15)
    counts = np.rint(seconds * rng.uniform(0.9, 1.1, len(phonemes)) * RATE).astype(int)
    track = np.array([[*p.formants, p.voice, p.hiss, p.centre] for p in phonemes])
    track[:, [0, 1, 2, 5]] *= voice.formant_scale * rng.uniform(0.97, 1.03)
    course = _smooth(np.repeat(track, counts, axis=0))
    formants, (loud, hiss, centre) = np.ascontiguousarray(course[:, :3].T), course[:, 3:].T

    progress = np.linspace(0, 1, len(loud))
    pitch = voice.pitch * rng.uniform(0.95, 1.05) * (1 + voice.fall * (0.5 - progress))
    turns = pitch.cumsum() / RATE
    voiced = np.zeros(len(loud))
    for harmonic in range(1, int(RATE / 2 / pitch.max())):
        weight = STRENGTHS @ _resonance(harmonic * pitch, formants, BANDWIDTHS[:, None])
        voiced += weight * np.sin(2 * np.pi * (harmonic * turns + rng.random()))
    voiced *= loud
    noise = _hissed(centre, rng) * hiss
    ends = np.minimum(1, np.minimum(progress, 1 - progress) * 25)
    sound = (voiced / np.abs(voiced).max(initial=1e-9) + noise) * ends
    return np.rint(voice.loudness * sound.clip(-1.5, 1.5) * (FULL_SCALE - 1)).astype(np.int16)


def _smooth(track: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth the transitions between phonemes by a moving average over time."""
    width = int(TRANSITION * RATE)
    padded = np.concatenate([np.repeat(track[:1], width // 2, 0), track, np.repeat(track[-1:], width - width // 2, 0)])
    total = np.concatenate([np.zeros((1, track.shape[1])), padded.cumsum(axis=0)])
    return (total[width:] - total[:-width])[: len(track)] / width


def _resonance(
    frequency: NDArray[np.float64], centre: NDArray[np.float64], bandwidth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the gain of a resonance at each frequency: 1 at its centre, half of that a bandwidth away."""
    return 1 / (1 + ((frequency - centre) / bandwidth) ** 2)


def _hissed(centre: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return noise around a centre frequency that moves: slow noise that modulates a wave of this frequency."""
    smooth = np.exp(-np.pi * HISS_BANDWIDTH * np.arange(64) / RATE)
    parts = rng.standard_normal((2, len(centre) + len(smooth) - 1))
    slow = np.stack([np.convolve(part, smooth, mode="valid") for part in parts]) / np.sqrt((smooth**2).sum())
    phase = 2 * np.pi * np.cumsum(np.minimum(centre, 0.47 * RATE)) / RATE
    return (slow[0] * np.cos(phase) + slow[1] * np.sin(phase)) / 2
