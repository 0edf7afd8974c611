import numpy as np
import pytest
import torch

from sparseid.data.batch import SeriesBatch
from sparseid.methods.regcl.encoder import StackedEncoder
from sparseid.methods.regcl.evaluation import (
    ATTRIBUTIONS,
    Evaluated,
    Factor,
    Layout,
    arrays_of,
    deficient_share,
    limit_of,
    maps_of,
    measure,
)
from sparseid.metrics.attribution import attribution_map
from sparseid.stacking.members import generators
from sparseid.training.build import build_data

LAYOUT = Layout(
    3,
    {
        "labels": Factor(slice(2, 3), None),
        "z1": Factor(slice(0, 2), slice(0, 2)),
        "z2": Factor(slice(2, 3), slice(2, 3)),
    },
    Factor(slice(2, 3), slice(2, 3)),
)
TRUTH = np.array([[True] * 4, [True] * 4, [False, False, True, True]])


def made(embeds, **changes):
    """Two members whose embeddings are made from the latents, and whose maps are the truth and its opposite."""
    latents = torch.randn(2, 60, 3, generator=torch.Generator().manual_seed(0))
    samples = SeriesBatch(torch.zeros(2, 60, 4), latents[..., 2:], latents)
    maps = {"jf_plus": np.stack([TRUTH, ~TRUTH]).astype(float)}
    embedding = embeds(latents)
    values = {"maps": maps, "train": samples, "held_out": samples, "train_embedding": embedding, "embedding": embedding}
    values |= {
        "losses": {"mse": np.array([0.5, 2.0])},
        "saturated": np.array([0.0, 0.25]),
        "deficient": np.array([0.0, 0.5]),
    }
    values |= {"truth": np.stack([TRUTH] * 2), "limit": np.array([0.7, 0.8])}
    return Evaluated(**(values | changes))


def values(measurements):
    return {(m.metric, *m.keys.values(), m.seed): m.value for m in measurements}


def test_known_values():
    found = values(measure(made(lambda z: z @ torch.tensor([[2.0, 1, 0], [1, 1, 0], [0, 0, -3]]) + 1), LAYOUT, [5, 6]))
    assert found.pop(("auc", "jf_plus", 5)) == 100
    assert found.pop(("auc", "jf_plus", 6)) == 0
    for factor in ("labels", "z1", "z2"):
        assert [found.pop(("r2", factor, seed)) for seed in (5, 6)] == pytest.approx([100, 100])
    assert found == {
        ("minimum_norm_auc", 5): 70,
        ("minimum_norm_auc", 6): 80,
        ("saturated", 5): 0,
        ("saturated", 6): 25,
        ("rank_deficient", 5): 0,
        ("rank_deficient", 6): 50,
        ("held_out_loss", "mse", 5): 0.5,
        ("held_out_loss", "mse", 6): 2.0,
    }


def test_each_factor_is_explained_by_its_own_coordinates():
    found = values(measure(made(lambda z: z.roll(1, dims=-1)), LAYOUT, [5, 6]))
    assert found["r2", "labels", 5] < 20
    assert found["r2", "z1", 5] == pytest.approx(50, abs=10)  # one of its two latents


def test_what_is_not_known_is_left_out():
    samples = SeriesBatch(torch.zeros(2, 60, 4), torch.randn(2, 60, 1), None)
    unknown = made(lambda z: z, truth=None, limit=None, train=samples, held_out=samples)
    assert {key[:-1] for key in values(measure(unknown, LAYOUT, [5, 6]))} == {
        ("r2", "labels"),
        ("saturated",),
        ("rank_deficient",),
        ("held_out_loss", "mse"),
    }
    assert set(arrays_of(unknown, LAYOUT)) == {"map_jf_plus", "embedding", "labels"}


def test_maps_are_those_of_the_encoder_by_backward_passes():
    encoder = StackedEncoder(5, 3, 3, generators([0, 1], "init"), "clip", 0.1)
    inputs = torch.randn(2, 20, 5, generator=torch.Generator().manual_seed(0))
    maps = maps_of(encoder, inputs, [0, 1])
    for name, settings in ATTRIBUTIONS.items():
        expected = attribution_map(encoder, inputs, **settings, seeds=[0, 1])
        np.testing.assert_allclose(maps[name], expected, rtol=1e-3, atol=1e-5 * expected.max())


def test_samples_with_dependent_outputs_are_counted():
    encoder = StackedEncoder(5, 3, 3, generators([0, 1], "init"), "identity")
    inputs = torch.randn(2, 1500, 5, generator=torch.Generator().manual_seed(0))  # two chunks
    assert deficient_share(encoder, inputs).tolist() == [0, 0]
    encoder.layers[-1].weight.data[1, :, 2] = encoder.layers[-1].weight.data[1, :, 0]  # two outputs are the same
    assert deficient_share(encoder, inputs).tolist() == [0, 1]
    encoder.layers[0].weight.data[0] = 0  # dead
    assert deficient_share(encoder, inputs).tolist() == [1, 1]
    maps = maps_of(encoder, inputs[:, :50], [0, 1])
    assert all(np.isfinite(values).all() for values in maps.values())


def test_the_limit_is_near_chance_to_perfect_and_belongs_to_the_data_alone(config):
    data = build_data(config())
    data.setup()
    limit = limit_of(data)
    assert limit.shape == (2,)
    assert ((limit > 0.5) & (limit <= 1)).all()
    alone = build_data(config("seeds=[1]", "method.training=supervised"))
    alone.setup()
    assert limit_of(alone)[0] == pytest.approx(limit[1])
    data.truth = None
    assert limit_of(data) is None
