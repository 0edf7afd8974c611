import numpy as np
import pytest
import torch

from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings
from sparseid.data.audio_mnist_sequence.sources import recordings
from sparseid.data.audio_mnist_sequence.spectrogram import MelDecibels
from sparseid.data.audio_mnist_sequence.synthesis import draw_voice, spoken
from sparseid.streams import FIXED


@pytest.fixture(scope="module")
def voices():
    return recordings(AudioMNISTSequenceSettings(source="synthetic"))


def test_eight_voices_say_every_digit_five_times(voices):
    assert voices.counts.shape == (8, 10)
    assert (voices.counts == 5).all()
    assert 0.15 < voices.lengths.min() / 8000 < voices.lengths.max() / 8000 < 1
    peaks = [np.abs(voices.sound(number)).max() for number in range(len(voices.lengths))]
    assert 0.05 < min(peaks) < max(peaks) < 0.8


def test_a_take_is_always_the_same_and_no_two_are_alike(voices):
    voice = draw_voice(FIXED.numpy("audio_mnist_sequence/voice", 3))
    again = spoken(4, voice, FIXED.numpy("audio_mnist_sequence/take", 3, 4, 1))
    number = voices.first[3, 4] + 1
    np.testing.assert_array_equal(again, voices.samples[voices.starts[number] :][: voices.lengths[number]])
    assert not np.array_equal(again[:500], spoken(4, voice, FIXED.numpy("audio_mnist_sequence/take", 3, 4, 2))[:500])


def test_digits_of_unheard_voices_are_recognised_by_their_bands(voices):
    """The nearest mean of six voices names most digits of the other two: what is learnt of some voices helps others."""
    bands = MelDecibels()
    looks = []
    for number in range(len(voices.lengths)):
        picture = bands(torch.from_numpy(voices.sound(number))[None])[:, :, :, 0]
        look = torch.nn.functional.interpolate(picture, 12, mode="linear")[0]
        look = torch.nn.functional.avg_pool1d(look.T, 4).T  # 16 bands
        looks.append((look - look.mean()).flatten().numpy())
    looks = np.array(looks)
    train = voices.speaker < 6
    means = np.stack([looks[train & (voices.digit == digit)].mean(axis=0) for digit in range(10)])
    guessed = ((looks[~train, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (guessed == voices.digit[~train]).mean() > 0.7
