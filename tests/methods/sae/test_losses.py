import torch

from sparseid.methods.sae.losses import idle_error, squared_error


def test_errors_of_known_values():
    targets, reconstructions = torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([[1.0, 0], [3, 4]])
    assert squared_error(reconstructions, targets) == 1
    assert idle_error(None, reconstructions, targets) == 0
    # what is left is 2 in one of four entries, of which idle features reconstruct 1
    assert idle_error(torch.tensor([[0.0, 1], [0, 0]]), reconstructions, targets) == 0.25
