from dataclasses import replace

import numpy as np
import pytest
import torch

from sparseid.data.latex_ocr import pdflatex
from sparseid.data.latex_ocr.datamodule import LatexOcrData
from sparseid.data.latex_ocr.generator import LatexOcr
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS
from sparseid.data.latex_ocr.items import BLOCK, Items
from sparseid.streams import FIXED, Streams

SMALL = LatexOcr(height=50, width=140, dpi=80, longest=12)


def data(seed=0, batch_size=8, **settings):
    return LatexOcrData(SMALL, seed, batch_size, batches_per_check=4, check_items=100, **settings)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_training_batches_are_a_function_of_seed_and_number():
    assert same(data().training_batch(5), data().training_batch(5))
    assert not same(data().training_batch(5), data().training_batch(6))
    assert not same(data().training_batch(5), data(seed=1).training_batch(5))


def test_going_back_gives_the_same_batch():
    module = data(batch_size=200)
    first = module.training_batch(0)
    module.training_batch(9)
    assert same(module.training_batch(0), first)


@pytest.mark.parametrize("size", [10, 500, 700])
def test_the_training_stream_does_not_depend_on_the_batch_size(size):
    """Item i of a seed is the same in any batch size, also where a batch lies across two blocks."""
    items = 2 * BLOCK + 70

    def drawn(batch_size):
        module = data(3, batch_size)
        batches = [module.training_batch(number) for number in range(-(-items // batch_size))]
        return torch.cat([batch.inputs for batch in batches])[:items], batches

    expected, _ = drawn(64)
    images, batches = drawn(size)
    assert torch.equal(images, expected)
    for batch in batches:
        for item in range(0, size, 61):
            seen = [KIND_NUMBERS[token] for token in batch.labels[item] if token >= 0 and KIND_NUMBERS[token] >= 0]
            sites = batch.sites[batch.sites[:, 0] == item, 1].tolist()
            assert sites == seen or len(sites) < len(seen)


def test_batches_have_the_documented_shapes():
    batch = data().training_batch(0)
    assert batch.inputs.shape == (8, 1, 50, 140)
    assert batch.inputs.dtype == torch.float32
    assert set(batch.inputs.unique().tolist()) == {0.0, 1.0}
    assert batch.labels.shape == (8, 12)
    assert batch.labels.dtype == batch.sites.dtype == torch.int64
    assert batch.labels.max() < data().vocabulary - 2
    assert batch.sites[:, 1].max() < data().kinds


def test_what_networks_ask_for():
    module = data()
    assert (module.kinds, module.vocabulary, module.spatial, module.in_channels) == (20, 28, (50, 140), 1)
    assert len(module.kind_names) == 20
    assert len(module.token_names) == 26


def test_fixed_sets_do_not_depend_on_seed_or_size():
    few, many = data(), data(seed=7)
    few.test_items, many.test_items = 100, 300
    assert [len(batch.labels) for batch in many.test_dataloader()] == [128, 128, 44]
    first = next(iter(many.test_dataloader()))
    assert torch.equal(next(iter(few.test_dataloader())).inputs, first.inputs[:100])
    assert same(next(iter(few.val_dataloader())), next(iter(many.val_dataloader())))
    assert not torch.equal(next(iter(few.val_dataloader())).labels, first.labels[:100])
    assert (len(few.val_dataloader()), len(many.test_dataloader())) == (1, 3)


def test_a_loop_repeats_formulas_but_not_noise():
    items = Items(SMALL, Streams(0), "batches", loop_size=5)
    first, second = (items.batch(np.arange(start, start + 5)) for start in (0, 5))
    assert torch.equal(first.labels, second.labels)
    assert torch.equal(first.sites, second.sites)
    assert not torch.equal(first.inputs, second.inputs)
    assert torch.equal(first.labels, Items(SMALL, Streams(0), "batches").batch(np.arange(5)).labels)


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_share_a_batch(processes):
    whole = data().training_batch(3)
    parts = []
    for rank in range(processes):
        module = data()
        module.trainer = type("Trainer", (), {"global_rank": rank, "world_size": processes})()
        parts.append(module.training_batch(3).inputs)
    assert torch.equal(torch.stack(parts, dim=1).flatten(0, 1), whole.inputs)


def test_slow_images_are_kept_and_found_again(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    calls = []

    def render(formulas, dpi):
        calls.append(len(formulas))
        from sparseid.data.latex_ocr.builtin import render as drawn

        return drawn(formulas, dpi)

    monkeypatch.setattr(pdflatex, "render", render)
    slow = replace(SMALL, renderer="pdflatex")
    assert slow.kept_under["renderer"] == "pdflatex"
    numbers = np.arange(40)
    expected = Items(SMALL, FIXED, "latex_ocr/test").batch(numbers)
    for _ in range(2):
        items = Items(slow, FIXED, "latex_ocr/test")
        assert same(items.batch(numbers), expected)
        items._blocks[1].result()  # being made ahead
    assert calls == [BLOCK, BLOCK]
    assert len(list(tmp_path.rglob("prepared-*.npz"))) == 2
    other = Items(slow, Streams(1), "latex_ocr/test", end=40).batch(numbers)
    assert not torch.equal(other.labels, expected.labels)
    assert calls == [BLOCK] * 3  # nothing is made ahead that nobody will ask for
