import itertools

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold

from sparseid.metrics.block_r2 import assigned, block_r2

GENERATOR = np.random.default_rng(0)
Z = GENERATOR.standard_normal((400, 3))
HALF = slice(0, 200), slice(200, None)


def halves(values):
    return values[HALF[0]], values[HALF[1]]


def scored(inputs, targets):
    (x, x_test), (y, y_test) = halves(inputs), halves(targets)
    return block_r2(x, y, x_test, y_test)


def test_a_smooth_function_is_explained_and_noise_is_not():
    targets = np.stack([np.sin(Z[:, 0]), Z[:, 0] ** 2 + Z[:, 1], GENERATOR.standard_normal(400)], axis=1)
    first, second, noise = scored(Z[:, :2], targets)
    assert first > 0.95
    assert second > 0.95
    assert noise < 0.1


def test_units_do_not_matter():
    inputs, targets = Z[:, :2], np.exp(Z[:, :1])
    plain = scored(inputs, targets)
    np.testing.assert_allclose(scored(1e3 * inputs - 5, 7 + 1e-3 * targets), plain, rtol=1e-6)


def test_ridge_and_width_are_chosen_by_threefold_cross_validation():
    inputs, targets = Z[:, :2], np.sin(3 * Z[:, :1]) + 0.3 * GENERATOR.standard_normal((400, 1))
    (x, x_test), (y, y_test) = halves(inputs), halves(targets)
    x, x_test = ((part - x.mean(axis=0)) / x.std(axis=0) for part in (x, x_test))
    y, y_test = ((part - y.mean(axis=0)) / y.std(axis=0) for part in (y, y_test))

    def r2(ridge, width, fit, score):
        model = KernelRidge(alpha=ridge, kernel="rbf", gamma=width).fit(*fit)
        residual = score[1] - model.predict(score[0])
        return 1 - (residual**2).sum() / ((score[1] - score[1].mean()) ** 2).sum()

    def validated(choice):
        folds = KFold(3).split(x)
        return np.mean([r2(*choice, (x[fit], y[fit]), (x[rest], y[rest])) for fit, rest in folds])

    choices = itertools.product((1, 0.1, 0.01, 0.001), (0.01, 10 ** (-2 / 3), 10 ** (2 / 3), 100))
    best = max(choices, key=validated)
    assert block_r2(*halves(inputs)[:1], *halves(targets)[:1], *halves(inputs)[1:], *halves(targets)[1:])[0] == (
        pytest.approx(r2(*best, (x, y), (x_test, y_test)))
    )


def test_no_more_than_1500_samples_are_fitted_on():
    inputs = np.zeros((1600, 1))
    inputs[:1500, 0] = np.tile([-1.0, 1.0], 750)
    targets = inputs.copy()
    targets[1500:] = 9.0  # would be seen in the mean
    test = np.array([[-1.0], [1.0]])
    assert block_r2(inputs, targets, test, test)[0] == pytest.approx(1, abs=1e-3)


def test_constant_and_infinite_values_and_wrong_shapes():
    assert scored(np.zeros((400, 1)), Z[:, :1])[0] <= 0  # a constant explains nothing
    constant = scored(Z[:, :1], np.stack([Z[:, 0], np.ones(400)], axis=1))
    assert constant[0] > 0.99
    assert np.isnan(constant[1])
    broken = Z[:, :2].copy()
    broken[3, 0] = np.inf
    assert np.isnan(scored(broken, Z[:, :2])).all()
    with pytest.raises(ValueError, match="equally many samples"):
        block_r2(Z, Z[:10], Z, Z)


def test_learned_latents_go_where_the_sum_of_r2_is_largest():
    r2 = np.array([[0.9, 0.8, 0.0, 0.7], [0.8, 0.0, 0.1, 0.5], [0.0, 0.1, 0.9, 0.0]])
    blocks = assigned(r2, [2, 1, 1])
    assert [block.tolist() for block in blocks] == [[1, 3], [0], [2]]
    assert [block.tolist() for block in assigned(r2, [4, 0, 0])] == [[0, 1, 2, 3], [], []]
    for sizes in ([2, 1], [2, 1, 2]):
        with pytest.raises(ValueError, match="cannot fill blocks"):
            assigned(r2, sizes)
