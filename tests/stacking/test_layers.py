import pytest
import torch
from torch import nn

from sparseid.stacking.layers import StackedBatchNorm, StackedLinear, stacked_mlp
from sparseid.stacking.members import generators

SEEDS = [4, 0, 9]


def test_every_member_is_a_linear_layer_of_its_own():
    layer = StackedLinear(5, 3, generators(SEEDS, "init"))
    inputs = torch.randn(3, 7, 5)
    outputs = layer(inputs)
    for member in range(3):
        alone = nn.Linear(5, 3)
        alone.weight.data, alone.bias.data = layer.weight[member].T, layer.bias[member, 0]
        torch.testing.assert_close(outputs[member], alone(inputs[member]))


def test_initial_values_are_those_of_the_same_seed_alone_and_as_wide_as_torchs():
    def network(seeds):
        return stacked_mlp([16, 256, 5], generators(seeds, "init"), nn.ReLU)

    stack, alone = network(SEEDS).state_dict(), network([0]).state_dict()
    for name, tensor in stack.items():
        assert torch.equal(tensor[1], alone[name][0])
        assert not torch.equal(tensor[0], tensor[1])
    assert stack["0.weight"].abs().max() == pytest.approx(1 / 4, rel=0.01)
    assert stack["2.weight"].abs().max() == pytest.approx(1 / 16, rel=0.01)


def test_mlp_has_an_activation_between_linear_maps_and_none_behind_the_last():
    network = stacked_mlp([2, 4, 4, 1], generators(SEEDS, "init"), nn.ReLU)
    assert [type(layer).__name__ for layer in network] == ["StackedLinear", "ReLU"] * 2 + ["StackedLinear"]
    assert network(torch.randn(3, 6, 2)).shape == (3, 6, 1)


def test_batch_norm_is_torchs_for_every_member():
    stacked = StackedBatchNorm(3, 4, momentum=0.2)
    alone = [nn.BatchNorm1d(4, momentum=0.2, affine=False) for _ in range(3)]
    for _ in range(3):
        inputs = 5 + 2 * torch.randn(3, 50, 4)
        outputs = stacked(inputs)
        for member, norm in enumerate(alone):
            torch.testing.assert_close(outputs[member], norm(inputs[member]))
    stacked.eval()
    inputs = torch.randn(3, 50, 4)
    for member, norm in enumerate(alone):
        torch.testing.assert_close(stacked(inputs)[member], norm.eval()(inputs[member]))
        torch.testing.assert_close(stacked.mean[member], norm.running_mean)
    assert set(stacked.state_dict()) == {"mean", "variance"}


def test_a_map_before_batch_norm_has_no_bias():
    network = stacked_mlp([2, 4, 3], generators(SEEDS, "init"), nn.ReLU, last_bias=False)
    assert [layer.bias is None for layer in network[::2]] == [False, True]
    inputs = torch.randn(3, 6, 4)
    torch.testing.assert_close(network[2](inputs)[1], inputs[1] @ network[2].weight[1])
