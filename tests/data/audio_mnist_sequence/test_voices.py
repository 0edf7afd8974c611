import numpy as np
import pytest

from sparseid.data.audio_mnist_sequence.recordings import Recording, Recordings
from sparseid.data.audio_mnist_sequence.voices import (
    SPEED,
    Voice,
    draw_voice,
    levelled,
    spoken_by,
    with_voices,
)

FLAT = np.zeros(2)


def tone(hertz, samples=4000, size=0.3):
    return size * np.sin(2 * np.pi * hertz * np.arange(samples) / 8000)


def hertz_of(sound):
    return np.abs(np.fft.rfft(sound)).argmax() * 8000 / len(sound)


@pytest.fixture
def recordings():
    """Three speakers, one louder than the other, two digits, two takes."""
    return Recordings.of(
        (
            Recording(speaker, digit, take, (4000 * (speaker + 1) * tone(300 + 100 * digit)).astype(np.int16))
            for speaker in range(3)
            for digit in range(2)
            for take in range(2)
        ),
        ("ann", "ben", "cy"),
    )


def test_as_long_as_nothing_is_asked_for_recordings_stay_what_they_are(recordings):
    assert with_voices(recordings, test_speakers=1, voices=1, level=0.0) is recordings


def test_training_speakers_have_further_voices_and_stand_before_those_of_tests(recordings):
    more = with_voices(recordings, test_speakers=1, voices=3, level=0.0)
    assert more.speakers.tolist() == ["ann", "ann 2", "ann 3", "ben", "ben 2", "ben 3", "cy"]
    assert (more.counts[:, :2] == 2).all()
    for old, new in ((0, 0), (1, 3), (2, 6)):  # their own voices are unaltered
        for digit in range(2):
            np.testing.assert_array_equal(
                more.sound(more.first[new, digit]), recordings.sound(recordings.first[old, digit])
            )
    again = with_voices(recordings, test_speakers=1, voices=3, level=0.0)
    np.testing.assert_array_equal(more.samples, again.samples)
    assert len({tuple(more.sound(more.first[voice, 0])[:50]) for voice in range(7)}) == 7


def test_all_speakers_are_brought_to_one_level(recordings):
    level = with_voices(recordings, test_speakers=1, voices=1, level=0.05)
    for number in range(len(level.lengths)):
        assert np.sqrt(np.mean(level.sound(number) ** 2)) == pytest.approx(0.05, rel=1e-3)


def test_silence_stays_silence():
    np.testing.assert_array_equal(levelled(np.zeros(5), 0.1), np.zeros(5))


@pytest.mark.parametrize("speed", [0.8, 1.0, 1.25])
def test_a_faster_voice_is_shorter_and_higher_and_as_loud(speed):
    other = spoken_by(tone(800), Voice(speed, FLAT))
    assert len(other) == round(4000 / speed)
    assert hertz_of(other) == pytest.approx(800 * speed, abs=2)
    assert np.std(other) == pytest.approx(np.std(tone(800)), rel=0.02)


def test_a_fast_voice_has_nothing_of_what_lies_above_the_highest_frequency():
    assert np.std(spoken_by(tone(3500), Voice(1.25, FLAT))) < 0.01


def test_a_voice_weighs_frequencies_by_decibels():
    louder_above = Voice(1.0, np.array([0.0, 0.0, 20.0]))  # at 0, 2000 and 4000 Hz
    for hertz, gain in ((1000, 1.0), (2000, 1.0), (3000, 10**0.5)):
        assert np.std(spoken_by(tone(hertz), louder_above)) / np.std(tone(hertz)) == pytest.approx(gain, rel=0.02)


def test_an_unaltered_voice_gives_the_recording_back():
    np.testing.assert_allclose(spoken_by(tone(440, 401), Voice(1.0, FLAT)), tone(440, 401), atol=1e-12)


def test_drawn_voices_stay_within_their_speeds():
    speeds = [draw_voice(np.random.default_rng(seed)).speed for seed in range(200)]
    assert np.exp(-SPEED) <= min(speeds) < 0.9
    assert 1.1 < max(speeds) <= np.exp(SPEED)
