"""An early stop keeps the best weights of every member, and resumes to the same numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.methods.module import StackedModule
from sparseid.methods.sparse_vae.module import SparseVAEModule
from sparseid.training.callbacks import EarlyStop
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute


class Stack(StackedModule):
    """Two models of one weight each."""

    def __init__(self):
        super().__init__([0, 1])
        self.weight = torch.nn.Parameter(torch.zeros(2, 1))


def validated(stop, module, step, errors):
    module.weight.data.fill_(step)
    module.validation_errors = torch.tensor(errors)
    trainer = SimpleNamespace(global_step=step, max_steps=100, should_stop=False)
    stop.on_validation_end(trainer, module)
    return trainer.should_stop


CURVE = [(1, [3.0, 5.0]), (2, [2.0, 6.0]), (3, [4.0, 4.0]), (4, [4.0, 9.0]), (5, [1.0, 9.0])]
"""With a patience of 2, the first member stops after step 4 and misses 1.0; the second after step 5."""


@pytest.mark.parametrize("interrupted_after", [None, 1, 3])
def test_each_member_gets_its_own_best_weights(interrupted_after):
    lines = []
    stop, module = EarlyStop(2, lines.append), Stack()
    stopped = []
    for step, errors in CURVE:
        stopped.append(validated(stop, module, step, errors))
        if step == interrupted_after:
            state = stop.state_dict()
            stop = EarlyStop(2, lines.append)
            stop.load_state_dict(state)
    assert stopped == [False, False, False, False, True]
    stop.on_train_end(SimpleNamespace(), module)
    assert module.weight.flatten().tolist() == [2, 3]
    assert lines == ["stopped at step 5: no improvement in 2 validations"]


def test_a_member_without_a_finite_validation_keeps_its_last_weights_and_a_warm_up_does_not_count():
    stop, module = EarlyStop(3, print), Stack()
    module.validation_errors = None
    stop.on_validation_end(SimpleNamespace(), module)
    for step in (1, 2):
        validated(stop, module, step, [float(step), float("nan")])
    stop.on_train_end(SimpleNamespace(), module)
    assert module.weight.flatten().tolist() == [1, 2]


@pytest.fixture
def config(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(60, 5))
    np.savetxt(tmp_path / "mine.csv", table, delimiter=",", header="a,b,c,d,e", comments="")

    def composed(folder, *changes):
        named = f"data.path={tmp_path / 'mine.csv'}", f"outputs={tmp_path / folder}", "trainer.accelerator=cpu"
        return compose(["experiment=sparse_vae/arrays", "scale=smoke", "method.lr=0.3", *named, *changes])

    return composed


def results(folder):
    values = [(row.seed, row.metric, tuple(row.keys.items()), row.value) for row in read_rows(folder / "result.json")]
    return values, (folder / "metrics.csv").read_text()


def test_an_interrupted_run_stops_where_an_undisturbed_one_does(config, monkeypatch, capsys):
    undisturbed = execute(config("whole"))
    step = SparseVAEModule.training_step

    def killed(self, batch, number):
        if self.global_step == 13:
            raise KeyboardInterrupt
        return step(self, batch, number)

    monkeypatch.setattr(SparseVAEModule, "training_step", killed)
    with pytest.raises(KeyboardInterrupt):
        execute(config("cut"))
    monkeypatch.setattr(SparseVAEModule, "training_step", step)
    resumed = execute(config("cut"))
    assert results(resumed) == results(undisturbed)
    kept = load(undisturbed / "checkpoints" / "last.ckpt")
    best = kept["callbacks"]["EarlyStop"]["weights"]
    for name, values in kept["state_dict"].items():
        torch.testing.assert_close(values, best[name.replace(".", "-")])
    with np.load(undisturbed / "arrays.npz") as arrays:
        assert arrays["feature_names"].tolist() == list("abcde")
        assert len(arrays["row_ids"]) == len(arrays["codes"]) == 12
    rows = read_rows(undisturbed / "result.json")
    assert {row.keys["method"] for row in rows if row.metric == "mse"} == {"sparse_vae", "mean", "pca"}
    assert "not better than a baseline: mse" in capsys.readouterr().out


def test_a_method_without_an_early_stop_says_so():
    with pytest.raises(InputError, match=r"sparling has no early stop: set trainer.early_stop.patience=0"):
        compose(["experiment=digitcircle", "scale=smoke", "trainer.early_stop.patience=3"])
