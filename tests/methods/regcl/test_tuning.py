import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sparseid.methods.regcl.tuning import highest_without_harm

LOSSES = arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=3, max_side=6), elements=st.integers(-9, 9))


@given(LOSSES, st.sampled_from([0.1, 1.0, 3.0]))
def test_choices_are_those_of_the_definition(losses, tolerance):
    found = highest_without_harm(torch.tensor(losses), tolerance)
    for member in range(len(losses)):
        others = np.delete(losses, member, axis=0)
        limit = others[:, 0].mean() + tolerance * others[:, 0].std(ddof=1)
        harmed = [candidate for candidate, mean in enumerate(others.mean(axis=0)) if mean > limit + 1e-9]
        expected = (min([*harmed, losses.shape[1]]) or 1) - 1
        assert found[member] == expected


@given(LOSSES, st.integers(0, 2))
def test_a_members_own_losses_do_not_decide(losses, member):
    changed = losses.copy()
    changed[member] += np.arange(losses.shape[1]) * 100
    assert highest_without_harm(torch.tensor(changed))[member] == highest_without_harm(torch.tensor(losses))[member]


def test_a_candidate_that_diverges_on_another_data_set_is_not_chosen():
    losses = torch.tensor([[1.0, 1.0, 1.0], [2.0, 2.0, math.nan], [3.0, 3.0, 3.0]])
    assert highest_without_harm(losses).tolist() == [1, 2, 1]
