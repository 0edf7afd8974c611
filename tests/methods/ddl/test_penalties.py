import itertools
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import jacfwd, vmap

from sparseid.methods.ddl import penalties
from sparseid.stacking.layers import stacked_mlp
from sparseid.stacking.members import generators


def decoder_of(sizes, members=2, slope=0.2, dtype=torch.float64, inplace=False):
    return stacked_mlp(sizes, generators(range(members), "init"), partial(nn.LeakyReLU, slope, inplace)).to(dtype)


def latents_of(members, batch, size, seed=0, dtype=torch.float64):
    return torch.randn(members, batch, size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def with_weights(arrays, case, activation=None):
    """A stack of one member with the arrays' weights (out x in)."""
    weights = [torch.from_numpy(arrays[f"{case}/W{layer}"]) for layer in range(sum(f"{case}/W" in k for k in arrays))]
    sizes = [weights[0].shape[1], *(len(weight) for weight in weights)]
    decoder = stacked_mlp(sizes, generators([0], "init"), activation or partial(nn.LeakyReLU, 0.2)).to(weights[0].dtype)
    for layer, weight in enumerate(weights):
        decoder[2 * layer].weight.data = weight.T[None].clone()
        decoder[2 * layer].bias.data = torch.from_numpy(arrays[f"{case}/b{layer}"])[None, None]
    return decoder, torch.from_numpy(arrays[f"{case}/z"])[None].requires_grad_()


def gradient(value, decoder, kind="weight"):
    """Gradients of all layers, (out, in) each."""
    layers = [layer for layer in decoder if hasattr(layer, "weight")]
    found = torch.autograd.grad(value.sum(), [getattr(layer, kind) for layer in layers], retain_graph=True)
    return [tensor[0].T if kind == "weight" else tensor[0, 0] for tensor in found]


# the Jacobian


@settings(max_examples=25)
@given(members=st.integers(1, 3), batch=st.integers(1, 5), sizes=st.lists(st.integers(1, 6), min_size=2, max_size=4))
def test_values_tangents_and_gradients_are_those_of_forward_mode_differentiation(members, batch, sizes):
    decoder = decoder_of(sizes, members)
    latents = latents_of(members, batch, sizes[0]).requires_grad_()
    parameters = list(decoder.parameters())
    weights = parameters[::2]

    def single(maps, sample):  # one member, one sample
        for layer in range(0, len(maps), 2):
            sample = sample @ maps[layer] + maps[layer + 1][0]
            if layer < len(maps) - 2:
                sample = nn.functional.leaky_relu(sample, 0.2)
        return sample

    reference = vmap(vmap(jacfwd(single, argnums=1), in_dims=(None, 0)))(parameters, latents)
    values, tangents = penalties.value_and_tangents(decoder, latents)
    torch.testing.assert_close(values, decoder(latents))
    torch.testing.assert_close(tangents.transpose(2, 3), reference)
    value = penalties.dependency_sparsity(tangents, sizes[0])
    torch.testing.assert_close(value, reference.abs().sum(dim=(2, 3)).mean(dim=1))
    wanted = torch.autograd.grad(reference.abs().sum() / batch, weights)
    for ours, theirs in zip(torch.autograd.grad(value.sum(), weights), wanted, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_decoder_that_works_in_place_has_the_same_tangents():
    latents = latents_of(2, 4, 3, dtype=torch.float32)
    plain, inplace = (decoder_of([3, 8, 8, 6], dtype=torch.float32, inplace=flag) for flag in (False, True))
    for ours, theirs in zip(*(penalties.value_and_tangents(d, latents) for d in (plain, inplace)), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("decoder", [nn.Linear(3, 4), nn.Sequential(nn.Linear(3, 4), nn.Tanh())])
def test_other_decoders_are_refused(decoder):
    with pytest.raises(TypeError, match=r"Sequential of StackedLinear and LeakyReLU .*, not of Linear"):
        penalties.value_and_tangents(decoder, torch.ones(1, 2, 3))


def test_the_l1_norm_is_that_of_other_implementations(fixture_arrays):
    arrays = fixture_arrays("ddl_jacobian_l1")
    decoder, latents = with_weights(arrays, "lrelu")
    tangents = penalties.value_and_tangents(decoder, latents)[1]
    tolerance = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(tangents[0].detach().transpose(1, 2), arrays["lrelu/jacobian"], **tolerance)
    value = penalties.dependency_sparsity(tangents, 5)
    assert value.item() == pytest.approx(float(arrays["lrelu/l1_mean_over_batch_of_sums"]), rel=1e-9)
    for layer, ours in enumerate(gradient(value, decoder)):
        np.testing.assert_allclose(ours, arrays[f"lrelu/grad_l1_W{layer}"], **tolerance)
    for layer in range(3):  # slopes are constant: biases move no Jacobian
        assert not arrays[f"lrelu/grad_l1_b{layer}"].any()


def test_a_stack_has_the_values_that_its_members_have_alone():
    decoder, latents = decoder_of([3, 8, 8, 6], members=3), latents_of(3, 5, 3)
    together = penalties.dependency_sparsity(penalties.value_and_tangents(decoder, latents)[1], 3)
    for member in range(3):
        alone = decoder_of([3, 8, 8, 6], members=3)
        for layer in alone[::2]:
            layer.weight.data, layer.bias.data = (part[member : member + 1] for part in (layer.weight, layer.bias))
        tangents = penalties.value_and_tangents(alone, latents[member : member + 1])[1]
        torch.testing.assert_close(penalties.dependency_sparsity(tangents, 3), together[member : member + 1])


@pytest.mark.parametrize("drawn", [1, 2, 4])
def test_random_coordinates_estimate_the_l1_norm_without_bias(drawn):
    """Averaged over all sets of coordinates the estimate is exact, and so is its gradient."""
    decoder, latents = decoder_of([4, 7, 5]), latents_of(2, 3, 4)
    sets = list(itertools.combinations(range(4), drawn))
    estimates = []
    for chosen in sets:
        coordinates = torch.tensor(chosen).expand(2, 3, -1)
        tangents = penalties.value_and_tangents(decoder, latents, coordinates)[1]
        assert tangents.shape == (2, 3, drawn, 5)
        estimates.append(penalties.dependency_sparsity(tangents, 4))
    estimate = torch.stack(estimates).mean(dim=0)
    exact = penalties.dependency_sparsity(penalties.value_and_tangents(decoder, latents)[1], 4)
    torch.testing.assert_close(estimate, exact)
    for ours, theirs in zip(gradient(estimate, decoder), gradient(exact, decoder), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_each_sample_has_coordinates_of_its_own():
    decoder, latents = decoder_of([3, 6, 4], members=1), latents_of(1, 2, 3)
    every = penalties.value_and_tangents(decoder, latents)[1]
    chosen = penalties.value_and_tangents(decoder, latents, torch.tensor([[[2, 0], [1, 1]]]))[1]
    torch.testing.assert_close(chosen[0, 0], every[0, 0, [2, 0]])
    torch.testing.assert_close(chosen[0, 1], every[0, 1, [1, 1]])


@given(scale=st.floats(0.1, 10))
def test_inflated_latents_shrink_the_norm_but_not_the_normalised_one(scale):
    decoder, latents = decoder_of([3, 8, 6]), latents_of(2, 40, 3)
    tangents = penalties.value_and_tangents(decoder, latents)[1]
    inflated = tangents / scale, latents * scale
    torch.testing.assert_close(
        penalties.dependency_sparsity(inflated[0], 3), penalties.dependency_sparsity(tangents, 3) / scale
    )
    torch.testing.assert_close(
        penalties.normalised_dependency(*inflated), penalties.normalised_dependency(tangents, latents)
    )


def test_normalised_dependency_of_latents_of_unit_variance_is_the_norm():
    latents = latents_of(2, 40, 3)
    latents = latents / latents.std(dim=1, keepdim=True)
    tangents = penalties.value_and_tangents(decoder_of([3, 8, 6]), latents)[1]
    torch.testing.assert_close(
        penalties.normalised_dependency(tangents, latents), penalties.dependency_sparsity(tangents, 3)
    )


def test_latent_sparsity_is_the_mean_l1_norm():
    assert penalties.latent_sparsity(torch.tensor([[[1.0, -2.0], [0.0, 3.0]]])).tolist() == [3.0]


# OroJAR and the Hessian penalty

PEERS = {"orojar": penalties.orojar, "hessian": penalties.hessian_penalty}
Tolerance = dict[str, float]
ROUNDING: dict[tuple[str, str], Tolerance] = {
    ("tanh_float64", "orojar"): {"rtol": 1e-5, "atol": 1e-6},  # their step is a float32
    ("tanh_float64", "hessian"): {"rtol": 1e-5, "atol": 1e-5},
    ("lrelu_float32_multi", "orojar"): {"rtol": 1e-4, "atol": 2e-4},
    ("lrelu_float32_multi", "hessian"): {"rtol": 5e-3, "atol": 5e-2},
}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize(("case", "activation"), [("tanh_float64", nn.Tanh), ("lrelu_float32_multi", None)])
def test_values_and_gradients_are_those_of_the_authors_code(fixture_arrays, case, activation, peer):
    """With several layers theirs sums the penalties of hidden units, behind their activation, and of the output."""
    arrays = fixture_arrays("ddl_penalties")
    assert float(arrays[f"{case}/epsilon"]) == penalties.STEP
    decoder, latents = with_weights(arrays, case, activation)
    signs = torch.from_numpy(arrays[f"{case}/{peer}/rademacher"]).to(latents.dtype).transpose(0, 1)[None]
    theirs = np.atleast_1d(arrays[f"{case}/{peer}/penalty"])
    layers = [decoder[:end] for end in (2, 4)] if len(theirs) > 1 else []
    values = [PEERS[peer](part, latents, part(latents), signs) for part in (*layers, decoder)]
    rounding = ROUNDING[case, peer]
    np.testing.assert_allclose([value.item() for value in values], theirs, rtol=rounding["rtol"])
    for layer, ours in enumerate(gradient(sum(values), decoder)):
        np.testing.assert_allclose(ours, arrays[f"{case}/{peer}/grad_W{layer}"], **rounding)


def all_signs(size):
    return torch.tensor(list(itertools.product([-1.0, 1.0], repeat=size)), dtype=torch.float64)


def test_orojar_estimates_twice_the_squares_off_the_diagonal_of_the_gram_matrix():
    """Exact for a linear map: over all signs the variance is population's, that of n - 1 is larger by n / (n - 1)."""
    decoder, latents, signs = decoder_of([3, 5], members=2), latents_of(2, 1, 3), all_signs(3)
    gram = decoder[0].weight @ decoder[0].weight.mT
    off = (gram - torch.diag_embed(gram.diagonal(dim1=1, dim2=2))).square().sum(dim=(1, 2))
    value = penalties.orojar(decoder, latents, decoder(latents), signs.expand(2, 1, -1, -1))
    torch.testing.assert_close(value, 2 * off * 8 / 7)


def test_the_hessian_penalty_estimates_twice_the_squares_off_the_diagonal_of_the_hessian():
    """Exact for a quadratic map, of which the second output is additive and not penalised."""
    matrix = torch.tensor([[0.5, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 1.0]], dtype=torch.float64)

    def decode(z):
        return torch.stack([0.5 * torch.einsum("mbi,ij,mbj->mb", z, matrix, z), z.square().sum(dim=2)], dim=2)

    latents, signs = latents_of(1, 4, 3), all_signs(3).expand(1, 4, -1, -1)
    value = penalties.hessian_penalty(decode, latents, decode(latents), signs)
    off = matrix.square().sum() - matrix.diagonal().square().sum()
    torch.testing.assert_close(value, (2 * off * 8 / 7)[None], rtol=1e-6, atol=0)
    additive = penalties.hessian_penalty(lambda z: decode(z)[..., 1:], latents, decode(latents)[..., 1:], signs)
    torch.testing.assert_close(additive, torch.zeros(1, dtype=torch.float64), rtol=0, atol=1e-8)


def test_orthogonal_columns_are_not_penalised_by_orojar():
    decoder = decoder_of([3, 3], members=1)
    decoder[0].weight.data = torch.diag(torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64))[None]
    latents = latents_of(1, 5, 3)
    value = penalties.orojar(decoder, latents, decoder(latents), all_signs(3).expand(1, 5, -1, -1))
    assert value.item() == pytest.approx(0, abs=1e-12)
