"""Arrays of any memory order and byte order as tensors, and the metrics that take them."""

import numpy as np
import pytest
import torch

from sparseid.metrics.attribution.maps import attribution_map
from sparseid.metrics.attribution.score import minimum_norm_auc
from sparseid.metrics.linear_r2 import linear_r2, r2
from sparseid.metrics.tensors import as_tensor

PLAIN = np.random.default_rng(0).normal(size=(6, 2))
AS_FOUND = {
    "reversed": PLAIN[::-1].copy()[::-1],
    "of another byte order": PLAIN.astype(">f8"),
    "by columns": np.asfortranarray(PLAIN),
    "read-only": np.frombuffer(PLAIN.tobytes()).reshape(6, 2),
    "a list": PLAIN.tolist(),
}


@pytest.mark.parametrize("values", AS_FOUND.values(), ids=AS_FOUND)
@pytest.mark.filterwarnings("error")
def test_values_are_those_of_the_array(values):
    assert as_tensor(values).tolist() == PLAIN.tolist()


def test_an_array_keeps_its_memory_and_a_tensor_is_itself():
    array, tensor = np.zeros(3), torch.zeros(3)
    as_tensor(array).add_(1)
    assert not array.any()
    assert as_tensor(tensor) is tensor


@pytest.mark.parametrize("values", list(AS_FOUND.values())[:4], ids=list(AS_FOUND)[:4])
def test_metrics_do_not_depend_on_the_order_in_memory(values):
    labels = PLAIN @ [[1.0, 2.0], [0.5, -1.0]] + np.arange(6.0)[:, None] ** 2
    assert linear_r2(values, labels, values, labels) == linear_r2(PLAIN, labels, PLAIN, labels)
    assert r2(values, labels) == r2(PLAIN, labels)
    truth = np.array([[True, False], [True, True]])
    cubes = [np.broadcast_to(array, (3, 6, 2))[..., :2, :] for array in (values, PLAIN)]
    assert minimum_norm_auc(cubes[0], truth) == minimum_norm_auc(cubes[1], truth)
    encoder = torch.nn.Linear(2, 1).double()
    found, expected = (attribution_map(encoder, array, "neuron_gradient") for array in (values, PLAIN))
    np.testing.assert_array_equal(found, expected)
