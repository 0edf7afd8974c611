import numpy as np
import pytest

from sparseid.data.bits import CHUNK, random_bits


@pytest.mark.parametrize("probability", [0.0, 0.001, 0.05, 0.25, 0.7123, 1.0])
def test_bits_have_their_probability(probability):
    bits = random_bits((1000, 400), probability, np.random.default_rng(0))
    assert bits.dtype == bool
    assert bits.mean() == pytest.approx(probability, abs=4 * np.sqrt(probability * (1 - probability) / 4e5))


def test_more_bits_than_are_drawn_at_a_time():
    bits = random_bits((CHUNK + 3,), 0.5, np.random.default_rng(0))
    assert bits.shape == (CHUNK + 3,)
    assert bits[CHUNK - 1000 :].mean() == pytest.approx(0.5, abs=0.07)
