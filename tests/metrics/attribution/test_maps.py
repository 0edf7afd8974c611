"""Attribution maps: closed forms of a linear encoder, stacks, chunks, and what becomes of the caller's module."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from sparseid.errors import InputError
from sparseid.metrics.attribution import attribution_map, attributions
from sparseid.metrics.attribution.gradients import shap_draws
from sparseid.metrics.attribution.inverse import ROUNDING, inverted, rank_deficient
from sparseid.stacking.layers import stacked_mlp
from sparseid.stacking.members import generators

METHODS = ["neuron_gradient", "integrated_gradients", "feature_ablation", "gradient_shap", "inverted_jacobian"]
MEMBERS, SAMPLES, FEATURES, OUTPUTS = 3, 40, 6, 4


def small_stack(seeds=range(MEMBERS)):
    return stacked_mlp([FEATURES, 9, OUTPUTS], generators(list(seeds), "init"), nn.GELU)


def stack_inputs(seed=0):
    return torch.randn(MEMBERS, SAMPLES, FEATURES, generator=torch.Generator().manual_seed(seed))


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 7), st.booleans())
@settings(max_examples=40)
def test_a_linear_encoder_has_closed_forms(seed, outputs, features, zeros):
    rng = np.random.default_rng(seed)
    weight, x = torch.tensor(rng.normal(size=(outputs, features))), torch.tensor(rng.normal(size=(11, features)))

    def encoder(inputs):
        return inputs @ weight.T + 3

    expected = weight * x[:, None, :]  # the change of the output from x_j = 0
    for method in ("integrated_gradients", "feature_ablation"):
        torch.testing.assert_close(attributions(encoder, x, method), expected)
    torch.testing.assert_close(attributions(encoder, x, "neuron_gradient"), weight.expand(11, -1, -1))
    inverse = torch.linalg.pinv(weight).mT.expand(11, -1, -1)
    torch.testing.assert_close(attributions(encoder, x), inverse, rtol=1e-6, atol=1e-8 * float(inverse.abs().max()))
    kind = "zeros" if zeros else "shuffled"
    draws = shap_draws(x, outputs, kind, seed)
    start = draws.baselines[draws.rows].mean(dim=2).transpose(0, 1)  # (samples, outputs, features)
    expected = weight * (x[:, None, :] - start)
    torch.testing.assert_close(attributions(encoder, x, "gradient_shap", baselines=kind, seeds=seed), expected)


def test_integrated_gradients_add_up_to_the_change_of_the_output():
    encoder = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3)).double()
    x = torch.randn(30, 6, dtype=torch.float64)
    change = (encoder(x) - encoder(torch.zeros_like(x))).detach()
    torch.testing.assert_close(attributions(encoder, x, "integrated_gradients").sum(dim=-1), change)


@pytest.mark.parametrize("baselines", ["zeros", "shuffled"])
@pytest.mark.parametrize("method", METHODS)
def test_a_member_of_a_stack_has_the_map_that_it_has_alone(method, baselines):
    x, seeds = stack_inputs(), [5, 6, 7]
    together = attribution_map(small_stack(), x, method, baselines=baselines, seeds=seeds)
    assert together.shape == (MEMBERS, OUTPUTS, FEATURES)
    for member, seed in enumerate(seeds):
        alone = small_stack([member])
        one = attribution_map(alone, x[member : member + 1], method, baselines=baselines, seeds=seed)[0]
        plain = attribution_map(
            lambda rows, net=alone: net(rows[None])[0], x[member], method, baselines=baselines, seeds=seed
        )
        np.testing.assert_allclose(together[member], one, rtol=1e-5, atol=1e-6 * one.max())
        np.testing.assert_allclose(plain, one, rtol=1e-5, atol=1e-6 * one.max())


@pytest.mark.parametrize("aggregate", ["mean", "max"])
@pytest.mark.parametrize("method", METHODS)
def test_chunks_change_nothing(method, aggregate):
    encoder, x = small_stack().double(), stack_inputs().double()
    options = {"aggregate": aggregate, "baselines": "shuffled", "seeds": [1, 2, 3]}
    whole = attribution_map(encoder, x, method, **options)
    np.testing.assert_allclose(attribution_map(encoder, x, method, chunk=7, **options), whole, rtol=1e-9)


@pytest.mark.parametrize("method", ["neuron_gradient", "integrated_gradients", "inverted_jacobian"])
def test_the_callers_own_jacobian_is_used(method):
    encoder, x = small_stack(), stack_inputs()
    first, second = encoder[0].weight, encoder[2].weight

    def jacobian(inputs):
        hidden = torch.baddbmm(encoder[0].bias, inputs, first).requires_grad_()
        (slope,) = torch.autograd.grad(nn.functional.gelu(hidden).sum(), hidden)
        return 2 * torch.einsum("mdh,mbh,mho->mbod", first, slope, second)  # twice, to see that it is this one

    scale = 0.5 if method == "inverted_jacobian" else 2
    expected = scale * attribution_map(encoder, x, method)
    np.testing.assert_allclose(attribution_map(encoder, x, method, jacobian=jacobian), expected, rtol=1e-4)
    with pytest.raises(ValueError, match="jacobian must return"):
        attribution_map(encoder, x, method, jacobian=lambda inputs: jacobian(inputs).mT)


@pytest.mark.parametrize("method", METHODS)
def test_the_callers_module_is_left_as_it_was(method):
    encoder = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3))
    encoder[1].eval()  # a part that the caller has put into evaluation mode stays there
    encoder[0].weight.requires_grad_(False)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    x = torch.randn(30, 6)
    kept = x.clone()
    maps = [attribution_map(encoder, x, method) for _ in range(2)]
    np.testing.assert_array_equal(*maps)  # no dropout
    assert [module.training for module in encoder] == [True, False, True, True]
    assert encoder.training
    assert [p.requires_grad for p in encoder.parameters()] == [False, True, True, True, True, True]
    assert all(p.grad is None and p.dtype == torch.float32 for p in encoder.parameters())
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())
    assert torch.equal(x, kept)
    assert not x.requires_grad
    with pytest.raises(InputError):
        attribution_map(encoder, x * torch.nan, method)
    assert encoder.training


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("method", METHODS)
def test_it_works_where_gradients_are_off(method, context):
    encoder, x = small_stack(), stack_inputs()
    with context():
        inside = attribution_map(encoder, x + 0, method)  # inputs made in inference mode, too
        assert not torch.is_grad_enabled()
    np.testing.assert_array_equal(inside, attribution_map(encoder, x, method))


def test_arrays_are_taken_to_the_encoders_precision():
    encoder, x = nn.Linear(6, 2), np.random.default_rng(0).normal(size=(12, 6))
    expected = attribution_map(encoder, x.astype(np.float32), "integrated_gradients")
    np.testing.assert_allclose(attribution_map(encoder, x, "integrated_gradients"), expected, rtol=1e-6)
    counts = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(attribution_map(lambda v: 2 * v, counts, "neuron_gradient"), 2 * np.eye(3))


def test_draws_depend_on_the_seed_of_the_member_only():
    x = stack_inputs()
    together, other = (shap_draws(x, OUTPUTS, "shuffled", seeds) for seeds in ([0, 1, 2], [2, 1, 0]))
    assert torch.equal(together.rows[0], other.rows[2])
    assert torch.equal(together.shares[1], other.shares[1])
    assert not torch.equal(together.shares[0], together.shares[1])
    assert not torch.equal(together.shares[0, 0], together.shares[0, 1]), "each output has its own"
    flat = together.baselines.flatten(1)
    assert torch.equal(flat.sort(dim=1).values, x.flatten(1).sort(dim=1).values)
    assert not torch.equal(flat, x.flatten(1))
    with pytest.raises(ValueError, match="2 seeds for 3 members"):
        shap_draws(x, OUTPUTS, "zeros", [0, 1])


def test_a_diverged_member_spoils_no_other():
    encoder, x = small_stack(), stack_inputs()
    healthy = {method: attribution_map(encoder, x, method) for method in METHODS}
    with torch.no_grad():
        encoder[0].weight[1] = torch.nan
    for method in METHODS:
        found = attribution_map(encoder, x, method)
        assert np.isnan(found[1]).all()
        np.testing.assert_allclose(found[[0, 2]], healthy[method][[0, 2]], rtol=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.integers(0, 3), st.integers(-3, 3))
@settings(max_examples=60)
def test_the_inverse_is_the_pseudo_inverse_whatever_the_rank(seed, outputs, features, zero_rows, size):
    rng = np.random.default_rng(seed)
    rank = rng.integers(0, min(outputs, features) + 1)
    rows = rng.normal(size=(4, outputs, rank)) @ rng.normal(size=(4, rank, features)) * 10.0**size
    rows[:, rng.permutation(outputs)[:zero_rows]] = 0
    found = inverted(torch.tensor(rows)).numpy()
    expected = np.linalg.pinv(rows, rcond=ROUNDING * max(outputs, features)).swapaxes(-1, -2)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_dependent_rows_are_told():
    independent = torch.tensor([[1.0, 2, 0], [0, 0, 3]])
    twice, saturated = torch.tensor([[1.0, 2, 0], [-2, -4, 0]]), torch.tensor([[1.0, 2, 0], [0, 0, 0]])
    dead, broken = torch.zeros(2, 3), torch.tensor([[1.0, 2, math.nan], [0, 0, 1]])
    stacked = torch.stack([independent, twice, saturated, dead, broken])
    assert rank_deficient(stacked).tolist() == [False, True, True, True, True]
    assert rank_deficient(independent.mT).item()  # three outputs of two features
    nearly = torch.tensor([[1.0, 2, 0], [1, 2, 1e-6]])
    assert rank_deficient(nearly).item()  # in single precision they are the same
    assert rank_deficient(nearly.double()).item()  # the encoder was trained in it, whatever the maps are computed in
    nearly[1, 2] = 1e-5
    assert not rank_deficient(nearly).item()


def test_more_outputs_than_features_have_the_least_squares_inverse():
    weight = torch.randn(5, 2)
    expected = np.abs(np.linalg.pinv(weight.double().numpy()).T)
    np.testing.assert_allclose(attribution_map(lambda v: v @ weight.T, torch.ones(3, 2)), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nearly_dependent_and_nearly_saturated_rows_are_cut_off(dtype):
    rows = torch.tensor([[[1.0, 0.0, 0.0], [1.0, 1e-7, 0.0]]], dtype=dtype)  # the difference is rounding
    np.testing.assert_allclose(inverted(rows), [[[0.5, 0, 0], [0.5, 0, 0]]], atol=1e-6)
    rows = torch.tensor([[[2.0, 0.0, 0.0], [0.0, 1e-13, 0.0]]], dtype=dtype)  # tanh of a saturated output
    np.testing.assert_allclose(inverted(rows), [[[0.5, 0, 0], [0, 0, 0]]], atol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "error", "match"),
    [
        (torch.zeros(5), ValueError, "inputs must be"),
        (torch.zeros(0, 6), ValueError, "not empty"),
        (torch.tensor([[1.0, torch.nan], [0, 0], [torch.inf, 0]]), InputError, "2 of 3 samples"),
        (torch.zeros(4, 2, dtype=torch.float16), InputError, "single or double precision"),
    ],
)
def test_unusable_inputs_are_refused(inputs, error, match):
    with pytest.raises(error, match=match):
        attribution_map(lambda v: v, inputs)


@pytest.mark.parametrize("method", ["neuron_gradient", "integrated_gradients", "gradient_shap", "inverted_jacobian"])
@pytest.mark.parametrize("constant", [True, False])
def test_an_encoder_without_gradient_is_refused(method, constant):
    layer = nn.Linear(3, 2)

    class Detached(nn.Module):
        def forward(self, inputs):
            return layer(inputs.detach()) if constant else layer(inputs).detach()

    with pytest.raises(InputError, match="feature_ablation"):
        attribution_map(Detached(), torch.ones(4, 3), method)
    ablated = attribution_map(Detached(), torch.ones(4, 3), "feature_ablation")
    np.testing.assert_allclose(ablated, layer.weight.detach().abs(), rtol=1e-5, atol=1e-6)  # a difference of outputs


def test_unknown_names_and_wrong_shapes_are_refused():
    x = torch.ones(4, 3)
    for options, match in (
        ({"method": "saliency"}, "method must be one of neuron_gradient"),
        ({"aggregate": "sum"}, "mean or max"),
        ({"method": "gradient_shap", "baselines": "mean"}, "zeros or shuffled"),
        ({"chunk": 0}, "chunk must be 1 or more"),
    ):
        with pytest.raises(ValueError, match=match):
            attribution_map(lambda v: v, x, **options)
    with pytest.raises(ValueError, match=r"keep all axes but the last.*\(4, 3\) to \(4,\)"):
        attribution_map(lambda v: v.sum(dim=-1), x)


def test_an_encoder_that_returns_more_than_a_tensor_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match=r"returns a tuple, not a tensor: .*encoder\(x\)\[0\]"):
        attribution_map(lambda x: (x, x), torch.ones(3, 2), "neuron_gradient")
