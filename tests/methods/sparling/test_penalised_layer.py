import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sparseid.methods.sparling.losses import kl_penalty, l1_penalty
from sparseid.methods.sparling.penalised_layer import PenalisedLayer


def test_activations_equal_the_peer(fixture_arrays):
    arrays = {name: torch.from_numpy(array) for name, array in fixture_arrays("sparling_other_bottlenecks").items()}
    l1 = PenalisedLayer(4, "l1", 1.0, 0.1, "none")
    torch.testing.assert_close(l1(arrays["x"]), arrays["l1_out"], rtol=1e-6, atol=0)
    kl = PenalisedLayer(4, "kl", 1.0, 0.1, "none")
    torch.testing.assert_close(kl(arrays["x"]), (arrays["kl_out"] - 0.5).relu(), rtol=1e-6, atol=1e-7)


def test_l1_is_the_mean_over_everything():
    motifs = torch.tensor([[[1.0, 0.0]], [[0.0, 3.0]]])
    assert float(l1_penalty(motifs)) == 1.0
    _, penalty = PenalisedLayer(1, "l1", 5.0, 0.1, "none").with_penalty(motifs)
    assert float(penalty) == 5.0


@given(st.floats(1e-5, 0.9), st.floats(0.01, 0.99))
def test_kl_is_a_divergence_from_the_density(density, share):
    value = float(kl_penalty(torch.full((2, 3, 4), share, dtype=torch.float64), density))
    expected = density * math.log(density / share) + (1 - density) * math.log((1 - density) / (1 - share))
    assert value == pytest.approx(expected, abs=1e-9)
    assert value >= -1e-12


def test_kl_is_nothing_at_the_density():
    shares = torch.tensor([[[0.05, 0.15]]], dtype=torch.float64)
    assert float(kl_penalty(shares, 0.1)) == pytest.approx(0)


@pytest.mark.parametrize("kind", ["l1", "kl"])
def test_the_penalty_makes_the_map_sparser(kind):
    torch.manual_seed(0)
    layer = PenalisedLayer(3, kind, 1.0, 1e-3)
    x = torch.randn(8, 3, 5, 5)
    optimiser = torch.optim.SGD(layer.parameters(), 0.5)
    shares = []
    for _ in range(30):
        motifs, penalty = layer.with_penalty(x)
        shares.append(float((motifs > 0).float().mean()))
        optimiser.zero_grad()
        penalty.backward()
        optimiser.step()
    assert shares[0] == pytest.approx(0.5, abs=0.1)
    assert shares[-1] < 0.3
    assert torch.equal(layer.eval()(x), layer.with_penalty(x)[0])


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="l2"):
        PenalisedLayer(3, "l2", 1.0, 0.1)
