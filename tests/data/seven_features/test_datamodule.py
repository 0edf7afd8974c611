import numpy as np
import torch

from sparseid.data.folds import fold_numbers
from sparseid.data.seven_features.datamodule import SevenFeaturesData
from sparseid.data.seven_features.generator import draw
from sparseid.data.seven_features.settings import SevenFeaturesSettings

CONFIG = SevenFeaturesSettings(rho=0.4, samples=1000, noise_std=0.5)


def ready(seeds):
    data = SevenFeaturesData(CONFIG, seeds, batch_size=100)
    data.setup()
    return data


def test_fold_zero_of_two_is_held_out_of_every_data_set():
    data = ready([0, 3])
    held_out = fold_numbers(1000, 2) == 0
    factors, features = draw(CONFIG, [0, 3])
    np.testing.assert_allclose(data.test, features[:, held_out], rtol=1e-6)
    np.testing.assert_allclose(data.train, features[:, ~held_out], rtol=1e-6)
    np.testing.assert_allclose(data.truth.test, factors[:, held_out], rtol=1e-6)
    np.testing.assert_allclose(data.truth.train, factors[:, ~held_out], rtol=1e-6)
    np.testing.assert_allclose(data.column_sd, features.std(axis=1), rtol=1e-5)
    assert data.truth.support.shape == (7, 2)
    assert data.test_items == held_out.sum()
    assert data.epoch_steps == 6  # 510 training samples
    assert data.feature_names[6] == "x7"


def test_a_member_has_what_it_has_alone():
    both, alone = ready([0, 3]), ready([3])
    assert torch.equal(both.train[1], alone.train[0])
    assert torch.equal(both.training_batch(7).inputs[1], alone.training_batch(7).inputs[0])
