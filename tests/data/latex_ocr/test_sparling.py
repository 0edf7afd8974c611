"""Sparling and its variants on formulas: seconds each, whose numbers mean nothing."""

from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf

from sparseid.config.components import settings_class
from sparseid.config.schema import RunConfig
from sparseid.config.validate import problems
from sparseid.data.latex_ocr import single
from sparseid.data.latex_ocr.grammar import names, numbers
from sparseid.measurements import Evaluation
from sparseid.methods.sparling.networks import Domain
from sparseid.project import CONFIGS
from sparseid.settings import TrainerSettings
from sparseid.training.build import build_data, build_module

TINY_DATA = {"height": 60, "width": 180, "dpi": 100, "longest": 8}
TINY = {
    "encoder": {"width": 8, "blocks": 1, "stem_kernel": 5, "stride": 2, "channels": 24},
    "sparse": {"batch_norm": "plain", "accumulate_motifs": 10},
    "decoder": {"width": 16, "pool": 4, "positions": "grid", "encoder_layers": 1, "decoder_layers": 1, "heads": 2}
    | {"feedforward": 32},
    "schedule": {"start_density": 0.5, "min_density": 0.05, "target_fall_per_sample": 0.01, "check_every": 16}
    | {"check_items": 8},
    "optimizer": {"lr": 0.001},
    "evaluation": {"items": 10, "curve_items": 10, "decode_steps": 10, "channel_map": "many_to_one"}
    | {"single_items": 30, "binned_items": 4, "perturbed_items": 3},
}
TABLE_2 = [{}, {"split": "without_plus_parens"}]


@pytest.fixture(autouse=True)
def _few_drawings(monkeypatch, tmp_path):
    """Single symbols are kept in a folder of this test, and come from few formulas."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    monkeypatch.setattr(single, "IMAGES", 300)


def settings(group, name, changes):
    stored = OmegaConf.load(CONFIGS / group / f"{name}.yaml")
    del stored["defaults"]
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(settings_class(group, name)), stored, changes))


def run(**method):
    parts = {"experiment": "x", "scale": "smoke", "paper": "sparling", "trainer": TrainerSettings(32, batch_size=8)}
    data, method = settings("data", "latex_ocr", TINY_DATA), settings("method", "sparling", TINY | method)
    return RunConfig(method=method, data=data, **parts)


def trained(cfg, source=None):
    """Train for four steps, from another module's weights where one is given, and test; return the module."""
    assert problems(cfg) == []
    torch.manual_seed(0)
    data = build_data(cfg)
    module = build_module(cfg, data)
    if source is not None:
        module.start_from(source.state_dict())
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = pl.Trainer(max_steps=4, num_sanity_val_steps=0, accelerator="cpu", enable_model_summary=False, **quiet)
    trainer.fit(module, datamodule=data)
    data.test_items, module.evaluation = 10, Evaluation({"steps_above": 0}, Path(), 10)
    trainer.test(module, datamodule=data, verbose=False)
    return module


def table_2(module):
    return [measured.keys for measured in module.measurements if measured.metric == "direct_error"]


def test_sparling_is_trained_and_evaluated_and_a_decoder_retrained_on_its_encoder():
    module = trained(run())
    values = {measured.metric: measured.value for measured in module.measurements}
    assert {"e2ee", "fpe", "fne", "ce", "density", "binning_delta", "perturbation_accuracy"} <= set(values)
    assert 0 < values["e2ee"] <= 100
    assert table_2(module) == TABLE_2
    assert module.arrays["example_images"].shape == (10, 60, 180)
    assert module.arrays["example_maps"].shape == (10, 24, 30, 90)
    retrained = trained(run(training="retrained"), source=module)
    assert {measured.metric for measured in retrained.measurements} == {"e2ee", "exact_accuracy"}


def test_a_classifier_learns_single_symbols():
    module = trained(run(training="direct"))
    assert table_2(module) == TABLE_2
    assert all(0 <= measured.value <= 100 for measured in module.measurements)


def test_single_symbols_are_shared_by_all_seeds_and_trained_on_by_number():
    data = build_data(run())
    assert Domain.of(data).kinds == 20
    first, second = data.single_motif_set("test", 160)
    assert (first.inputs.shape, len(second.labels)) == ((128, 1, 20, 20), 32)
    assert first.labels.shape == (128, 1)
    assert first.sites[:, 1].tolist() == first.labels[:, 0].tolist()
    assert first.sites[5].tolist() == [5, int(first.labels[5, 0]), 0, 20, 0, 20]
    assert data.kind_names.index("bar") not in first.labels
    data.single_motifs = True
    batch = data.training_batch(70)
    assert batch.inputs.shape == (8, 1, 20, 20)
    assert torch.equal(batch.inputs, data.training_batch(70).inputs)
    assert not torch.equal(batch.inputs, data.training_batch(71).inputs)
    [check] = data.val_dataloader()
    assert check.inputs.shape == (8, 1, 20, 20)


def test_table_2_has_a_row_without_plus_and_parentheses():
    data = build_data(run())
    assert [test.keys for test in data.single_motif_tests] == TABLE_2
    assert [sorted(data.kind_names[kind] for kind in test.without) for test in data.single_motif_tests] == [
        [], ["(", ")", "+"]
    ]  # fmt: skip


def test_digits_and_letters_take_each_others_place_in_labels():
    data = build_data(run())
    symbols = {data.kind_names[kind]: data.token_names[token] for kind, token in data.exchangeable.items()}
    assert symbols == {symbol: symbol for symbol in "0123456789abcxyz"}
    label, (x, nine) = list(numbers("x SUP( 2 SUP) + x")), numbers("x 9")
    assert names(data.exchanged(label, x, nine)) == "9 SUP( 2 SUP) + 9"
