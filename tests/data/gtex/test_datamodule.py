"""Cells as a method gets them: shared inputs, labels per seed, scaling by the training cells, held-out types."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from sparseid.data.gtex import datamodule as module
from sparseid.data.gtex.datamodule import GtexData, held_out_types, scaled, split_cells
from sparseid.data.gtex.phenotypes import draw_phenotype
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.gtex.tf_targets import read_tf_targets
from sparseid.errors import InputError
from sparseid.streams import Streams

pytestmark = pytest.mark.filterwarnings("ignore:.*the paper has 43")


@pytest.fixture
def cells(adata, write, settings):
    """Return a data module on the small file, set up."""
    path = str(write(adata))

    def make(seeds=(0, 1), **changes):
        data = GtexData(settings(path=path, **changes), list(seeds), batch_size=4)
        data.setup()
        return data

    return make


def test_each_type_is_split_in_halves_and_quarters(cells):
    data = cells()
    sizes = [np.bincount(split.environments).tolist() for split in (data.train, data.validation, data.test)]
    assert sizes == [[15, 12, 6, 4], [7, 6, 3, 2], [8, 6, 3, 3]]
    assert sorted(np.concatenate(data.splits)) == list(range(75))
    assert split_cells(np.zeros(4, int))[2].shape == (1,)


def test_inputs_are_the_factors_of_the_chosen_latents(cells, table):
    choices = set()
    for choice in range(5):
        data = cells(z_choice=choice)
        regulators = read_tf_targets(table)
        expected = {factor for gene in data.latent_genes for factor in regulators[gene]} - {"NOT_MEASURED"}
        assert set(data.input_genes) == expected
        assert data.train.inputs.shape == (2, 37, data.features) == (2, 37, len(expected))
        assert data.test.latents.shape == (2, 20, 5)
        choices.add(tuple(data.latent_genes))
    assert len(choices) == 5


def test_values_are_scaled_by_the_training_cells(cells):
    data = cells()
    np.testing.assert_allclose(data.train.inputs[0].mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(data.train.inputs[0].std(0, unbiased=False), 1, atol=1e-5)
    x, _ = cells(standardise="none").values()
    column = list(data.cells.genes).index(data.input_genes[0])
    np.testing.assert_array_equal(x[:, 0], data.cells.expression[:, column])
    np.testing.assert_array_equal(scaled(np.full((4, 2), 0.1), np.arange(3)), 0)


def test_labels_are_linear_in_the_latents_with_the_weights_of_the_environment(cells):
    data = cells(noise_std_y=0.0, S=2)
    for member, seed in enumerate(data.seeds):
        tree = data.cells.dendrogram.tree
        weights = draw_phenotype(tree, 5, 2, 0.5, Streams(seed)).weights.astype(np.float32)
        expected = (data.test.latents[member].numpy() * weights[data.test.environments]).sum(axis=1)
        np.testing.assert_allclose(data.test.labels[member], expected, atol=1e-5)
    assert not torch.equal(data.train.labels[0], data.train.labels[1])
    assert torch.equal(data.train.inputs[0], data.train.inputs[1])


def test_noise_has_the_stated_spread_and_is_the_same_for_every_s(cells):
    quiet, loud = cells(noise_std_y=0.0), cells(noise_std_y=0.5)
    noise = np.concatenate(
        [(loud.train.labels - quiet.train.labels).ravel(), (loud.test.labels - quiet.test.labels).ravel()]
    )
    assert noise.std() == pytest.approx(0.5, rel=0.25)
    more = cells(noise_std_y=0.5, S=3).test.labels - cells(noise_std_y=0.0, S=3).test.labels
    torch.testing.assert_close(more, loud.test.labels - quiet.test.labels, atol=1e-5, rtol=0)


def test_a_member_is_the_same_alone_or_among_others(cells):
    together, alone = cells(seeds=(4, 7, 2)), cells(seeds=(7,))
    torch.testing.assert_close(together.train.labels[1], alone.train.labels[0], rtol=0, atol=0)
    torch.testing.assert_close(together.training_batch(3).inputs[1], alone.training_batch(3).inputs[0], rtol=0, atol=0)
    assert together.training_batch(3).labels.shape == (3, 4)


def test_a_held_out_type_is_tested_with_the_environment_of_the_closest(cells):
    full, data = cells(noise_std_y=0.0), cells(noise_std_y=0.0, held_out={"index": 0})
    found = held_out_types(full.cells, 10, 20)[0]
    assert data.held_out == found
    assert data.unseen == full.cells.types[found.type]
    assert (len(data.tree.observed), data.tree.arcs) == (3, 5)
    left = [name for number, name in enumerate(full.cells.types) if number != found.type]
    closest = left.index(full.cells.types[found.closest])
    assert set(data.test.environments.tolist()) == {closest}
    assert len(data.test) == np.count_nonzero(full.cells.codes == found.type) == data.test_items
    assert len(data.train) < len(full.train)
    # what is left of the tree leads to the same weights as before
    deltas = draw_phenotype(full.tree, 5, 1, 0.5, Streams(0))
    weights = np.delete(deltas.weights, found.type, axis=0)
    expected = (data.values()[1] * weights[data.environments()])[data.splits[0]].sum(axis=1)
    np.testing.assert_allclose(data.train.labels[0], expected, atol=1e-5)


def test_the_unseen_type_differs_from_the_closest_in_one_weight_even_for_s_0(cells):
    data = cells(noise_std_y=0.0, S=0, held_out={"index": 0})
    z = data.test.latents[0].numpy().astype(float)
    weights = np.linalg.lstsq(z, data.test.labels[0].numpy().astype(float), rcond=None)[0]
    closest = draw_phenotype(data.full_tree, 5, 0, 0.5, Streams(0)).weights[data.held_out.closest]
    assert np.count_nonzero(np.abs(weights - closest) > 1e-3) == 1


def test_the_baseline_trains_on_the_closest_type_with_the_same_labels(cells):
    everything = cells(held_out={"index": 0})
    closest = cells(held_out={"index": 0, "train_on": "closest"})
    torch.testing.assert_close(everything.test.labels, closest.test.labels)
    torch.testing.assert_close(everything.test.inputs, closest.test.inputs)
    assert set(closest.train.environments.tolist()) == set(closest.test.environments.tolist())
    here = everything.train.environments == closest.train.environments[0]
    torch.testing.assert_close(everything.train.labels[:, here], closest.train.labels)


def test_contracting_takes_the_node_above_out(cells):
    assert cells(held_out={"index": 0, "contract": True}).tree.arcs == 4


def test_choices_and_held_out_types_that_are_none_are_refused(cells):
    with pytest.raises(InputError, match=r"126 ways, data.z_choice=126 is not one of them"):
        cells(z_choice=126)
    with pytest.raises(InputError, match=r"data.held_out.index=9: \d cell types have at least 10 cells"):
        cells(held_out={"index": 9})
    with pytest.raises(InputError, match=r"0 cell types .*none"):
        cells(held_out={"index": 0, "min_neighbour": 1000})


def test_cells_that_are_not_the_papers_are_noted_with_their_numbers(cells, monkeypatch):
    assert cells().note == "4 types with 75 cells, where the paper has 43 with 15256: not the paper's cells"
    assert cells().domain == "othercells"  # so that no table takes its rows for the paper's cells
    assert cells(exclude=["A"]).note.startswith("3 types with 45 cells, where")
    monkeypatch.setitem(SOURCES, "atlas", replace(SOURCES["atlas"], expected=(4, 75)))
    assert (cells().note, cells().domain) == ("", "")
    note = SOURCES["semi_synthetic"].note_on(43, 100)
    assert note.startswith("synthetic")
    assert "43 types with 100 cells, where the paper has 43 with 15256" in note


def test_the_log_is_told_which_files_were_read(cells, table, tmp_path):
    data = cells()
    contents = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "cells.h5ad", table)}
    assert data.files == contents
    assert data.remarks == [f"read {path} (SHA-256 {content[:16]})" for path, content in contents.items()]


def test_more_types_to_hold_out_than_the_papers_are_named(cells, monkeypatch):
    everyone = {"index": 0, "min_population": 0, "min_neighbour": 0}
    assert len(cells(held_out=everyone).remarks) == 2
    monkeypatch.setattr(module, "PAPERS_HELD_OUT", 3)
    remark = cells(held_out=everyone).remarks[-1]
    assert "4 cell types qualify for being held out, the paper has 3: its figure takes the first" in remark
    assert "here, A, B, C, and not D (" in remark
    assert len(cells().remarks) == 2


def test_fewer_training_cells_than_a_batch_are_refused(adata, write, settings):
    with pytest.raises(InputError, match="37 training cells do not fill a batch of 38"):
        GtexData(settings(path=str(write(adata))), [0], 38)
