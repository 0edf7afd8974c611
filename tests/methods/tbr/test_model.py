import torch

from sparseid.data.trees import perfect_binary_tree
from sparseid.methods.tbr.model import TreeModel
from sparseid.stacking.members import generators

TREE = perfect_binary_tree(3)


def model(seeds=(0, 1), **options):
    made = TreeModel([4, 8, 3], torch.from_numpy(TREE.incidence), generators(seeds, "init"), 0.01, 0.5, **options)
    if made.deltas is not None:
        made.deltas.data = torch.randn(made.deltas.shape, generator=torch.Generator().manual_seed(0))
    return made


def test_weights_are_sums_along_the_path_from_the_root():
    made = model()
    weights = made.weights()
    assert weights.shape == (2, 14, 3)
    for environment, node in enumerate(TREE.observed):
        expected, at = made.root_weights[1].clone(), int(node)
        while at > 0:
            expected = expected + made.deltas[1, at - 1]
            at = (at - 1) // 2
        torch.testing.assert_close(weights[1, environment], expected)


def test_predictions_are_the_products_with_the_environments_weights():
    made = model()
    inputs, environments = torch.randn(2, 9, 4), torch.randint(0, 14, (2, 9))
    latents, weights = made.encode(inputs), made.weights()
    expected = torch.stack([(latents[m] * weights[m, environments[m]]).sum(dim=1) for m in range(2)])
    torch.testing.assert_close(made(inputs, environments), expected)


def test_a_rotation_changes_the_latents_and_no_prediction():
    made = model()
    inputs, environments = torch.randn(2, 9, 4), torch.randint(0, 14, (2, 9))
    before, latents = made(inputs, environments), made.encode(inputs)
    basis = torch.randn(2, 3, 3) + 2 * torch.eye(3)
    made.rotate(basis)
    torch.testing.assert_close(made.encode(inputs), latents @ basis.transpose(1, 2), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(made(inputs, environments), before, rtol=1e-4, atol=1e-4)


def test_the_baseline_has_one_weight_vector_and_nothing_to_change_it():
    made = model(with_deltas=False)
    assert made.deltas is None
    assert not any("deltas" in name for name in made.state_dict())
    assert (made.weights() == made.root_weights[:, None]).all()
    inputs = torch.randn(2, 9, 4)
    first, second = (made(inputs, torch.full((2, 9), environment)) for environment in (0, 13))
    assert torch.equal(first, second)


def test_new_models_have_no_deltas_yet_and_root_weights_of_the_asked_spread():
    made = TreeModel([4, 8, 400], torch.from_numpy(TREE.incidence), generators([0], "init"), 0.01, 0.5)
    assert not made.deltas.any()
    assert 0.45 < made.root_weights.std() < 0.55


def test_batch_norm_fixes_the_scale_of_the_latents():
    made = model(batch_norm=True)
    latents = made.encode(100 * torch.randn(2, 64, 4))
    torch.testing.assert_close(latents.std(dim=1, unbiased=False), torch.ones(2, 3), atol=1e-3, rtol=0)


def test_a_slope_of_zero_is_relu():
    made = TreeModel([1, 1, 1], torch.from_numpy(TREE.incidence), generators([0], "init"), 0.0, 0.5)
    assert made.encoder[1](torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
