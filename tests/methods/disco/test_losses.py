"""The losses against plain code, written out pair by pair."""

import math

import pytest
import torch

from sparseid.methods.disco.losses import contrastive_loss, entropy_loss, secant_sparsity, variation

GENERATOR = torch.Generator().manual_seed(0)


def unit(pairs, dims=5):
    return variation(torch.rand(pairs, dims, generator=GENERATOR), torch.zeros(pairs, dims))


def test_a_variation_has_unit_length_and_no_sign():
    shifted, plain = (torch.randn(4, 3, generator=GENERATOR) for _ in range(2))
    found = variation(shifted, plain)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(4))
    torch.testing.assert_close(found, variation(plain, shifted))
    torch.testing.assert_close(found[0], (shifted - plain)[0].abs() / (shifted - plain)[0].norm())


@pytest.mark.parametrize("above", [1.1, 0.8])
def test_the_contrastive_loss_is_that_of_plain_code(above):
    queries, positives, negatives = unit(3), unit(4), unit(6)
    total, flipped = 0.0, 0
    for query in queries.tolist():
        for others, label in ((positives.tolist(), 1.0), (negatives.tolist(), 0.0)):
            for other in others:
                similarity = sum(a * b for a, b in zip(query, other, strict=True))
                own = label
                if label == 0 and similarity > above:
                    own, flipped = similarity, flipped + 1
                probability = 1 / (1 + math.exp(-similarity))
                total -= own * math.log(probability) + (1 - own) * math.log(1 - probability)
    assert contrastive_loss(queries, positives, negatives, above).item() == pytest.approx(total / 30, rel=1e-5)
    assert (flipped > 0) == (above == 0.8)


def test_negatives_and_their_labels_are_constants():
    queries, positives, negatives = (unit(3).requires_grad_() for _ in range(3))
    contrastive_loss(queries, positives, negatives, 0.5).backward()
    assert negatives.grad is None
    similar = queries.detach() @ negatives.detach().T
    labels = torch.where(similar > 0.5, similar, 0.0)
    alike = queries.detach() @ positives.detach().T
    by_hand = ((alike.sigmoid() - 1) @ positives + (similar.sigmoid() - labels) @ negatives.detach()) / 18
    torch.testing.assert_close(queries.grad, by_hand.detach())


def test_the_entropy_is_largest_for_equal_entries():
    equal = torch.full((2, 4), 0.5)
    assert entropy_loss(equal).item() == pytest.approx(math.log(4), rel=1e-3)
    queries = unit(3)
    plain = 0.0
    for query in queries.tolist():
        weights = [math.exp(value) for value in query]
        plain -= sum(w / sum(weights) * math.log(w / sum(weights) + 1e-5) for w in weights)
    assert entropy_loss(queries).item() == pytest.approx(plain / 3, rel=1e-5)


def test_the_secant_is_exact_for_a_linear_generator():
    """With as many shifts along each direction it is the L1 norm of the Jacobian, mean over pixels."""
    jacobian = torch.randn(4, 7, generator=GENERATOR)  # of 4 directions
    directions, lengths = torch.arange(8) % 4, torch.tensor([0.5, -2.0, 3.0, 1.0, -1.0, 4.0, -0.7, 2.0])
    plain = torch.randn(8, 7, generator=GENERATOR)
    shifted = plain + lengths[:, None] * jacobian[directions]
    found = secant_sparsity(plain.view(8, 1, 7), shifted.view(8, 1, 7), lengths, 4)
    torch.testing.assert_close(found, jacobian.abs().mean(dim=1).sum())
