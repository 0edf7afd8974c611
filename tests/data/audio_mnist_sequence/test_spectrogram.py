import numpy as np
import pytest
import torch

from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings
from sparseid.data.audio_mnist_sequence.sources import recordings
from sparseid.data.audio_mnist_sequence.spectrogram import MelDecibels


def decibels(sound):
    return MelDecibels()(torch.as_tensor(sound, dtype=torch.float32)[None])[0, :, :, 0].numpy()


def test_spectrogram_of_a_clip_has_the_published_shape():
    assert MelDecibels()(torch.zeros(2, 120_000)).shape == (2, 64, 642, 1)


def test_silence_is_the_floor():
    assert np.unique(decibels(np.zeros(2000))).tolist() == [-100]


def test_many_clips_are_those_of_each_alone():
    sounds = torch.randn(20, 1500, generator=torch.Generator().manual_seed(0))
    together = MelDecibels()(sounds)
    for number in (0, 15, 16, 19):
        assert torch.allclose(together[number], MelDecibels()(sounds[number : number + 1])[0], atol=1e-4)


def test_standardised_decibels_are_the_same_in_other_units():
    sounds = torch.randn(3, 1500, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(MelDecibels(standardised=True)(sounds) * 15 - 30, MelDecibels()(sounds), atol=1e-4)


@pytest.mark.parametrize("frequency", [300, 1000, 2500])
def test_a_tone_lies_in_its_band_and_80_decibels_above_the_floor(frequency):
    sound = 0.5 * np.sin(2 * np.pi * frequency * np.arange(8000) / 8000)
    bands = decibels(sound)
    # band b of 64 peaks where HTK's mel scale, 2595 log10(1 + f / 700), is cut into 65 equal parts
    mel = 2595 * np.log10(1 + np.array([frequency, 4000]) / 700)
    expected = mel[0] / mel[1] * 65 - 1
    assert abs(bands[:, 20].argmax() - expected) < 1
    assert bands.max() - bands.min() == pytest.approx(80, abs=1e-4)
    assert bands.max() == pytest.approx(10 * np.log10((0.5 * 375 / 4) ** 2), abs=3)  # power of a Hann window's peak


@pytest.mark.shared
@pytest.mark.parametrize("name", ["chirp_noise", "bursts"])
def test_short_sounds_equal_the_authors(shared_arrays, name):
    theirs = shared_arrays("sparling_audio_spectrogram")
    np.testing.assert_allclose(decibels(theirs[f"signal_{name}"]), theirs[f"db_{name}"], atol=5e-3, rtol=0)
    if name == "chirp_noise":
        fbank = MelDecibels().power.mel_scale.fb
        np.testing.assert_allclose(fbank, theirs["mel_filterbank"], atol=2e-5)
        np.testing.assert_allclose(MelDecibels().power.spectrogram.window, theirs["window"], atol=1e-6)


@pytest.mark.shared
def test_a_whole_clip_equals_the_authors(shared_arrays):
    theirs = shared_arrays("sparling_audio_spectrogram_full")
    sound = theirs["signal_int16"].astype(np.float32) * theirs["scale"]
    np.testing.assert_allclose(decibels(sound), theirs["db_frames_by_mel"].T, atol=5e-3, rtol=0)


def test_digits_of_unheard_voices_are_recognised_by_their_bands():
    """The nearest mean of four speakers names many digits of the other two: what is learnt of some helps others."""
    voices = recordings(AudioMNISTSequenceSettings(source="fsdd"))
    bands = MelDecibels()
    looks = []
    for number in range(len(voices.lengths)):
        picture = bands(torch.from_numpy(voices.sound(number))[None])[:, :, :, 0]
        look = torch.nn.functional.interpolate(picture, 12, mode="linear")[0]
        look = torch.nn.functional.avg_pool1d(look.T, 4).T  # 16 bands
        looks.append((look - look.mean()).flatten().numpy())
    looks = np.array(looks)
    train = voices.speaker < 4
    means = np.stack([looks[train & (voices.digit == digit)].mean(axis=0) for digit in range(10)])
    guessed = ((looks[~train, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (guessed == voices.digit[~train]).mean() > 0.7
