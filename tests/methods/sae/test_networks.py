import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from sparseid.methods.sae.losses import idle_error, squared_error
from sparseid.methods.sae.networks import SparseAutoencoder, standardised


def tensor(arrays, name):
    return torch.from_numpy(arrays[name])


def with_weights(arrays, case, per_batch):
    """The peer's network; it keeps encoder and dictionary as (width, features) and (features, width)."""
    encoder, decoder = tensor(arrays, f"{case}/W_enc"), tensor(arrays, f"{case}/W_dec")
    network = SparseAutoencoder(decoder.shape[1], len(decoder), int(arrays[f"{case}/top_k"]), per_batch=per_batch)
    values = {"encoder": encoder.T, "decoder": decoder, "decoder_bias": tensor(arrays, f"{case}/b_dec")}
    network.load_state_dict(values | {"idle": tensor(arrays, f"{case}/inactive_before").long()})
    return network


@pytest.mark.parametrize(("case", "per_batch"), [("topk", False), ("batchtopk", True)])
def test_outputs_losses_and_gradients_are_those_of_batch_topk_s_code(fixture_arrays, case, per_batch):
    arrays = fixture_arrays("ddl_topk_sae")
    network = with_weights(arrays, case, per_batch)
    dead_after, most = (int(arrays[f"{case}/{name}"]) for name in ("n_batches_to_dead", "top_k_aux"))
    weight = float(arrays[f"{case}/aux_penalty"])
    for step in ("step0", "step1", "step2"):
        of = {key.split("/")[2]: arrays[key] for key in arrays if key.startswith(f"{case}/{step}/")}
        tokens = standardised(torch.from_numpy(of["x"]))
        encoded = network.encode(tokens.values)
        network.count_idle(encoded.codes)
        reconstructions = network.decode(encoded.codes)
        error = squared_error(reconstructions, tokens.values)
        from_idle = network.from_idle(tokens.values, encoded, dead_after, most)
        idle = weight * idle_error(from_idle, reconstructions, tokens.values)
        close = {"rtol": 1e-5, "atol": 1e-6}
        np.testing.assert_allclose(encoded.codes.dense().detach(), of["feature_acts"], **close)
        np.testing.assert_allclose(tokens.undone(reconstructions).detach(), of["sae_out"], **close)
        np.testing.assert_array_equal(network.idle, of["inactive_after"])
        assert int((network.idle > dead_after).sum()) == of["num_dead_features"]
        assert error.item() == pytest.approx(of["l2_loss"], rel=1e-5)
        assert idle.item() == pytest.approx(of["aux_loss"], rel=1e-5)
        network.zero_grad()
        (error + idle).backward()
        gradient = {"rtol": 1e-4, "atol": 1e-7}
        np.testing.assert_allclose(network.encoder.grad.T, of["grad_W_enc"], **gradient)
        np.testing.assert_allclose(network.decoder.grad, of["grad_W_dec"], **gradient)
        np.testing.assert_allclose(network.decoder_bias.grad, of["grad_b_dec"], **gradient)
    network.normalise_decoder()
    np.testing.assert_allclose(network.decoder.detach(), arrays[f"{case}/after_projection/W_dec"], rtol=1e-5)
    np.testing.assert_allclose(network.decoder.grad, arrays[f"{case}/after_projection/grad_W_dec"], **gradient)


@settings(max_examples=30)
@given(
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(2, 9),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**31),
    st.data(),
)
def test_sparse_products_have_the_values_and_gradients_of_dense_ones(
    tokens, width, features, per_batch, centred, seed, data
):
    k = data.draw(st.integers(1, features))
    torch.manual_seed(seed)
    network = SparseAutoencoder(width, features, k, per_batch, centred).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_()
    inputs = torch.randn(tokens, width, dtype=torch.float64)
    ours = network(inputs)
    shifted = inputs - network.decoder_bias if centred else inputs
    scores = functional.linear(shifted, network.encoder, network.encoder_bias)
    flat = scores.flatten() if per_batch else scores
    kept = torch.zeros_like(flat).scatter(-1, flat.topk(k * tokens if per_batch else k).indices, 1).view_as(scores)
    theirs = (kept * scores).relu() @ network.decoder + network.decoder_bias
    torch.testing.assert_close(ours, theirs)
    parameters = list(network.parameters())
    for mine, dense in zip(
        *(torch.autograd.grad(each.square().sum(), parameters) for each in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(mine, dense)


def test_a_batch_has_k_features_for_each_token_on_average():
    torch.manual_seed(0)
    network = SparseAutoencoder(6, 30, 3, per_batch=True)
    codes = network.encode(torch.randn(50, 6)).codes
    each = torch.bincount(codes.active.tokens, minlength=50)
    assert each.sum() == 150
    assert each.min() < 3 < each.max()


def test_features_count_the_batches_in_which_they_are_idle():
    network = SparseAutoencoder(2, 3, 1, centred=False)
    with torch.no_grad():
        network.encoder.copy_(torch.tensor([[1.0, 0], [0, 1], [-1, -1]]))
    one = torch.tensor([[2.0, 0]])
    for inputs in (one, one, torch.tensor([[0, 1.0]])):
        network.count_idle(network.encode(inputs).codes)
    assert network.idle.tolist() == [1, 0, 3]
    encoded = network.encode(one)
    assert network.from_idle(one, encoded, 4, 1) is None
    assert network.from_idle(one, encoded, 3, 1).tolist() == [[0, 0]]  # its score is negative


def test_a_feature_with_a_negative_score_is_not_active():
    network = SparseAutoencoder(1, 2, 2, centred=False)
    with torch.no_grad():
        network.encoder.copy_(torch.tensor([[1.0], [-1.0]]))
    codes = network.encode(torch.tensor([[3.0]])).codes
    assert codes.dense().tolist() == [[3, 0]]
    assert codes.counts().tolist() == [1, 0]


def test_gradients_along_the_dictionary_are_removed():
    torch.manual_seed(0)
    network = SparseAutoencoder(4, 8, 2).double()
    with torch.no_grad():
        network.decoder.mul_(3)
    network(torch.randn(5, 4, dtype=torch.float64)).square().sum().backward()
    network.normalise_decoder()
    torch.testing.assert_close(network.decoder.norm(dim=1), torch.ones(8, dtype=torch.float64))
    along = (network.decoder.grad * network.decoder).sum(dim=1)
    torch.testing.assert_close(along, torch.zeros_like(along))


def test_initial_weights_are_those_of_the_repositories():
    torch.manual_seed(0)
    centred, pair = SparseAutoencoder(4, 600, 2), SparseAutoencoder(4, 600, 2, centred=False)
    assert centred.encoder_bias is None
    assert centred.encoder.abs().max().item() == pytest.approx(0.1, rel=0.01)  # sqrt(6/600)
    torch.testing.assert_close(functional.normalize(centred.encoder, dim=1), centred.decoder)
    assert torch.equal(pair.encoder, pair.decoder)
    torch.testing.assert_close(pair.decoder.norm(dim=1), torch.ones(600))
    assert not pair.encoder_bias.any()
    assert not pair.decoder_bias.any()
