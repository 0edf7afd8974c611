import numpy as np
import pytest
import torch
from torch.func import jacrev, vmap

from sparseid.methods.regcl.encoder import StackedEncoder
from sparseid.methods.regcl.jacobian import gelu_slope, pull_back, row_norms
from sparseid.methods.regcl.penalty import LinearRamp, exact_penalty, penalty_terms, projected_penalty, unit_directions
from sparseid.stacking import chunking
from sparseid.stacking.members import generators

WHOLE, LAST = slice(0, 4), slice(2, 4)


@pytest.fixture(params=["clip", "tanh"])
def peer(fixture_arrays, request):
    """cebra's network of a head as a stack of one, its arrays without the head's name, and its samples."""
    head = request.param
    arrays = fixture_arrays("regcl_jacobian")
    last = arrays["W3"] if head == "clip" else arrays["W3_tanh"]
    encoder = StackedEncoder(20, 4, 4, generators([0], "init"), head, 5.0 if head == "clip" else 1.0)
    for number, (layer, weight) in enumerate(
        zip(encoder.layers, [arrays["W0"], arrays["W1"], arrays["W2"], last], strict=True)
    ):
        layer.weight.data = torch.from_numpy(weight.T.copy())[None]
        layer.bias.data = torch.from_numpy(arrays[f"b{number}"])[None, None]
    own = {name.removesuffix(f"_{head}"): value for name, value in arrays.items()}
    return encoder, own, torch.from_numpy(arrays["x"])[None]


@pytest.fixture
def stack():
    """Three members in double precision whose outputs are clipped now and then."""
    encoder = StackedEncoder(7, 4, 1, generators([3, 0, 7], "init"), "clip", 0.2).double()
    return encoder, torch.randn(3, 25, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def alone(encoder, member, inputs):
    """Jacobian of one member by torch.func."""
    parameters = {name: value[member : member + 1] for name, value in encoder.named_parameters()}

    def encode(sample):
        return torch.func.functional_call(encoder, parameters, sample[None, None])[0, 0]

    return vmap(jacrev(encode))(inputs[member])


def test_outputs_and_jacobian_are_cebras(peer):
    encoder, arrays, inputs = peer
    np.testing.assert_allclose(encoder(inputs)[0].detach(), arrays["y"], atol=1e-5)
    np.testing.assert_allclose(encoder.jacobian(inputs)[0].detach(), arrays["J"], atol=1e-5)
    double = encoder.double().jacobian(inputs.double())[0].detach()
    np.testing.assert_allclose(double, arrays["J64"], atol=1e-10)
    if encoder.head == "clip":
        assert (double[torch.from_numpy(arrays["saturated"])] == 0).all()


def test_the_penalty_and_its_gradients_are_cebras(peer):
    encoder, arrays, inputs = peer
    for (start, stop), expected in zip(arrays["slices"], arrays["R_exact"], strict=True):
        terms = penalty_terms([slice(start, stop)], 4, "code")
        np.testing.assert_allclose(exact_penalty(encoder, encoder.trace(inputs), terms).item(), expected, rtol=1e-5)
    exact_penalty(encoder, encoder.trace(inputs), penalty_terms([WHOLE], 4, "code")).sum().backward()
    for number, layer in enumerate(encoder.layers):
        gradient = layer.weight.grad[0].T
        np.testing.assert_allclose(gradient.double().norm(), arrays[f"dR_dW{number}_norm"], rtol=1e-5)
        if f"dR_dW{number}" in arrays:
            np.testing.assert_allclose(gradient, arrays[f"dR_dW{number}"], rtol=1e-4, atol=1e-6)
        bias = torch.zeros(1) if layer.bias.grad is None else layer.bias.grad[0, 0]  # of the clip's last map: none
        np.testing.assert_allclose(
            bias.expand(len(arrays[f"b{number}"])), arrays[f"dR_db{number}"], rtol=1e-4, atol=1e-6
        )


def test_the_estimate_is_cebras_for_its_directions(peer):
    encoder, arrays, inputs = peer
    terms, trace = penalty_terms([WHOLE], 4, "code"), encoder.trace(inputs)
    estimates = [
        projected_penalty(encoder, trace, terms, [torch.from_numpy(direction)[None]]).item()
        for direction in arrays["v_proj3"]
    ]
    np.testing.assert_allclose(np.mean(estimates), arrays["R_proj3"], rtol=1e-5)


def test_the_mean_of_the_estimates_is_the_penalty(stack):
    encoder, inputs = stack
    terms, trace = penalty_terms([WHOLE, LAST], 4, "code"), encoder.trace(inputs)
    drawn = generators([3, 0, 7], "projection")
    estimates = torch.stack(
        [
            projected_penalty(encoder, trace, terms, [part.double() for part in unit_directions(25, terms, drawn)])
            for _ in range(400)
        ]
    ).detach()
    error = estimates.std(dim=0) / 20
    assert ((estimates.mean(dim=0) - exact_penalty(encoder, trace, terms)).abs() < 4 * error).all()


@pytest.mark.parametrize("head", ["clip", "tanh", "identity"])
def test_the_jacobian_is_that_of_torch_func(stack, head):
    encoder, inputs = stack
    encoder.head = head
    jacobian = encoder.jacobian(inputs)
    for member in range(3):
        torch.testing.assert_close(jacobian[member], alone(encoder, member, inputs))
    assert (jacobian == 0).all(dim=-1).any() == (head == "clip")


@pytest.mark.parametrize("head", ["clip", "tanh", "identity"])
@pytest.mark.parametrize("form", ["code", "paper"])
def test_the_penalty_and_its_gradients_are_those_of_torch_func(stack, head, form):
    encoder, inputs = stack
    encoder.head = head
    encoder.scale = 0.5
    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

    def gradients(penalties):
        return torch.autograd.grad((weights * penalties).sum(), list(encoder.parameters()), materialize_grads=True)

    penalties = exact_penalty(encoder, encoder.trace(inputs), penalty_terms([WHOLE, LAST], 4, form))
    squares = torch.stack([alone(encoder, member, inputs) for member in range(3)]).square().mean(dim=1).sum(dim=-1)
    expected = (0.5 * squares.sum(dim=1) + 0.5 * squares[:, 2:].sum(dim=1)) if form == "code" else squares.sum(dim=1)
    torch.testing.assert_close(penalties, expected)
    torch.testing.assert_close(gradients(penalties), gradients(expected))


@pytest.mark.parametrize("floats", [1, 400, 2000])
def test_the_parts_it_is_made_in_change_nothing(stack, monkeypatch, floats):
    encoder, inputs = stack

    def both():
        penalties = exact_penalty(encoder, encoder.trace(inputs), penalty_terms([WHOLE], 4, "code"))
        return penalties, torch.autograd.grad(penalties.sum(), encoder.weights)

    whole = both()
    monkeypatch.setitem(chunking.PART_FLOATS, "cpu", floats)
    torch.testing.assert_close(both(), whole)


def test_gradients_are_those_of_finite_differences():
    drawn = torch.Generator().manual_seed(0)

    def random(*shape):
        return torch.randn(*shape, generator=drawn, dtype=torch.float64, requires_grad=True)

    weights, slopes = [random(2, 3, 5), random(2, 5, 4), random(2, 4, 2)], [random(2, 6, 5), random(2, 6, 4)]

    def norms(factors, *tensors):
        return row_norms(factors, tensors[:3], tensors[3:])

    assert torch.autograd.gradcheck(norms, (random(2, 6, 2), *weights, *slopes))
    assert torch.autograd.gradcheck(gelu_slope, random(9))


def test_row_norms_are_those_of_the_rows_pulled_back():
    weights, slopes = (
        [torch.randn(2, 3, 5), torch.randn(2, 5, 4), torch.randn(2, 4, 2)],
        [
            torch.randn(2, 6, 5),
            torch.randn(2, 6, 4),
        ],
    )
    rows = pull_back(torch.eye(2).expand(2, 6, 2, 2), weights, slopes)
    factors = torch.rand(2, 6, 2)
    expected = (factors * rows.square().sum(dim=-1)).sum(dim=(1, 2))
    torch.testing.assert_close(row_norms(factors, weights, slopes), expected)


@pytest.mark.parametrize("case", ["paper", "notebook"])
def test_the_ramp_is_cebras(fixture_arrays, case):
    arrays = fixture_arrays("regcl_schedule")
    on, off, start, end, _ = arrays[f"{case}_params"]
    assert start == 0
    ramp = LinearRamp(on, off, end)
    weights = np.nan_to_num(arrays[f"{case}_weights"][:, 0])  # NaN: cebra takes no penalty yet
    np.testing.assert_allclose([ramp.weight(int(step)) for step in arrays[f"{case}_steps"]], weights, atol=1e-12)


def test_a_ramp_without_length_jumps():
    ramp = LinearRamp(on=3, off=3, end=0.1)
    assert [ramp.weight(step) for step in (0, 2, 3, 4)] == [0, 0, 0.1, 0.1]
