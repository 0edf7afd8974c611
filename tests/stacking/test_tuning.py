import math

import pytest
import torch
from torch import nn

from sparseid.stacking.tuning import StackedAdam, lowest_errors, repeated


def test_the_models_of_a_member_are_its_candidates_in_a_row():
    values = torch.arange(6.0).view(2, 3)
    assert repeated(values, 3).tolist() == [[0, 1, 2]] * 3 + [[3, 4, 5]] * 3
    assert repeated(values, 1) is values


def test_the_candidate_with_the_lowest_validation_error_is_chosen():
    inf, nan = math.inf, math.nan
    errors = torch.tensor([[0.5, 0.2, 0.9], [0.1, 0.4, 0.3], [nan, inf, 7.0], [2.0, 1.0, 1.0], [nan, nan, inf]])
    assert lowest_errors(errors.flatten(), 3).tolist() == [1, 3, 8, 10, 12]


@pytest.mark.parametrize("fused", [False, True])
def test_every_model_takes_the_steps_that_it_takes_alone_at_its_own_rate(fused):
    rates = [1e-2, 1e-3, 3e-3]
    start = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0))

    def trained(values, adam_of):
        parameter = nn.Parameter(values.clone())
        adam = adam_of([parameter])
        for _ in range(20):

            def closure():
                adam.zero_grad()
                loss = (parameter - 2).pow(4).sum()
                loss.backward()
                return loss

            assert adam.step(closure) > 0
        return parameter.detach()

    together = trained(start, lambda parameters: StackedAdam(parameters, rates, fused=fused))
    for model, rate in enumerate(rates):
        alone = trained(start[model], lambda parameters, rate=rate: torch.optim.Adam(parameters, lr=rate, fused=fused))
        torch.testing.assert_close(together[model], alone, rtol=1e-5, atol=1e-6)
    assert (together - start).abs().amax(dim=(1, 2)).argsort().tolist() == [1, 2, 0]  # the rates differ in effect
    alike = trained(start, lambda parameters: StackedAdam(parameters, [1e-2] * 3, fused=fused))
    assert torch.equal(alike, trained(start, lambda parameters: torch.optim.Adam(parameters, lr=1e-2, fused=fused)))
