import numpy as np
import pytest
import torch

from sparseid.data.contrastive import POSITIVES, Draws, Series
from sparseid.data.latent_walk.datamodule import LatentWalkData
from sparseid.data.latent_walk.generator import draw_latents, draw_mixing
from sparseid.data.neighbours import positive_tables
from sparseid.settings import EarlyStopSettings


@pytest.fixture
def made(walk_config):
    def make(*seeds, positives=POSITIVES, batch_size=16, early_stop=None, **changes):
        data = LatentWalkData(walk_config(**changes), seeds, batch_size)
        data.early_stop = early_stop
        data.positives = positives
        data.setup()
        return data

    return make


def places(data, member, inputs):
    """Return the numbers of training samples."""
    numbers = {row.numpy().tobytes(): number for number, row in enumerate(data.train.inputs[member])}
    return [numbers[row.numpy().tobytes()] for row in inputs]


def test_the_end_of_the_walk_is_held_out(made, walk_config):
    data, config = made(3, 5), walk_config()
    latents = draw_latents(config, [3, 5])
    assert (len(data.train), len(data.held_out)) == (data.train_items, data.test_items) == (360, 40)
    for member, seed in enumerate((3, 5)):
        observations = draw_mixing(config, seed)(latents[member].astype(float)).astype(np.float32)
        joined = torch.cat([data.train.inputs, data.held_out.inputs], dim=1)[member]
        assert np.array_equal(joined, observations)
        assert np.array_equal(data.train.latents[member], latents[member, :360])
        assert np.array_equal(data.held_out.latents[member], latents[member, 360:])
        assert np.array_equal(data.held_out.labels[member], latents[member, 360:, 3:])


def test_an_early_stop_validates_on_the_samples_before_the_held_out_end(made):
    whole, data = made(3, 5), made(3, 5, early_stop=EarlyStopSettings(patience=2, held_out=0.2))
    assert (data.train_items, len(data.train), len(data.validation), len(data.held_out)) == (288, 288, 72, 40)
    joined = torch.cat([data.train.inputs, data.validation.inputs], dim=1)
    assert torch.equal(joined, whole.train.inputs)
    assert torch.equal(data.held_out.inputs, whole.held_out.inputs)
    assert whole.validation is whole.held_out
    validated, tested = (torch.cat([c.labels for c in d()], dim=1) for d in (data.val_dataloader, data.test_dataloader))
    assert torch.equal(validated, whole.train.labels[:, 288:])
    assert torch.equal(tested, whole.held_out.labels)
    assert data.attribution_numbers().max() < 288
    for found in (whole, data):
        inputs, labels = found.seen()
        assert np.array_equal(inputs, whole.train.inputs[0])
        assert np.array_equal(labels, whole.train.labels[0])


@pytest.mark.parametrize(
    ("changes", "z1", "label"),
    [
        ({}, 3, slice(3, 5)),
        ({"setting": "b"}, 2, slice(0, 2)),
        ({"setting": "b", "setting_b": "z2_fixed"}, 3, slice(0, 3)),
    ],
)
def test_what_a_method_asks_for(made, changes, z1, label):
    data = made(0, 1, **changes)
    assert (data.features, data.latents, data.label_dim) == (50, 5, label.stop - label.start)
    assert data.latent_rows == (slice(0, z1), slice(z1, 5))
    assert data.label_rows == label
    assert torch.equal(data.train.labels, data.train.latents[..., label])
    assert data.truth.shape == (2, 5, 50)
    assert data.truth.dtype == torch.bool
    assert data.truth[:, :z1].all()
    assert data.truth[:, z1:].float().mean() == 0.5


def test_parts_of_a_batch(made):
    data = made(0, 1, **{"sampling.time_offset": 4, "sampling.label_positives": 6})
    table = positive_tables(data.train.labels, [0, 1], 1, 6)
    batch = data.training_batch(3)
    assert batch.inputs.shape == (2, 4 * 16, 50)
    assert batch.labels.shape == (2, 16, 2)
    for member in range(2):
        numbers = places(data, member, batch.inputs[member])
        references, _, later, related = (numbers[start : start + 16] for start in range(0, 64, 16))
        assert torch.equal(data.train.labels[member, references], batch.labels[member])
        assert later == [number + 4 for number in references]
        assert all(found in table[member, number] for number, found in zip(references, related, strict=True))


def test_a_method_gets_the_parts_it_asks_for_of_the_same_samples(made):
    whole = made(0).training_batch(2)
    reference, negative, later, related = whole.inputs.split(16, dim=1)
    for positives, parts in (
        ((), [reference]),
        (("time",), [reference, negative, later]),
        (("labels",), [reference, negative, related]),
    ):
        batch = made(0, positives=positives).training_batch(2)
        assert torch.equal(batch.inputs, torch.cat(parts, dim=1))
        assert torch.equal(batch.labels, whole.labels)
    with pytest.raises(ValueError, match="positives must be among"):
        made(0, positives=("space",))


def test_a_batch_is_a_function_of_seed_and_number(made, monkeypatch):
    monkeypatch.setattr("sparseid.stacking.noise.DRAWN_AT_ONCE", 64)  # four batches
    together, alone = made(5, 3), made(3)
    there = {number: together.training_batch(number) for number in range(10)}
    assert not torch.equal(there[0].inputs, there[1].inputs)
    assert not torch.equal(there[0].inputs, there[4].inputs)
    for number in (9, 0, 4, 4, 3):  # in any order, as after a resume
        batch = alone.training_batch(number)
        for tensor, own in zip(there[number], batch, strict=True):
            assert torch.equal(tensor[1], own[0])


def test_draws_are_uniform_and_independent():
    draws = Draws([0], (50, 100, 4), 1000, torch.device("cpu"))
    drawn = [torch.stack(parts).flatten() for parts in zip(*(draws[number] for number in range(40)), strict=True)]
    for numbers, bound in zip(drawn, (50, 100, 4), strict=True):
        counts = torch.bincount(numbers, minlength=bound)
        assert len(counts) == bound
        expected = len(numbers) / bound
        chi2 = ((counts - expected) ** 2 / expected).sum().item()
        assert abs(chi2 - (bound - 1)) < 5 * np.sqrt(2 * (bound - 1))
    assert np.abs(np.corrcoef(torch.stack(drawn).numpy()) - np.eye(3)).max() < 0.02


@pytest.mark.parametrize(("clamp", "last"), [(False, 356), (True, 359)])
def test_references_near_the_end(made, clamp, last):
    sampling = {"sampling.time_offset": 3, "sampling.clamp_end": clamp}
    data = made(0, positives=("time",), batch_size=360, **sampling)
    numbers = [places(data, 0, part[0]) for i in range(8) for part in data.training_batch(i).inputs.split(360, dim=1)]
    references, later = np.concatenate(numbers[::3]).tolist(), np.concatenate(numbers[2::3]).tolist()
    assert max(references) == last
    assert later == [min(number + 3, 359) for number in references]


def test_clamping_is_that_of_cebra(fixture_arrays, made):
    stored = fixture_arrays("regcl_timedelta")
    length = int(stored["time1_N"])
    data = made(0, positives=("time",), samples=100, held_out=0.5, **{"sampling.clamp_end": True})
    assert len(data.train) == length
    references = torch.from_numpy(stored["time1_ref_idx"]).long()[None]
    data._draws = {0: (references, references, references)}
    found = data.training_batch(0).inputs[0, -references.shape[1] :]
    assert places(data, 0, found) == stored["time1_pos_idx_used"].tolist()


def test_samples_for_maps_are_training_samples_all_over_the_time(made, walk_config):
    data = made(0, 1, attribution_samples=30)
    numbers = data.attribution_numbers()
    assert numbers.tolist() == list(range(0, 360, 12))
    batch = data.attribution_batch()
    assert torch.equal(batch.inputs, data.train.inputs[:, ::12])
    assert torch.equal(batch.latents, data.train.latents[:, ::12])
    jacobian = data.true_jacobian(1)
    assert jacobian.shape == (30, 50, 5)
    product = np.einsum("nij,nj->ni", jacobian, batch.latents[1].double().numpy())
    np.testing.assert_allclose(product, batch.inputs[1], atol=1e-5)
    everything = LatentWalkData(walk_config(attribution_samples=5000), [0], 16)
    assert everything.attribution_samples == len(everything.attribution_numbers()) == 360


def test_fixed_sets_come_in_order_and_as_many_as_asked_for(made):
    data = made(0, 1)
    chunks = list(data.held_out.chunks(11, size=4))
    assert [chunk.labels.shape for chunk in chunks] == [(2, 4, 2), (2, 4, 2), (2, 3, 2)]
    assert len(data.held_out.chunks(11, size=4)) == 3
    assert torch.equal(torch.cat([chunk.latents for chunk in chunks], dim=1), data.held_out.latents[:, :11])
    data.test_items = 7
    assert sum(chunk.inputs.shape[1] for chunk in data.test_dataloader()) == 7
    assert sum(chunk.inputs.shape[1] for chunk in data.val_dataloader()) == 40
    [chunk] = Series(torch.zeros(1, 3, 2), torch.zeros(1, 3, 1), None).chunks()
    assert chunk.latents is None


def test_the_test_alone_needs_no_positives(walk_config):
    data = LatentWalkData(walk_config(), [0], 16)
    data.positives = ("labels",)
    data.setup("test")
    assert data._table is None
    data.setup("fit")
    assert data._table is not None
