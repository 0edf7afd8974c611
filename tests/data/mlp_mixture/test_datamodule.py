import numpy as np
import pytest
import torch

from sparseid.data.mlp_mixture.datamodule import MLPMixtureData


def ready(config, seeds):
    data = MLPMixtureData(config, seeds, batch_size=256)
    data.setup()
    return data


def test_shapes_and_what_is_known(mixture_config):
    data = ready(mixture_config(latents=4), [0, 1, 2])
    assert data.train.shape == (3, 2000, 8)
    assert data.test.shape == (3, 500, 8)
    assert data.truth.train.shape == (3, 2000, 4)
    assert data.truth.test.shape == (3, 500, 4)
    assert data.mask.shape == (3, 8, 4)
    assert data.mask.dtype == torch.bool
    assert (data.features, data.latents, data.test_items, data.epoch_steps) == (8, 4, 500, 8)
    assert {values.dtype for values in (data.train, data.test, data.truth.train)} == {torch.float32}
    assert data.jacobian(data.truth.test).shape == (3, 500, 8, 4)


@pytest.mark.parametrize("mask", ["circulant", "random"])
def test_a_member_has_what_it_has_alone(mixture_config, mask):
    config = mixture_config(mask=mask, noise=0.1)
    both, alone = ready(config, [0, 3]), ready(config, [3])
    for values in (lambda d: d.train, lambda d: d.test, lambda d: d.truth.test, lambda d: d.jacobian(d.truth.test)):
        torch.testing.assert_close(values(both)[1], values(alone)[0], atol=1e-5, rtol=1e-5)
        assert not torch.equal(values(both)[0], values(both)[1])
    assert torch.equal(both.mask[1], alone.mask[0])
    torch.testing.assert_close(both.training_batch(7).inputs[1], alone.training_batch(7).inputs[0])


def test_the_jacobian_is_that_of_the_observations(mixture_config):
    data = ready(mixture_config(activation="smooth_leaky"), [0, 1])
    points = data.truth.test[:, :50].double()
    step = 1e-6 * torch.eye(3).double()
    moved = [(data._mixture(points + step[i]) - data._mixture(points - step[i])) / 2e-6 for i in range(3)]
    torch.testing.assert_close(data.jacobian(points), torch.stack(moved, dim=-1), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(data._mixture(data.truth.test.double()).float(), data.test, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(data.jacobian(points.float()).double(), data.jacobian(points), atol=1e-4, rtol=1e-4)


def test_noise_comes_on_top_and_everything_else_stays(mixture_config):
    clean, noisy = ready(mixture_config(), [0, 1]), ready(mixture_config(noise=0.1), [0, 1])
    assert torch.equal(clean.truth.train, noisy.truth.train)
    for split in ("train", "test"):
        noise = (getattr(noisy, split) - getattr(clean, split)).numpy()
        np.testing.assert_allclose(noise.std(axis=1), 0.1, rtol=0.1)
        assert np.abs(np.corrcoef(noise[0].T) - np.eye(6)).max() < 0.2
        assert abs(np.corrcoef(noise[0].ravel(), noise[1].ravel())[0, 1]) < 0.05


def test_training_and_test_samples_are_not_the_same(mixture_config):
    data = ready(mixture_config(), [0])
    assert not np.isin(data.truth.test.numpy(), data.truth.train.numpy()).any()


def test_correlation_and_blocks_are_said_once_for_all_members(mixture_config):
    data = MLPMixtureData(mixture_config(mask="groups", groups="12-23", rho=0.5), [0, 1, 2], batch_size=256)
    assert len(data.remarks) == 2
    assert MLPMixtureData(mixture_config(), [0, 1], batch_size=256).remarks == []


def test_random_masks_are_the_members_own(mixture_config):
    data = ready(mixture_config(mask="random", latents=5), [0, 1, 2])
    assert not torch.equal(data.mask[0], data.mask[1])
    found = data.jacobian(data.truth.train).abs().amax(dim=1) > 1e-6
    assert torch.equal(found, data.mask)
    shares = data.truth.support
    assert torch.equal(shares > 0, data.mask)
    torch.testing.assert_close(shares.sum(dim=2), torch.ones(3, 10))
