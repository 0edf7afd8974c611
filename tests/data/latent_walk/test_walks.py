import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.data.latent_walk import walks
from sparseid.data.latent_walk.walks import redrawn_walk, reflected_walk


def step_by_step(steps, samples, box):
    """Walk as one would write it down: a step that would leave the box is left out."""
    position, kept = 0.0, [0.0]
    for step in steps:
        if -box <= position + step <= box:
            position += step
            kept.append(position)
    return kept[:samples]


def blocks_of(steps, size):
    return iter(np.split(steps, range(size, steps.shape[1], size), axis=1))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    sigma=st.sampled_from([0.05, 0.1, 0.5, 1.0]),
    count=st.integers(1, 5),
    samples=st.integers(1, 150),
    size=st.integers(1, 60),
)
def test_windows_change_nothing(seed, sigma, count, samples, size):
    steps = sigma * np.random.default_rng(seed).standard_normal((count, 1200))
    found = redrawn_walk(blocks_of(steps, size), samples, 1.0)
    assert found.shape == (count, samples)
    assert found.tolist() == [step_by_step(own, samples, 1.0) for own in steps]  # bit for bit


@pytest.mark.parametrize("window", [1, 2, 7, 500])
def test_the_size_of_a_window_changes_nothing(monkeypatch, window):
    monkeypatch.setattr(walks, "WINDOW", window)
    steps = 0.4 * np.random.default_rng(0).standard_normal((3, 2000))
    found = redrawn_walk(blocks_of(steps, 100), 500, 1.0)
    assert found.tolist() == [step_by_step(own, 500, 1.0) for own in steps]


def test_a_walk_is_the_same_among_slower_ones():
    steps = np.random.default_rng(1).standard_normal((4, 3000)) * np.array([[0.01], [0.1], [1.0], [3.0]])
    together = redrawn_walk(blocks_of(steps, 64), 200, 1.0)
    for own, walk in zip(steps, together, strict=True):
        assert np.array_equal(redrawn_walk(blocks_of(own[None], 64), 200, 1.0)[0], walk)


def test_walls_belong_to_the_box():
    steps = np.array([[1.0, 0.5, -2.0, -0.5, 1.0]])
    assert redrawn_walk(iter([steps]), 4, 1.0).tolist() == [[0.0, 1.0, -1.0, 0.0]]


def test_reflected_positions_are_the_free_ones_mirrored_at_the_walls():
    steps = np.full((1, 7), 0.6)
    expected = [0.0, 0.6, 0.8, 0.2, -0.4, -1.0, -0.4, 0.2]
    np.testing.assert_allclose(reflected_walk(blocks_of(steps, 3), 8, 1.0)[0], expected, atol=1e-12)
    np.testing.assert_allclose(reflected_walk(blocks_of(-steps, 7), 4, 1.0)[0], [0.0, -0.6, -0.8, -0.2], atol=1e-12)
    np.testing.assert_allclose(
        reflected_walk(iter([np.full((1, 2), 1.5)]), 3, 0.5)[0], [0.0, -0.5, 1.0 - 1.0], atol=1e-12
    )
