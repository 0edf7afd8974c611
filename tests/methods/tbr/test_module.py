import math
from pathlib import Path

import numpy as np
import pytest
import torch

from sparseid.errors import ConfigError
from sparseid.methods.tbr import losses
from sparseid.methods.tbr.module import TBRModule
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunDiverged
from sparseid.training.rows import read_rows
from sparseid.training.run import execute


def numbers(folder: Path, seed=None):
    """Rows of a run without what passes, of one seed or all."""
    return {
        (row.seed, row.metric, *sorted(map(str, row.keys.items()))): row.value
        for row in read_rows(folder / "result.json")
        if seed in (None, row.seed)
    }


def curve(folder: Path, seed: int):
    lines = (folder / "metrics.csv").read_text().splitlines()
    return [line for line in lines if f"seed{seed}," in line]


def state(folder: Path):
    return load(folder / "checkpoints" / "last.ckpt")["state_dict"]


def deltas(folder: Path):
    return state(folder).get("model.deltas")


@pytest.fixture
def batch(config):
    """The first training batch of a smoke run, with its module."""
    cfg = config("method.latent_norm=none")
    data = build_data(cfg)
    data.setup()
    return data.training_batch(0), build_module(cfg, data)


def test_loss_is_the_sum_of_the_members_errors_and_penalties(batch):
    batch, module = batch
    module.model.deltas.data = torch.randn(module.model.deltas.shape, generator=torch.Generator().manual_seed(0))
    expected = 0.0
    for member in range(2):
        latents = module.model.encoder(batch.inputs)[member]
        weights = module.model.weights()[member, batch.environments[member]]
        expected += ((latents * weights).sum(dim=1) - batch.labels[member]).square().mean()
        expected += 0.001 * module.model.deltas[member].abs().sum()
    torch.testing.assert_close(module.training_step(batch, 0), expected)


def test_with_a_proximal_step_the_deltas_have_no_gradient_from_the_penalty(batch):
    batch, module = batch
    module.model.deltas.data += 1
    gradients = {}
    for penalty in ("prox_l1", "l1"):
        module.method.penalty = penalty
        module.zero_grad()
        module.training_step(batch, 0).backward()
        gradients[penalty] = module.model.deltas.grad
    difference = gradients["l1"] - gradients["prox_l1"]
    torch.testing.assert_close(difference, torch.full_like(difference, 0.001), rtol=0, atol=1e-6)


def test_in_the_penalty_the_latents_scale_makes_up_for_that_of_the_weights(batch):
    batch, module = batch
    module.method.latent_norm = "in_penalty"
    model = module.model
    model.deltas.data = torch.randn(model.deltas.shape, generator=torch.Generator().manual_seed(0))

    def losses():
        found = {}
        for module.method.latent_norm in ("in_penalty", "none"):
            found[module.method.latent_norm] = module.training_step(batch, 0).item()
        return found

    before = losses()
    for parameter in (model.encoder[-1].weight, model.encoder[-1].bias):
        parameter.data *= 3
    for parameter in (model.root_weights, model.deltas):
        parameter.data /= 3
    after = losses()
    assert after["in_penalty"] == pytest.approx(before["in_penalty"], rel=1e-5)
    assert after["none"] < before["none"] - 0.01  # the same fit, for less


TWENTY = list(range(60, 20, -2))
"""Seeds of a stack: no member stands in its seed's place."""


def gradients(cfg):
    """Gradients of the first training step, through the data module; deltas away from zero, where the penalty bends."""
    data = build_data(cfg)
    data.setup()
    module = build_module(cfg, data)
    module.model.deltas.data += 0.1
    module.training_step(data.training_batch(0), 0).backward()
    return {name: parameter.grad for name, parameter in module.model.named_parameters()}


def test_each_of_20_members_has_the_numbers_it_has_alone(config):
    stack = config(f"seeds={TWENTY}")
    together, of_stack = execute(stack), gradients(stack)
    trained = state(together)
    for place, run in ((0, config("seeds=[60]")), (7, config("seeds=[]", "seed=46")), (19, config("seeds=[22]"))):
        for name, gradient in gradients(run).items():
            near = {"rtol": 1e-5, "atol": 1e-5 * gradient.abs().max().item()}
            torch.testing.assert_close(of_stack[name][place], gradient[0], **near)
        alone = execute(run)
        for name in of_stack:
            weights = state(alone)[f"model.{name}"]
            torch.testing.assert_close(trained[f"model.{name}"][place], weights[0], rtol=1e-5, atol=1e-5)
        measured, expected = numbers(together, TWENTY[place]), numbers(alone)
        assert list(measured) == list(expected)
        assert len(expected) == 2 + 2 * 10
        np.testing.assert_allclose(list(measured.values()), list(expected.values()), rtol=1e-5)
    assert all(len(gradient) == len(TWENTY) == 20 for gradient in of_stack.values())


def test_every_member_has_a_validation_curve(config):
    folder = execute(config("seeds=[3,0]"))
    for seed in (3, 0):
        values = [float(line.split(",")[3]) for line in curve(folder, seed)]
        assert len(values) == 6  # epochs
        assert values[-1] < values[0]


@pytest.mark.parametrize(
    ("step", "changes"),
    [
        *((7, ()), (20, ()), (41, ()), (4, ("method.penalty=prox_l1",)), (20, ("method.latent_norm=batchnorm",))),
        *((step, ("method.estimator=warm_start", "method.warm_up_samples=400")) for step in (9, 10, 11)),
        (20, ("method.test_weights=best",)),
        (20, ("method.test_weights=best", "method.tuning.lr=[0.01,0.001]")),
    ],
)
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed, step, changes):
    undisturbed = execute(config(*changes, f"outputs={config().outputs}/a"))
    run = config(*changes, f"outputs={config().outputs}/b", "trainer.save_every_s=0")
    again = resumed(run, TBRModule, step)
    assert numbers(again) == numbers(undisturbed)
    assert (again / "metrics.csv").read_text() == (undisturbed / "metrics.csv").read_text()
    first, second = map(state, (undisturbed, again))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_proximal_step_gives_exact_zeros_and_the_gradient_none(config):
    weight = "method.penalty_weight=0.2"
    plain, proximal = (deltas(execute(config(weight, f"method.penalty={kind}"))) for kind in ("l1", "prox_l1"))
    assert (plain != 0).all()
    assert 0.2 < (proximal == 0).double().mean() < 1
    assert (proximal != 0).any()
    assert not deltas(execute(config("method.penalty_weight=10", "method.penalty=prox_l1"))).any()


def test_the_proximal_step_is_lr_times_lambda_over_adams_denominator(batch):
    batch, module = batch
    module.model.deltas.data += 0.3
    adam = module.configure_optimizers()
    for _ in range(2):
        adam.zero_grad()
        module.training_step(batch, 0).backward()
        adam.step()
    before = module.model.deltas.detach().clone()
    module.shrink_deltas(adam)
    second = adam.state[module.model.deltas]["exp_avg_sq"] / (1 - 0.999**2)
    threshold = 1e-3 * 1e-3 / (second.sqrt() + 1e-8)
    expected = before.sign() * (before.abs() - threshold).clamp(min=0)
    torch.testing.assert_close(module.model.deltas.detach(), expected)


def test_the_baseline_has_no_deltas(config):
    folder = execute(config("method.variant=baseline"))
    assert deltas(folder) is None
    weights = np.load(folder / "arrays.npz")["weights"]
    assert (weights == weights[:, :1]).all()
    assert {row.keys["method"] for row in read_rows(folder / "result.json")} == {"baseline"}


def test_one_member_that_diverges_stops_no_other(config, monkeypatch, capsys):
    def poisoned(self, batch, batch_idx):
        if self.global_step == 10:
            self.model.root_weights.data[0] = math.nan
        return training_step(self, batch, batch_idx)

    undisturbed = numbers(execute(config("seeds=[0,1]", f"outputs={config().outputs}/a")), 1)
    training_step = TBRModule.training_step
    monkeypatch.setattr(TBRModule, "training_step", poisoned)
    folder = execute(config("seeds=[0,1]", f"outputs={config().outputs}/b"))
    assert set(numbers(folder, 0).values()) == {None}
    assert len(numbers(folder, 0)) == len(undisturbed)
    assert numbers(folder, 1) == undisturbed
    assert "no results for seed 0" in capsys.readouterr().out
    with pytest.raises(RunDiverged):
        execute(config("seeds=[0]", f"outputs={config().outputs}/c"))


def test_the_weights_of_the_lowest_validation_error_are_tested(config, monkeypatch):
    """The last of six epochs wrecks one member: it is tested as after five, the other as it ended."""
    best = "method.test_weights=best"
    training_step = TBRModule.training_step

    def wrecked(self, batch, batch_idx):
        if self.global_step == 36:
            self.model.root_weights.data[0] += 3
        return training_step(self, batch, batch_idx)

    undisturbed = execute(config(best, f"outputs={config().outputs}/a"))
    five = execute(config(best, "trainer.max_samples=1400", f"outputs={config().outputs}/b"))
    monkeypatch.setattr(TBRModule, "training_step", wrecked)
    folder = execute(config(best, f"outputs={config().outputs}/c"))
    assert numbers(folder, 0) == numbers(five, 0)
    assert numbers(folder, 1) == numbers(undisturbed, 1)
    last = execute(config(f"outputs={config().outputs}/d"))
    assert numbers(last, 0) != numbers(five, 0)


TUNED = ("method.test_weights=best", "method.tuning.penalty_weight=[0.3,0.001]", "method.tuning.lr=[0.001,0.01]")


def alone(weight, rate):
    """Settings of one candidate without tuning."""
    return "method.test_weights=best", f"method.penalty_weight={weight}", f"method.lr={rate}"


def test_each_member_is_tested_with_the_candidate_of_its_lowest_validation_error(config):
    """A tuned stack measures, seed by seed, what the run of the best candidate alone does, and records which one."""
    folder = execute(config(*TUNED, f"outputs={config().outputs}/tuned"))
    rows = read_rows(folder / "result.json")
    choice = {(row.seed, row.metric): row.value for row in rows}
    curves, measured = {}, {}
    for weight, rate in ((0.3, 0.001), (0.3, 0.01), (0.001, 0.001), (0.001, 0.01)):
        run = execute(config(*alone(weight, rate), f"outputs={config().outputs}/{weight}-{rate}"))
        for seed in (0, 1):
            curves[seed, (weight, rate)] = min(float(line.split(",")[3]) for line in curve(run, seed))
            measured[seed, (weight, rate)] = numbers(run, seed)
    for seed in (0, 1):
        errors = {candidate: error for (of, candidate), error in curves.items() if of == seed}
        best = min(errors, key=errors.get)
        assert (choice[seed, "chosen_lambda"], choice[seed, "chosen_lr"]) == best
        assert choice[seed, "val_mse"] == pytest.approx(errors[best], rel=1e-4)
        found = {key: value for key, value in numbers(folder, seed).items() if key in measured[seed, best]}
        assert len(found) == 2 + 2 * 10
        np.testing.assert_allclose(list(found.values()), list(measured[seed, best].values()), rtol=1e-3)
    arrays = np.load(folder / "arrays.npz")
    assert len(arrays["deltas"]) == len(arrays["weights"]) == len(arrays["correlation"]) == 2


def test_known_validation_errors_choose_the_candidate(config, monkeypatch):
    """With these errors in place of the measured ones, seed 0 gets its third candidate, seed 1 its second."""
    of_models = torch.tensor([0.5, 0.4, 0.1, 0.9, 0.8, 0.2, 0.3, math.nan])

    def replaced(self):
        self._squares, self._items = of_models + 0.01 * self.global_step, 1
        on_end(self)

    on_end = TBRModule.on_validation_epoch_end
    monkeypatch.setattr(TBRModule, "on_validation_epoch_end", replaced)
    rows = read_rows(execute(config(*TUNED)) / "result.json")
    choice = {(row.metric, row.seed): row.value for row in rows}
    assert [choice["chosen_lambda", seed] for seed in (0, 1)] == [0.001, 0.3]
    assert [choice["chosen_lr", seed] for seed in (0, 1)] == [0.001, 0.01]
    assert [choice["val_mse", seed] for seed in (0, 1)] == pytest.approx(
        [0.17, 0.27]
    )  # of the first one, after 7 steps


def test_the_baseline_is_tuned_in_its_rate_alone(config):
    folder = execute(config(*TUNED, "method.variant=baseline"))
    assert len(state(folder)["model.root_weights"]) == 2 * 2
    metrics = {row.metric for row in read_rows(folder / "result.json")}
    assert "chosen_lr" in metrics
    assert "chosen_lambda" not in metrics


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("method.tuning.lr=[0.001]",), "method.test_weights=best"),
        (("method.test_weights=best", "method.tuning.lr=[0.001,0]"), "method.tuning.lr lists numbers above 0"),
        (("method.test_weights=best", "method.tuning.penalty_weight=[-1]"), "lists numbers at least 0"),
        (("method.test_weights=best", "method.tuning.penalty_weight=[0,nan]"), "lists numbers at least 0"),
        (("method.test_weights=best", "method.tuning.lr=[0.1,0.1]"), "contains a value twice"),
        (("method.test_weights=best", "method.tuning.lr=[0.1]", "method.estimator=two_stage"), "only the paper's"),
    ],
)
def test_candidates_that_cannot_be_compared_are_refused(config, changes, message):
    with pytest.raises(ConfigError, match=message):
        config(*changes)


def test_saved_deltas_of_two_stages_belong_to_the_latents_that_are_measured(config):
    folder = execute(config("method.estimator=two_stage"))
    arrays, trained = np.load(folder / "arrays.npz"), deltas(folder).numpy()
    assert not np.allclose(arrays["deltas"], trained, atol=1e-4)
    basis = np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(arrays["deltas"], trained, strict=True)])
    np.testing.assert_allclose(arrays["deltas"] @ basis, trained, atol=1e-4)  # one linear map of the latents


def test_two_stages_disentangle(config):
    """The oracle on a small problem: 62 environments, 500 samples of each."""
    size = ("data.depth=5", "data.samples=500", "method.hidden=[256,64]", "trainer.batch_size=64", "seeds=[0,1]")
    folder = execute(config(*size, "trainer.max_samples=309760", "method.estimator=two_stage"))  # 20 epochs
    rows = read_rows(folder / "result.json")
    assert {row.keys["method"] for row in rows} == {"tbr_two_stage"}
    assert np.mean([row.value for row in rows if row.metric == "mcc"]) >= 0.95
    assert deltas(folder).abs().sum() > 0


def test_a_warm_start_rotates_once_and_goes_on_with_the_penalty(config, monkeypatch):
    """The joint estimator reaches on a small problem in a few epochs what it needs many for from the beginning."""
    size = ("data.depth=5", "data.samples=500", "method.hidden=[256,64]", "trainer.batch_size=64", "seeds=[0,1]")
    warm = ("method.estimator=warm_start", "method.warm_up_samples=154880")  # 10 epochs of 20
    steps, find_rotation, l1_penalty = [], TBRModule.find_rotation, losses.l1_penalty

    def seen(self):
        steps.append(self.global_step)
        return find_rotation(self)

    monkeypatch.setattr(TBRModule, "find_rotation", seen)
    penalised = []
    monkeypatch.setattr(
        "sparseid.methods.tbr.module.l1_penalty", lambda *args: penalised.append(None) or l1_penalty(*args)
    )
    folder = execute(config(*size, *warm, "trainer.max_samples=309760"))
    assert steps == [2420]
    assert len(penalised) == 2420
    rows = read_rows(folder / "result.json")
    assert {row.keys["method"] for row in rows} == {"tbr_warm_start"}
    assert np.mean([row.value for row in rows if row.metric == "mcc"]) >= 0.95


def test_rows_of_data_that_only_seem_to_be_the_papers_have_a_domain_of_their_own(config, monkeypatch):
    monkeypatch.setattr("sparseid.data.environments.EnvironmentData.domain", "othercells")
    assert {row.keys["domain"] for row in read_rows(execute(config()) / "result.json")} == {"othercells"}


def test_other_than_the_true_number_of_latents_only_the_error_is_measured(config):
    rows = read_rows(execute(config("method.latents=3")) / "result.json")
    assert {row.metric for row in rows} == {"mse"}
    assert rows[0].keys == {"domain": "treesimulation", "method": "tbr", "S": 1, "latent_dim": 5, "learned_dim": 3}
    assert [row.seed for row in rows] == [0, 1]


CELLS = ("experiment=tbr/fig5b", "method.variant=tbr", "trainer.max_samples=320")


def test_on_a_held_out_cell_type_only_the_error_is_measured(config):
    cfg = config(*CELLS, "data.held_out.index=0")
    found = read_rows(execute(cfg) / "result.json")
    rows = [row for row in found if row.metric not in ("chosen_lambda", "chosen_lr", "val_mse")]
    assert len(found) == len(rows) + 3 * 2  # what was chosen by validation
    assert [(row.metric, row.seed, row.n) for row in rows] == [("unseen_mse", 0, 129), ("unseen_mse", 1, 129)]
    held_out = {"domain": "gtex", "method": "tbr", "S": 1, "z_choice": 0, "held_out": 0, "source": "pbmc68k"}
    assert held_out.items() <= rows[0].keys.items()


def test_on_cells_that_were_trained_on_latents_are_compared(config, capsys):
    rows = read_rows(
        execute(config("experiment=tbr/fig5a", "method.variant=tbr", "trainer.max_samples=320")) / "result.json"
    )
    found = [row.value for row in rows if row.metric == "mcc"]
    assert len(found) == 2
    assert all(0 < value < 1 for value in found)
    assert "NOT COMPARABLE with the paper: 700 blood cells" in capsys.readouterr().out
