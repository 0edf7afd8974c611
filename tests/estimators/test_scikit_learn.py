"""Checks of scikit-learn's check_estimator.

None is excepted. Those of regressors are not among them: TBR predicts, but needs environments and is no regressor.
"""

import tempfile

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

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


@pytest.mark.filterwarnings("ignore:not better than a baseline", "ignore:.*R2")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_the_conventions_hold(estimator, check):
    check(estimator)
