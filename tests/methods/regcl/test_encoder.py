import pytest
import torch
from torch import nn

from sparseid.methods.regcl.encoder import StackedEncoder
from sparseid.stacking.members import generators

HEADS = {"clip": nn.Hardtanh(-0.1, 0.1), "tanh": lambda y: 0.1 * torch.tanh(y / 0.1), "identity": nn.Identity()}


def encoder(head="clip", seeds=(3, 0, 7), scale=0.1):
    return StackedEncoder(6, 3, 3, generators(seeds, "init"), head, scale)


@pytest.mark.parametrize("head", HEADS)
def test_every_member_is_a_perceptron_with_exact_gelus(head):
    stack, inputs = encoder(head), torch.randn(3, 20, 6)
    outputs = stack(inputs)
    for member in range(3):
        layers = []
        for layer in stack.layers:
            linear = nn.Linear(*layer.weight.shape[1:])
            linear.weight.data, linear.bias.data = layer.weight.data[member].T, layer.bias.data[member, 0]
            layers += [linear, nn.GELU()]
        alone = HEADS[head](nn.Sequential(*layers[:-1])(inputs[member]))
        torch.testing.assert_close(outputs[member], alone)


def test_widths_are_those_of_the_authors_code():
    assert [tuple(weight.shape[1:]) for weight in encoder().weights] == [(6, 90), (90, 90), (90, 30), (30, 3)]
    wide = StackedEncoder(6, 2, 4, generators([0], "init"))
    assert [weight.shape[2] for weight in wide.weights] == [120, 120, 40, 2]


def test_a_member_begins_as_it_does_alone():
    for together, alone in zip(encoder().parameters(), encoder(seeds=[0]).parameters(), strict=True):
        assert torch.equal(together[1], alone[0])


def test_slopes_of_the_head_are_its_derivatives():
    raw = torch.tensor([-0.3, -0.05, 0.02, 0.2]).expand(1, 1, 4).clone().requires_grad_()
    for head in HEADS:
        stack = encoder(head)
        (expected,) = torch.autograd.grad(stack._bounded(raw).sum(), raw)
        torch.testing.assert_close(stack.head_slopes(raw), expected)


def test_the_first_samples_of_a_trace_are_the_trace_of_the_first_samples():
    stack, inputs = encoder(), torch.randn(3, 20, 6)
    part, alone = stack.trace(inputs).first(5), stack.trace(inputs[:, :5])
    torch.testing.assert_close([part.outputs, *part.hidden, part.raw], [alone.outputs, *alone.hidden, alone.raw])
