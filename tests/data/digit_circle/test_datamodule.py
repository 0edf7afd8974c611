import numpy as np
import pytest
import torch

from sparseid.data.digit_circle.datamodule import DigitCircleData
from sparseid.data.digit_circle.generator import DigitCircle
from sparseid.data.digit_circle.glyphs import read_glyphs
from sparseid.data.motifs import select

SMALL = DigitCircle(read_glyphs("compact"), 40, 3, 5, 10, 12, 6, 1)


def data(seed=0):
    return DigitCircleData(SMALL, seed, batch_size=8, batches_per_check=4, check_items=100)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_training_batches_are_a_function_of_seed_and_number():
    assert same(data().training_batch(5), data().training_batch(5))
    assert not same(data().training_batch(5), data().training_batch(6))
    assert not same(data().training_batch(5), data(seed=1).training_batch(5))


@pytest.mark.parametrize("size", [10, 64, 500, 700])
def test_the_training_stream_does_not_depend_on_the_batch_size(size):
    """Image i of a seed is the same in any batch size, also where a batch lies across two blocks."""

    def images(batch_size):
        module = DigitCircleData(SMALL, 3, batch_size, 4, 100)
        batches = [module.training_batch(number) for number in range(-(-1400 // batch_size))]
        return torch.cat([batch.inputs for batch in batches])[:1400], batches

    expected, _ = images(7)
    drawn, batches = images(size)
    assert torch.equal(drawn, expected)
    for batch in batches:
        for item in range(0, size, 97):
            label = batch.labels[item]
            assert sorted(batch.sites[batch.sites[:, 0] == item, 1].tolist()) == sorted(label[label >= 0].tolist())


def test_batches_have_the_documented_shapes():
    batch = data().training_batch(0)
    assert batch.inputs.shape == (8, 1, 40, 40)
    assert batch.inputs.dtype == torch.float32
    assert set(batch.inputs.unique().tolist()) == {0.0, 1.0}
    assert batch.labels.shape == (8, 5)
    assert batch.sites.shape == (int((batch.labels >= 0).sum()), 6)


def test_sites_and_labels_name_the_same_symbols():
    batch = data().training_batch(1)
    for item in range(8):
        label = batch.labels[item]
        assert sorted(batch.sites[batch.sites[:, 0] == item, 1].tolist()) == sorted(label[label >= 0].tolist())


def test_fixed_sets_do_not_depend_on_seed_or_size():
    few, many = list(data().val_dataloader()), list(data().fixed_set("validation", 300))
    assert [len(batch.labels) for batch in many] == [128, 128, 44]
    assert torch.equal(few[0].inputs, many[0].inputs[:100])
    assert same(few[0], next(iter(data(seed=7).val_dataloader())))


def test_validation_and_test_sets_differ():
    module = data()
    module.test_items = 100
    assert not same(next(iter(module.val_dataloader())), next(iter(module.test_dataloader())))
    assert len(module.test_dataloader()) == 1


def test_selected_items_keep_their_sites():
    batch = data().training_batch(2)
    chosen = select(batch, np.array([1, 6]))
    assert torch.equal(chosen.inputs, batch.inputs[[1, 6]])
    assert torch.equal(chosen.sites[chosen.sites[:, 0] == 1, 1:], batch.sites[batch.sites[:, 0] == 6, 1:])


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_share_a_batch(processes, monkeypatch):
    whole = data().training_batch(3)
    parts = []
    for rank in range(processes):
        module = data()
        module.trainer = type("Trainer", (), {"global_rank": rank, "world_size": processes})()
        parts.append(module.training_batch(3).inputs)
    assert torch.equal(torch.stack(parts, dim=1).flatten(0, 1), whole.inputs)


def test_single_digits_are_centred_and_labelled_with_themselves():
    module = data()
    whole = module.training_batch(0)
    module = data()
    module.single_motifs = True
    batch = module.training_batch(0)
    assert batch.inputs.shape == (8, 1, 32, 32)
    assert batch.labels.shape == (8, 1)
    assert not torch.equal(batch.labels[:, 0], whole.labels[:, 0])
    assert torch.equal(batch.labels[:, 0], batch.sites[:, 1])
    assert batch.sites[:, 0].tolist() == list(range(8))
    middles = (batch.sites[:, 2::2] + batch.sites[:, 3::2]) / 2
    assert (middles - 16).abs().max() <= 0.5
    assert len(module.val_dataloader()) == 1
    assert same(next(iter(module.val_dataloader())), next(iter(module.single_motif_set("validation", 100))))


def test_exchanged_labels_begin_with_their_smallest_digit_and_repeat_none():
    module = data()
    assert module.exchanged([1, 5, 3], 1, 9) == [3, 9, 5]
    assert module.exchanged([1, 5, 3], 5, 0) == [0, 3, 1]
    assert module.exchanged([1, 5, 3], 1, 3) is None
    assert module.exchangeable == {digit: digit for digit in range(10)}
