"""Shared behaviour of methods: the last weights are tested on all test items, and members that diverge are named."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.measurements import Evaluation, Measurement
from sparseid.methods.module import ExperimentModule, StackedModule


def attached(module, test_items=7):
    module._trainer = SimpleNamespace(datamodule=SimpleNamespace(test_items=test_items))
    return module


def test_the_last_weights_are_tested_on_all_test_items():
    module = attached(ExperimentModule())
    assert module.evaluations(Path("run")) == [Evaluation({}, Path("run/checkpoints/last.ckpt"), 7)]
    assert (module.milestone, module.progress_note, module.evaluation) == (None, "", None)


def test_a_test_begins_without_the_results_of_the_last_one():
    module = ExperimentModule()
    module.measurements, module.remarks = [Measurement("mcc", 0.5)], ["doubtful"]
    module.arrays = {"codes": np.zeros(3)}
    module.on_test_start()
    assert (module.measurements, module.remarks, module.arrays) == ([], [], {})


def test_a_base_adds_nothing_to_a_checkpoint():
    assert StackedModule([0, 1]).state_dict() == {}


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([1.0, 3.0], "loss 2"),
        ([1.0, float("nan")], "loss 1; diverged: seed 8"),
        ([float("inf"), float("nan")], "; diverged: seed 3, 8"),
    ],
)
def test_members_that_have_diverged_are_named_and_not_averaged(values, note):
    module = StackedModule([3, 8])
    module.note_validation("loss", values)
    assert module.progress_note == note


@pytest.mark.parametrize("values", [[1.0, 2.0], torch.tensor([1.0, 2.0])])
def test_members_are_logged_under_their_seeds(values):
    module, logged = StackedModule([3, 8]), {}
    module.log_dict = logged.update
    module.log_members("val_mse", values)
    assert logged == {"val_mse/seed3": 1.0, "val_mse/seed8": 2.0}
