import torch

from sparseid.methods.tbr.losses import l1_penalty, mean_squared_error, soft_threshold


def test_known_values():
    predictions, labels = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 4.0], [3.0, 0.0]])
    assert mean_squared_error(predictions, labels).tolist() == [2.5, 4.5]
    deltas = torch.tensor([[[1.0, -2.0], [0.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]]])
    assert l1_penalty(deltas, torch.tensor([0.5, 2.0])).tolist() == [3.0, 8.0]


def test_the_threshold_minimises_its_objective():
    values = torch.linspace(-2, 2, 41)
    grid = torch.linspace(-3, 3, 6001)[:, None]
    objective = (grid - values) ** 2 / 2 + 0.7 * grid.abs()
    best = grid[objective.argmin(dim=0), 0]
    torch.testing.assert_close(soft_threshold(values, torch.tensor(0.7)), best, atol=1e-3, rtol=0)
    assert (soft_threshold(values, torch.tensor(0.7))[values.abs() < 0.69] == 0).all()
