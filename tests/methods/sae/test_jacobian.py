import numpy as np
import pytest
import torch
from torch.func import jacrev, vmap

from sparseid.data.mlp_block import ACTIVATIONS, MLPBlock
from sparseid.methods.sae import jacobian
from sparseid.methods.sae.jacobian import jacobian_block, mean_absolute_jacobian, through_hidden
from sparseid.methods.sae.losses import squared_error
from sparseid.methods.sae.networks import SparseAutoencoder


def mlp_of(width=5, hidden=7, activation="gelu", dtype=torch.float64):
    torch.manual_seed(1)
    shapes = (hidden, width), (hidden,), (width, hidden), (width,)
    return MLPBlock(*(torch.randn(*shape, dtype=dtype) for shape in shapes), activation)


def pair_of(width=5, features=9, k=3):
    torch.manual_seed(2)
    pair = [SparseAutoencoder(width, features, k, centred=False).double() for _ in range(2)]
    for network in pair:
        torch.nn.init.normal_(network.encoder)
    return pair


def parts_of(pair, mlp, inputs):
    """Arguments of the block, and the scores of both codes."""
    codes = [pair[0].encode(inputs).codes, pair[1].encode(mlp(inputs)).codes]
    active = [code.active.features.view(len(inputs), -1) for code in codes]
    return *through_hidden(pair[0].decoder, pair[1].encoder, mlp), mlp.slopes(inputs), *active


def test_the_pair_is_that_of_jsae_s_code(fixture_arrays):
    arrays = {key.removeprefix("gelu_new/"): value for key, value in fixture_arrays("ddl_jsae").items()}
    of_mlp = {name: torch.from_numpy(arrays[f"mlp/{name}"]) for name in ("W_in", "b_in", "W_out", "b_out")}
    mlp = MLPBlock(of_mlp["W_in"].T, of_mlp["b_in"], of_mlp["W_out"].T, of_mlp["b_out"], "gelu_new")
    pair = [SparseAutoencoder(8, 20, int(arrays["k"]), centred=False) for _ in range(2)]
    names = {"encoder": "W_enc", "encoder_bias": "b_enc", "decoder": "W_dec", "decoder_bias": "b_dec"}
    for network, part in zip(pair, ("sae_in", "sae_out"), strict=True):
        values = {ours: torch.from_numpy(arrays[f"{part}/{theirs}"]) for ours, theirs in names.items()}
        values["encoder"] = values["encoder"].T
        network.load_state_dict(values, strict=False)

    inputs = torch.from_numpy(arrays["x"])
    tokens = inputs, mlp(inputs)
    close = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(tokens[1], arrays["out/mlp_out"], **close)
    into, out, slopes, *active = parts_of(pair, mlp, inputs)
    block = jacobian_block(into, out, slopes, *active)
    for ours, theirs in zip(active, ("active_in", "active_out"), strict=True):
        np.testing.assert_array_equal(ours, arrays[f"out/{theirs}"])
    np.testing.assert_allclose(block.detach(), arrays["out/jacobian"], **close)
    losses = []
    for network, each, end in zip(pair, tokens, ("", "2"), strict=True):
        codes = network.encode(each).codes
        np.testing.assert_allclose(codes.dense().detach(), arrays[f"out/feature_acts{end}"], **close)
        np.testing.assert_allclose(network.decode(codes).detach(), arrays[f"out/sae_out{end}"], **close)
        losses.append(squared_error(network.decode(codes), each))
        assert losses[-1].item() == pytest.approx(float(arrays[f"out/mse_loss{end}"]), rel=1e-4)
    losses.append(float(arrays["jacobian_coefficient"]) * mean_absolute_jacobian(into, out, slopes, *active))
    assert losses[-1].item() == pytest.approx(float(arrays["out/jacobian_loss"]), rel=1e-4)
    assert losses[-1].item() == pytest.approx(float(arrays["metric/l1"]), rel=1e-4)
    sum(losses).backward()
    assert sum(losses).item() == pytest.approx(float(arrays["out/loss"]), rel=1e-4)
    for network, part in zip(pair, ("sae_in", "sae_out"), strict=True):
        for ours, theirs in names.items():
            gradient = getattr(network, ours).grad
            gradient = gradient.T if ours == "encoder" else gradient
            np.testing.assert_allclose(gradient, arrays[f"grad/{part}/{theirs}"], err_msg=f"{part} {ours}", **close)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_the_block_is_the_jacobian_of_the_mlp_between_the_codes(activation):
    mlp, pair, inputs = mlp_of(activation=activation), pair_of(), torch.randn(4, 5, dtype=torch.float64)
    into, out, slopes, active_in, active_out = parts_of(pair, mlp, inputs)
    block = jacobian_block(into, out, slopes, active_in, active_out)

    def scores(code, rest):  # all output scores of an input code; `rest` makes the decoded input the true one
        decoded = code @ pair[0].decoder + rest
        return mlp(decoded) @ pair[1].encoder.T + pair[1].encoder_bias

    code = pair[0].encode(inputs).codes.dense().detach()
    whole = vmap(jacrev(scores))(code, inputs - code @ pair[0].decoder)
    for token in range(4):
        torch.testing.assert_close(block[token], whole[token][active_out[token]][:, active_in[token]])


def test_the_mean_of_absolute_entries_and_its_gradient_do_not_depend_on_how_many_tokens_are_taken_at_once(monkeypatch):
    monkeypatch.setitem(jacobian.TOKENS_AT_ONCE, "cpu", 3)
    mlp, pair, inputs = mlp_of(), pair_of(), torch.randn(7, 5, dtype=torch.float64)
    parameters = [pair[0].decoder, pair[1].encoder]
    parts = parts_of(pair, mlp, inputs)
    plain = jacobian_block(*parts).abs().mean()
    ours = mean_absolute_jacobian(*parts)
    torch.testing.assert_close(ours, plain)
    wanted = torch.autograd.grad(2 * plain, parameters, retain_graph=True)
    for mine, theirs in zip(torch.autograd.grad(2 * ours, parameters), wanted, strict=True):
        torch.testing.assert_close(mine, theirs)
    with torch.no_grad():
        torch.testing.assert_close(mean_absolute_jacobian(*parts), plain.detach())
