from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.data.splicing import datamodule
from sparseid.data.splicing.datamodule import SpliceAIData, SplicingData
from sparseid.data.splicing.settings import SplicingSettings

from .conftest import CONTEXT, LENGTH


def build(settings, seed=0):
    run = SimpleNamespace(seed=seed, batch_size=8, check_every=32, check_items=40)
    return SplicingData.from_settings(settings, run)


def everything(chunks):
    batches = list(chunks)
    inputs, labels = (torch.cat([batch[part] for batch in batches]) for part in (0, 1))
    return inputs, labels, batches


@pytest.fixture
def synthetic():
    return SplicingSettings(length=50, context=10, prevalence=0.02, footprint=4, regulators=3, motif_width=4, reach=6)


def test_synthetic_batches(synthetic):
    data = build(synthetic)
    assert (data.kinds, data.kind_names, data.background) == (5, ("3P", "5P", "R1", "R2", "R3"), (0, 1))
    assert (data.spatial, data.context, data.vocabulary) == ((70, 1), 10, 3)
    batch = data.training_batch(3)
    assert batch.inputs.shape == (8, 4, 70)
    assert batch.labels.shape == (8, 50)
    assert not len(batch.sites)  # training never sees them
    test = next(iter(data.fixed_set("test", 20)))
    assert test.inputs.shape == (20, 4, 70)
    item, kind, start, stop = test.sites.T
    assert set(kind.tolist()) == set(range(5))
    assert (item.diff() >= 0).all()
    assert start.min() >= 0
    assert stop.max() <= 50
    assert (stop - start <= 9).all()


def test_a_synthetic_item_is_a_function_of_seed_and_number(synthetic):
    assert torch.equal(build(synthetic).training_batch(5).inputs, build(synthetic).training_batch(5).inputs)
    assert not torch.equal(build(synthetic).training_batch(5).inputs, build(synthetic, 1).training_batch(5).inputs)
    first, second = (build(synthetic, seed).fixed_set("validation", 9) for seed in (0, 1))
    assert torch.equal(next(iter(first)).inputs, next(iter(second)).inputs)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"regulators": 0}, "data.regulators"),
        ({"prevalence": 0.001}, "data.prevalence"),
        ({"context": 9}, "data.context"),
    ],
)
def test_impossible_synthetic_settings_are_refused(change, key):
    good = {"length": 50, "context": 10, "prevalence": 0.02, "footprint": 4}
    good |= {"regulators": 3, "motif_width": 4, "reach": 6}
    assert not list(SplicingSettings(**good).errors(None))
    (error,) = SplicingSettings(**(good | change)).errors(None)
    assert key in error.keys


def test_an_epoch_has_every_sequence_once_in_an_order_of_its_own(config):
    data = build(config())
    assert isinstance(data, SpliceAIData)
    epochs = [data.training_items(np.arange(start, start + 60)).inputs for start in (0, 60)]
    assert not torch.equal(*epochs)
    codes = [sorted(map(bytes, epoch.numpy().astype(np.uint8))) for epoch in epochs]
    assert codes[0] == codes[1]
    assert len(set(codes[0])) == 60
    across = data.training_items(np.arange(56, 64)).inputs  # the end of one epoch and the beginning of the next
    assert torch.equal(across, torch.cat([epochs[0][56:], epochs[1][:4]]))
    assert not torch.equal(build(config(), 1).training_items(np.arange(60)).inputs, epochs[0])


def test_training_and_test_come_from_their_files(config):
    data = build(config())
    batch = data.training_batch(0)
    assert batch.inputs.shape == (8, 4, LENGTH + 2 * CONTEXT)
    assert batch.labels.shape == (8, LENGTH)
    assert batch.labels.unique().tolist() == [0, 1, 2]
    inputs, labels, _ = everything(data.fixed_set("test", 1000))
    assert len(inputs) == len(labels) == 40  # all there are
    assert len(data.files) == 5


@pytest.mark.parametrize("source", ["train", "held_out"])
def test_validation_shares_sequences_with_training_only_as_published(config, source):
    data = build(config(validation_from=source))
    validated = {bytes(x) for x in everything(data.fixed_set("validation", 1000))[0].numpy().astype(np.uint8)}
    trained = {bytes(x) for x in data.training_items(np.arange(120)).inputs.numpy().astype(np.uint8)}
    assert (len(trained), len(validated)) == ((60, 60) if source == "train" else (50, 10))
    assert bool(trained & validated) == (source == "train")


def test_proteins_have_as_many_sites_as_asked_for(config):
    data = build(config(prevalence=0.05))
    assert data.kind_names == ("3P", "5P", "A1CF", "QKI")
    inputs, _, batches = everything(data.fixed_set("test", 40))
    scores = data._motifs.scores(inputs)[:, CONTEXT:-CONTEXT].flatten(0, 1).double().numpy()
    expected = np.quantile(scores, 0.95, axis=0)  # the test file has fewer than 1,000 sequences
    np.testing.assert_allclose(data._thresholds, expected, rtol=1e-5)
    kinds = torch.cat([batch.sites for batch in batches])[:, 1]
    assert (kinds == 3).sum() == (scores[:, 1] > expected[1] * (1 + 1e-6)).sum()
    core = data._core.scores(inputs)[:, CONTEXT:-CONTEXT] > 0
    assert [(kinds == kind).sum() for kind in (0, 1)] == core.sum((0, 1)).tolist()


def test_thresholds_are_those_of_the_first_sequences_of_the_test_file(config, monkeypatch):
    monkeypatch.setattr(datamodule, "CALIBRATED", 30)  # of 25 and 15
    data = build(config(prevalence=0.05))
    bases = np.concatenate([data.test.chunk(0).bases, data.test.chunk(1).bases[:5]])
    inputs = torch.from_numpy(bases).transpose(1, 2).float()
    scores = data._motifs.scores(inputs)[:, CONTEXT:-CONTEXT].flatten(0, 1).double().numpy()
    np.testing.assert_allclose(data._thresholds, np.quantile(scores, 0.95, axis=0), rtol=1e-5)


def test_a_run_says_that_it_has_other_proteins_than_the_paper(config):
    assert any(line.startswith("2 proteins, where Figure 12 has 79") for line in build(config()).remarks)
