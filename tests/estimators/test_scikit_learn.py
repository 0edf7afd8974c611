"""Checks of scikit-learn's check_estimator.

None is excepted. Those of regressors are not among them: TBR predicts, but needs environments and is no regressor.
Sparling has only those that need no data: the others fit a table (rows, features), and its inputs are images of three
or four dimensions, sounds or paths, its labels sequences of tokens.
"""

import tempfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import (
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    estimator_checks_generator,
)

import sparseid

OUTPUTS = tempfile.TemporaryDirectory()  # many checks fit the same data: a run that is done is read again
TINY = {"preset": "smoke", "device": "cpu", "outputs": OUTPUTS.name}
STEP = {"trainer.batch_size": 4, "trainer.max_samples": 8}


class GroupedTBR(sparseid.TBR):
    """TBR whose environments follow from the rows, since the checks pass X and y only."""

    def fit(self, X, y, environments=None):
        return super().fit(X, y, environments=None if y is None else np.arange(np.size(np.asarray(y))) % 2)

    def predict(self, X, environments=None):
        return super().predict(X, np.zeros(np.shape(X)[0], int))


ESTIMATORS = [
    sparseid.SparseVAE(latents=2, patience=0, settings={"method.hidden": 4, **STEP}, **TINY),
    sparseid.DiverseDictionary(latents=2, patience=0, settings={"method.hidden": 4, **STEP}, **TINY),
    GroupedTBR(latents=2, patience=0, settings={"method.hidden": [4], **STEP}, **TINY),
    sparseid.RegCL(latents=2, settings={"data.held_out": 0.2, **STEP}, **TINY),
]


ONCE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
"""Checks of many formats, which one reader takes for all estimators: they run for the first one."""
CHECKS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
    for number, tested in enumerate(ESTIMATORS)
    for estimator, check in estimator_checks_generator(tested)
    if number == 0 or check.func.__name__ not in ONCE
]

pytestmark = pytest.mark.usefixtures("torch_settings")


def test_sparling_holds_those_that_need_no_table():
    model = sparseid.Sparling(channels=3, preset="smoke")
    check_parameters_default_constructible("Sparling", model)
    check_no_attributes_set_in_init("Sparling", model)
    check_get_params_invariance("Sparling", model)
    assert clone(model).get_params() == model.get_params()
    assert not model.__sklearn_tags__().input_tags.two_d_array
    with pytest.raises(NotFittedError):
        model.predict(np.zeros((2, 8, 8)))


@pytest.mark.filterwarnings("ignore:not better than a baseline", "ignore:.*R2")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_the_conventions_hold(estimator, check):
    check(estimator)
