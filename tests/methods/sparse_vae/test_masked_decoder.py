"""The vectorised decoder against a loop over features, forward and gradient."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.methods.sparse_vae import masked_decoder
from sparseid.methods.sparse_vae.masked_decoder import MaskedDecoder, masked_decode
from sparseid.stacking import chunking
from sparseid.stacking.members import generators


def prepared(members=2, batch=5, latents=3, hidden=6, features=4, seed=0):
    decoder = MaskedDecoder(latents, hidden, features, generators(range(members), "init")).double()
    z = torch.randn(members, batch, latents, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return decoder, z.requires_grad_()


def loop(decoder, z, features=None):
    """Decode one feature after the other, as the authors' code does."""
    outputs = []
    for j in range(decoder.selector.shape[1]) if features is None else features:
        hidden = decoder.second(decoder.first(z * decoder.selector[:, None, j]).relu()).relu()
        outputs.append((hidden * decoder.heads.weight[:, None, :, j]).sum(dim=2) + decoder.heads.bias[..., j])
    return torch.stack(outputs, dim=2)


def gradients(outputs, decoder, z):
    weights = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(1), dtype=outputs.dtype)
    return torch.autograd.grad((outputs * weights).sum(), [z, *decoder.parameters()])


@pytest.fixture(params=["kept", "computed again"])
def activations(request, monkeypatch):
    if request.param == "computed again":
        monkeypatch.setitem(masked_decoder.KEPT, "cpu", 0)


@pytest.mark.usefixtures("activations")
@pytest.mark.parametrize("floats", [1, 60, 2**18])
def test_it_is_the_loop_over_features_whatever_parts_it_works_in(monkeypatch, floats):
    monkeypatch.setitem(chunking.PART_FLOATS, "cpu", floats)
    decoder, z = prepared(members=3, features=9)
    torch.testing.assert_close(decoder(z), loop(decoder, z))
    torch.testing.assert_close(gradients(decoder(z), decoder, z), gradients(loop(decoder, z), decoder, z))


@settings(max_examples=25)
@given(*(st.integers(1, 6) for _ in range(5)))
def test_it_is_the_loop_for_all_sizes(members, batch, latents, hidden, features):
    decoder, z = prepared(members, batch, latents, hidden, features)
    torch.testing.assert_close(decoder(z), loop(decoder, z))
    torch.testing.assert_close(gradients(decoder(z), decoder, z), gradients(loop(decoder, z), decoder, z))


def test_in_single_precision_it_is_the_loop_at_the_size_of_the_papers():
    decoder, z = prepared(members=1, batch=100, latents=20, hidden=50, features=70)
    decoder, z = decoder.float(), z.detach().float().requires_grad_()
    torch.testing.assert_close(decoder(z), loop(decoder, z), rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(gradients(decoder(z), decoder, z), gradients(loop(decoder, z), decoder, z), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4 * float(theirs.abs().max()))


def test_some_features_are_those_of_all():
    decoder, z = prepared(features=9)
    chosen = torch.tensor([7, 2, 3])
    torch.testing.assert_close(decoder(z, chosen), decoder(z)[..., chosen])
    torch.testing.assert_close(
        gradients(decoder(z, chosen), decoder, z), gradients(loop(decoder, z, chosen.tolist()), decoder, z)
    )


def test_gradients_are_those_of_finite_differences():
    decoder, z = prepared(members=1, batch=2, features=3)
    inputs = (decoder.selector, decoder.first.weight, decoder.second.weight, decoder.second.bias)
    assert torch.autograd.gradcheck(masked_decode, (z, *inputs, decoder.heads.weight, decoder.heads.bias))


def test_nothing_is_kept_without_gradients_or_beyond_the_limit(monkeypatch):
    kept = []
    save = masked_decoder._hidden
    monkeypatch.setattr(masked_decoder, "_hidden", lambda *inputs: kept.append(1) or save(*inputs))
    decoder, z = prepared()
    gradients(decoder(z), decoder, z)
    once = len(kept)
    monkeypatch.setitem(masked_decoder.KEPT, "cpu", 0)
    gradients(decoder(z), decoder, z)
    assert len(kept) == 3 * once


def test_a_member_that_is_not_finite_spoils_no_other():
    decoder, z = prepared()
    alone = gradients(decoder(z), decoder, z)
    with torch.no_grad():
        decoder.selector[1] = torch.nan
    spoilt = gradients(decoder(z), decoder, z)
    for before, after in zip(alone, spoilt, strict=True):
        torch.testing.assert_close(after[0], before[0])
    assert torch.isnan(spoilt[0][1]).all()
