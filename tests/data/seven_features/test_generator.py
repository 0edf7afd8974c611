import numpy as np
import pytest

from sparseid.data.seven_features.generator import SUPPORT, draw, features_of
from sparseid.data.seven_features.settings import SevenFeaturesSettings
from sparseid.settings import settings_errors


def settings(**changes):
    return SevenFeaturesSettings(**({"samples": 1000, "noise_std": 0.5} | changes))


def test_features_are_those_of_the_paper():
    first, second = 0.5, -1.2
    expected = [first, 2 * first, 3 * first**2, 4 * second, 5 * second, 6 * np.sin(second), 7 * first * second]
    assert features_of(np.array([first, second])).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("rho", [0.0, 0.4, 0.8])
def test_factors_and_noise_have_their_moments(rho):
    factors, features = draw(settings(rho=rho, samples=40000), [0])
    np.testing.assert_allclose(np.cov(factors[0].T), [[1, rho], [rho, 1]], atol=0.03)
    noise = features - features_of(factors)
    np.testing.assert_allclose(np.cov(noise[0].T), 0.25 * np.eye(7), atol=0.01)
    assert np.abs(noise.mean(axis=1)).max() < 0.02
    assert np.abs(np.corrcoef(noise[0].T, factors[0].T)[:7, 7:]).max() < 0.03


def test_support_is_where_features_depend_on_factors():
    at = np.array([[0.7, 0.3]])
    for factor in range(2):
        moved = at + np.eye(2)[factor] * 0.1
        depends = features_of(moved)[0] != features_of(at)[0]
        assert depends.tolist() == (SUPPORT[:, factor] > 0).tolist()
    assert SUPPORT.sum(axis=1).tolist() == [1] * 7


def test_a_member_has_the_data_set_that_it_has_alone():
    together, alone = draw(settings(rho=0.2), [4, 0, 2]), draw(settings(rho=0.2), [0])
    for values, own in zip(together, alone, strict=True):
        assert np.array_equal(values[1], own[0])
        assert not np.array_equal(values[0], values[1])


def test_data_sets_of_other_correlations_are_independent():
    one, other = (draw(settings(rho=rho), [0])[0][0, :, 0] for rho in (0.0, 0.2))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.1


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"rho": 1.0}, "data.rho"),
        ({"rho": -0.1}, "data.rho"),
        ({"rho": float("nan")}, "data.rho"),
        ({"samples": 5}, "data.samples"),
        ({"noise_std": -1.0}, "data.noise_std"),
    ],
)
def test_impossible_settings(change, key):
    assert [keys for keys, _ in settings_errors(settings(**change), "data.", None)] == [(key,)]
    assert list(settings_errors(settings(), "data.", None)) == []
