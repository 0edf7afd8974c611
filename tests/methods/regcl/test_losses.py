import math

import numpy as np
import pytest
import torch

from sparseid.methods.regcl.losses import info_nce, mean_log_sum_exp, mean_squared_error
from sparseid.stacking import chunking

CASES = ("euc_small", "euc_mid", "euc_large", "cos_small", "cos_large")


def random(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def directly(reference, positive, negative, temperature=1.0, positive_in_denominator=False):
    """The definition, from all pairwise distances."""
    aligned = -(reference - positive).square().sum(dim=-1) / temperature
    logits = -(reference[:, :, None] - negative[:, None]).square().sum(dim=-1) / temperature
    if positive_in_denominator:
        logits = torch.cat([logits, aligned[..., None]], dim=-1)
    return -aligned.mean(dim=1) + logits.logsumexp(dim=-1).mean(dim=1)


@pytest.mark.parametrize("case", CASES)
def test_info_nce_is_cebras(fixture_arrays, case):
    arrays = fixture_arrays("regcl_infonce")
    similarity = "cosine" if case.startswith("cos") else "euclidean"
    temperature = float(arrays[f"{case}_tau"])
    inputs = [torch.from_numpy(arrays[f"{case}_{name}"])[None].requires_grad_() for name in ("ref", "pos", "neg")]
    loss = info_nce(*inputs, similarity, temperature)
    np.testing.assert_allclose(loss.item(), arrays[f"{case}_loss"], rtol=2e-6)
    double = info_nce(*(tensor.detach().double() for tensor in inputs), similarity, temperature)
    np.testing.assert_allclose(double.item(), arrays[f"{case}_loss64"], rtol=1e-9)
    loss.sum().backward()
    for tensor, name in zip(inputs, ("ref", "pos", "neg"), strict=True):
        expected = arrays[f"{case}_grad_{name}"]
        np.testing.assert_allclose(tensor.grad[0], expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("with_positive", [False, True])
def test_every_member_has_the_loss_of_the_definition(with_positive):
    reference, positive, negative = (random(3, batch, 4, seed=batch) for batch in (9, 9, 7))
    positive = positive[:, :9]
    loss = info_nce(reference, positive, negative, "euclidean", 0.7, with_positive)
    torch.testing.assert_close(loss, directly(reference, positive, negative, 0.7, with_positive))
    alone = info_nce(reference[1:2], positive[1:2], negative[1:2], "euclidean", 0.7, with_positive)
    torch.testing.assert_close(loss[1:2], alone, rtol=1e-6, atol=0)


def test_an_encoder_that_says_nothing_has_the_logarithm_of_the_number_of_negatives():
    constant = torch.full((2, 50, 3), 0.3)
    loss = info_nce(constant, constant, constant[:, :20])
    torch.testing.assert_close(loss, torch.full((2,), math.log(20)))
    assert info_nce(constant, constant, constant, positive_in_denominator=True)[0] == pytest.approx(math.log(51))


def test_the_euclidean_loss_does_not_change_when_the_embedding_is_moved_or_turned():
    embeddings = [random(2, 30, 3, seed=seed, dtype=torch.float64) for seed in range(3)]
    turn = torch.linalg.qr(random(3, 3, seed=9, dtype=torch.float64)).Q
    torch.testing.assert_close(info_nce(*(part @ turn + 2 for part in embeddings)), info_nce(*embeddings))


def test_far_negatives_do_not_underflow():
    reference, negative = torch.zeros(1, 4, 2), torch.full((1, 5, 2), 100.0)
    assert info_nce(reference, reference, negative).item() == pytest.approx(math.log(5) - 20_000)


@pytest.mark.parametrize("extra", [False, True])
def test_gradients_are_those_of_finite_differences(extra):
    tensors = [random(2, 5, 3, dtype=torch.float64), random(2, 4, 3, seed=1, dtype=torch.float64)]
    tensors += [random(2, 5, seed=2, dtype=torch.float64)] if extra else []
    assert torch.autograd.gradcheck(mean_log_sum_exp, [tensor.requires_grad_() for tensor in tensors])


@pytest.mark.parametrize("floats", [1, 40, 130])
def test_the_parts_it_is_made_in_change_nothing(monkeypatch, floats):
    def both():
        inputs = [random(3, 11, 4, seed=seed, dtype=torch.float64).requires_grad_() for seed in range(3)]
        losses = info_nce(*inputs, positive_in_denominator=True)
        (losses * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
        return [losses, *(tensor.grad for tensor in inputs)]

    whole = both()
    monkeypatch.setitem(chunking.PART_FLOATS, "cpu", floats)
    torch.testing.assert_close(both(), whole)


def test_without_gradients_the_loss_is_the_same():
    inputs = [random(2, 8, 3, seed=seed).requires_grad_() for seed in range(3)]
    with torch.no_grad():
        loss = info_nce(*inputs)
    assert not loss.requires_grad
    torch.testing.assert_close(loss, info_nce(*inputs).detach(), rtol=0, atol=0)


def test_mean_squared_error_is_torchs_of_each_member():
    outputs, labels = random(3, 7, 2), random(3, 7, 2, seed=1)
    expected = torch.stack([torch.nn.functional.mse_loss(*pair) for pair in zip(outputs, labels, strict=True)])
    torch.testing.assert_close(mean_squared_error(outputs, labels), expected)
