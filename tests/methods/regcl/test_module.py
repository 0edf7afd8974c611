import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml

from sparseid.config.identity import recipe_hash, row_keys, run_name
from sparseid.config.validate import problems
from sparseid.data.batch import ContrastiveBatch
from sparseid.data.time_series import Factors
from sparseid.methods.regcl.module import RegCLModule
from sparseid.metrics.linear_r2 import linear_r2
from sparseid.stacking import chunking
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
ATTRIBUTIONS = (
    *("neuron_gradient", "feature_ablation", "integrated_gradients"),
    *("shapley_shuffled", "shapley_zeros", "jf_plus"),
)


def numbers(folder: Path, seed=None):
    """Rows of a run without what passes, of one seed or all."""
    return {
        (row.seed, row.metric, *sorted(map(str, row.keys.items()))): row.value
        for row in read_rows(folder / "result.json")
        if seed in (None, row.seed)
    }


def weights(folder: Path):
    return load(folder / "checkpoints" / "last.ckpt")["state_dict"]


@pytest.fixture
def prepared(config):
    """Return the module of a run with changes, its first training batch, and its data."""

    def made(*changes):
        cfg = config(*changes)
        data = build_data(cfg)
        module = build_module(cfg, data)
        data.setup()
        return module, data.training_batch(0), data

    return made


def test_a_hybrid_regularised_step_is_cebras(config, fixture_arrays):
    arrays = fixture_arrays("regcl_step")
    data = SimpleNamespace(
        seeds=[0], features=12, latents=4, label_dim=2, label_rows=slice(2, 4), sampling=SimpleNamespace(time_offset=1)
    )
    data.latent_rows = Factors(slice(0, 2), slice(2, 4))
    method = config("method.ramp_on=0", "method.ramp_off=0").method
    assert (method.penalty_weight, method.temperature) == (arrays["lam"], arrays["tau"])
    module = RegCLModule(method, data, steps=10)
    for number, layer in enumerate(module.encoder.layers):
        layer.weight.data = torch.from_numpy(arrays[f"W{number}"].T.copy())[None]
        layer.bias.data = torch.from_numpy(arrays[f"b{number}"])[None, None]
    parts = [torch.from_numpy(arrays[name])[None] for name in ("ref", "neg", "pos0", "pos1")]
    assert data.positives == ("time", "labels")

    loss = module.training_step(ContrastiveBatch(torch.cat(parts, dim=1), torch.zeros(1, 24, 2)), 0)
    assert loss.item() == pytest.approx(float(arrays["total"]), rel=1e-5)
    reference, negative, *positives = (module.encoder(part) for part in parts)
    losses = module.contrast(reference, negative, dict(zip(data.positives, positives, strict=True)))
    np.testing.assert_allclose([value.item() for value in losses.values()], arrays["losses"], rtol=1e-5)
    penalty = module.penalty(module.encoder.trace(parts[0]), [0]).item()
    assert penalty == pytest.approx(float(arrays["regs"].sum()), rel=1e-5)

    loss.backward()
    for number, layer in enumerate(module.encoder.layers):
        for name, gradient in ((f"gW{number}", layer.weight.grad[0].T), (f"gb{number}", layer.bias.grad[0, 0])):
            atol = 1e-6 if name == "gb3" else 1e-5 * np.abs(arrays[name]).max()
            np.testing.assert_allclose(gradient, arrays[name], rtol=1e-3, atol=atol)


def test_supervised_training_is_the_mean_squared_error_and_half_the_squared_jacobian(prepared):
    module, batch, data = prepared("method.training=supervised", "method.ramp_on=0", "method.ramp_off=0")
    assert data.positives == ()
    assert batch.inputs.shape == (2, 32, 11)
    outputs, jacobian = module.encoder(batch.inputs), module.encoder.jacobian(batch.inputs)
    errors = (outputs - batch.labels).square().mean(dim=(1, 2))
    expected = errors + 0.1 * 0.5 * jacobian.square().sum(dim=(2, 3)).mean(dim=1)
    torch.testing.assert_close(module.training_step(batch, 0), expected.sum())


@pytest.mark.parametrize("training", ["supervised_contrastive", "hybrid"])
def test_each_contrastive_training_asks_for_its_positives(prepared, training):
    module, batch, data = prepared(f"method.training={training}")
    assert batch.inputs.shape[1] == 32 * (2 + len(data.positives))
    assert data.positives == (("labels",) if training == "supervised_contrastive" else ("time", "labels"))
    outputs = 2 if training == "supervised_contrastive" else 4
    assert module.encoder.weights[-1].shape == (2, 10 * outputs, outputs)


def test_widths_may_be_those_of_all_latents(prepared):
    module, _, _ = prepared("method.training=supervised", "method.width_from=latents")
    assert module.encoder.weights[-1].shape == (2, 40, 2)


def test_in_setting_b_the_labels_belong_to_the_first_coordinates(prepared):
    module, _, _ = prepared("data.setting=b", "data.latents=5")
    assert module.objectives == {"time": slice(0, 5), "labels": slice(0, 2)}
    assert module.layout.scored == (slice(2, 5), slice(2, 5))


def test_the_penalty_is_taken_at_as_many_references_as_asked_for(prepared):
    settings = ("method.ramp_on=0", "method.ramp_off=0")
    module, batch, _ = prepared(*settings, "method.penalty_samples=5")
    some = module.training_step(batch, 0)
    without = prepared(*settings, "method.penalty_weight=0")[0].training_step(batch, 0)
    expected = 0.1 * module.penalty(module.encoder.trace(batch.inputs[:, :5]), [0, 1]).sum()
    torch.testing.assert_close(some - without, expected, rtol=1e-4, atol=1e-6)


def test_the_estimated_penalty_is_near_the_exact_one_and_the_same_in_any_stack(prepared):
    module, batch, _ = prepared("method.penalty_estimator=projection", "seeds=[3,0]")
    trace = module.encoder.trace(batch.inputs)
    estimate = module.penalty(trace, [3, 0])
    alone, own, _ = prepared("method.penalty_estimator=projection", "seeds=[0]")
    torch.testing.assert_close(estimate[1:], alone.penalty(alone.encoder.trace(own.inputs), [0]))
    module.method.penalty_estimator = "exact"
    torch.testing.assert_close(estimate, module.penalty(trace, [3, 0]), rtol=0.5, atol=0)


@pytest.mark.parametrize("estimator", ["exact", "projection"])
def test_the_groups_that_members_are_trained_in_change_nothing(prepared, monkeypatch, estimator):
    settings = ("seeds=[3,0,7]", "method.ramp_on=0", "method.ramp_off=0", f"method.penalty_estimator={estimator}")

    def gradients():
        module, batch, _ = prepared(*settings)
        module.double()  # what is left are differences of another sum, not of its rounding
        loss = module.training_step(ContrastiveBatch(*(values.double() for values in batch)), 0)
        loss.backward()
        return [loss.detach(), *(parameter.grad for parameter in module.parameters())]

    whole = gradients()
    monkeypatch.setitem(chunking.GROUP_FLOATS, "cpu", 1)
    torch.testing.assert_close(gradients(), whole)


def test_with_cosine_similarity_the_length_of_embeddings_does_not_count(prepared):
    module, batch, _ = prepared("method.similarity=cosine", "method.head=identity", "method.penalty_weight=0")
    before = module.training_step(batch, 0)
    for parameter in (module.encoder.layers[-1].weight, module.encoder.layers[-1].bias):
        parameter.data *= 3
    torch.testing.assert_close(module.training_step(batch, 0), before)


@pytest.mark.parametrize("training", ["supervised", "supervised_contrastive", "hybrid"])
def test_a_member_has_the_numbers_it_has_alone(config, training):
    stack = execute(config(f"method.training={training}", "seeds=[3,0,7]"))
    alone = execute(config(f"method.training={training}", "seeds=[0]"))
    together, single = numbers(stack, 0), numbers(alone)
    assert list(together) == list(single)
    objectives = 2 if training == "hybrid" else 1
    assert len(single) == 6 + 1 + (3 if training == "hybrid" else 2) + 2 + objectives
    np.testing.assert_allclose(list(together.values()), list(single.values()), rtol=1e-3)
    for name, tensor in weights(alone).items():
        # a contrastive loss does not change with the last bias: its gradient is rounding, of which Adam makes steps
        noise = 20 * 3e-4 if name == "encoder.layers.3.bias" and training != "supervised" else 1e-5
        torch.testing.assert_close(weights(stack)[name][1], tensor[0], rtol=1e-4, atol=noise)


@pytest.mark.parametrize(("step", "changes"), [(3, ()), (7, ("method.penalty_estimator=projection",))])
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed, step, changes):
    undisturbed = execute(config(*changes))
    run = config(*changes, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, RegCLModule, step)
    assert numbers(again) == numbers(undisturbed)
    assert (again / "metrics.csv").read_text() == (undisturbed / "metrics.csv").read_text()
    assert all(torch.equal(tensor, weights(undisturbed)[name]) for name, tensor in weights(again).items())


def test_a_member_that_diverges_is_lost_alone(config, monkeypatch):
    training_step = RegCLModule.training_step

    def broken(self, batch, batch_idx):
        if self.global_step == 2:
            self.encoder.layers[0].weight.data[1] = math.nan
        return training_step(self, batch, batch_idx)

    whole = execute(config())
    monkeypatch.setattr(RegCLModule, "training_step", broken)
    run = config()
    run.outputs += "/again"
    folder = execute(run)
    assert set(numbers(folder, 1).values()) == {None}
    assert numbers(folder, 0) == numbers(whole, 0)
    assert "no results for seed 1" in (folder / "log.txt").read_text()


TUNED = ("seeds=[3,0,7]", "method.tuning.penalty_weight=[0.0,0.1,10000.0]", "method.ramp_on=0", "method.ramp_off=0.5")


@pytest.mark.parametrize("training", ["supervised", "hybrid"])
def test_the_tested_candidate_has_the_numbers_that_it_has_alone(config, training):
    """Also of the estimated penalty, whose directions are those of the member whatever its candidate."""
    changes = (f"method.training={training}", "method.penalty_estimator=projection")
    tuned = numbers(execute(config(*TUNED, *changes)))
    chosen = {seed: value for (seed, metric, *_), value in tuned.items() if metric == "chosen_lambda"}
    assert set(chosen) == {3, 0, 7}
    assert max(chosen.values()) > 0
    for seed, weight in chosen.items():
        alone = numbers(execute(config(f"seeds=[{seed}]", f"method.penalty_weight={weight}", *TUNED[2:], *changes)))
        own = {key: value for key, value in tuned.items() if key[0] == seed and key[1] != "chosen_lambda"}
        if not weight:  # the row of a run without penalty says so
            alone = {(*key[:-1], "('regularisation', 'regularised')"): value for key, value in alone.items()}
            own = {(*key[:-1], "('regularisation', 'regularised')"): value for key, value in own.items()}
        np.testing.assert_allclose(list(own.values()), list(alone.values()), rtol=1e-3)


def test_a_tuned_run_resumes_bit_for_bit(config, monkeypatch):
    undisturbed = execute(config(*TUNED))
    run = config(*TUNED, "trainer.save_every_s=0")
    run.outputs += "/again"
    step = RegCLModule.training_step

    def killed(self, batch, batch_idx):
        if self.global_step == 5:
            raise KeyboardInterrupt
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(RegCLModule, "training_step", killed)
        with pytest.raises(KeyboardInterrupt):
            execute(run)
    assert numbers(execute(run)) == numbers(undisturbed)


def test_rows_have_the_keys_of_the_papers_tables(config):
    cfg = config("method.penalty_weight=0", "data.latents=5")
    keys = {"training": "hybrid_contrastive", "regularisation": "none", "dim": 5, "setting": "a"}
    assert row_keys(cfg) == {"domain": "latentwalk", "method": "regcl"} | keys
    assert run_name(cfg).startswith("latentwalk-regcl-hybrid_contrastive-none-dim5-a-seeds0to1-")
    rows = read_rows(execute(cfg) / "result.json")
    scores = [row for row in rows if row.metric == "auc"]
    assert [row.keys["attribution"] for row in scores] == [name for name in ATTRIBUTIONS for _ in range(2)]
    assert all(row.keys.items() >= keys.items() and row.unit == "AUC in percent" and row.n == 40 for row in scores)
    assert all(0 <= row.value <= 100 for row in scores)
    assert {row.keys["explained"] for row in rows if row.metric == "r2"} == {"labels", "z1", "z2"}


def test_a_poor_fit_is_said_in_the_log(config):
    folder = execute(config())  # 20 steps
    labels = [row.value for row in read_rows(folder / "result.json") if row.keys.get("explained") == "labels"]
    assert max(labels) < 95
    assert f"below 95 % in 2 of 2 seeds (lowest: {min(labels):.1f} %" in (folder / "log.txt").read_text()


def test_pictures_have_the_scored_rows_of_all_maps(config):
    with np.load(execute(config()) / "arrays.npz") as arrays:
        assert arrays["truth"].shape == (2, 2, 11)
        assert all(arrays[f"map_{name}"].shape == (2, 2, 11) for name in ATTRIBUTIONS)
        assert not arrays["truth"][:, :, :6].any()
        assert arrays["truth"][:, :, 6:].all()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (("method.training=semi",), "method.training"),
        (("method.head=relu",), "method.head"),
        (("method.temperature=0",), "method.temperature"),
        (("method.lr=.nan",), "method.lr"),
        (("method.ramp_on=0.5",), "method.ramp_on"),
        (("method.ramp_off=2",), "method.ramp_off"),
        (("method.penalty_samples=33",), "method.penalty_samples"),
        (("method.head=identity",), "method.head"),
        (("method.training=supervised", "data.setting=b"), "method.training"),
        (("method.training=supervised", "data.box=5.1"), "method.head_scale"),
        (("method.penalty_weight=-0.1",), "method.penalty_weight"),
        (("seeds=[0,1,2]", "method.tuning.penalty_weight=[0.1,1.0]"), "method.tuning.penalty_weight"),
        (("seeds=[0,1,2]", "method.tuning.penalty_weight=[0.0,1.0,0.1]"), "method.tuning.penalty_weight"),
        (("seeds=[0,1,2]", "method.tuning.penalty_weight=[0.0,.nan]"), "method.tuning.penalty_weight"),
        (("seeds=[0,1,2]", "method.tuning.penalty_weight=[0.0,.inf]"), "method.tuning.penalty_weight"),
        (("method.tuning.penalty_weight=[0.0,0.1]",), "seeds"),
        (("seeds=[0,1,2]", "method.tuning.tolerance=0"), "method.tuning.tolerance"),
        (("trainer.precision=bf16-mixed",), "trainer.precision"),
        (("trainer.devices=2",), "trainer.devices"),
    ],
)
def test_what_cannot_work_is_refused(config, changes, key):
    (problem,) = problems(config(*changes))
    assert key in problem.keys


def test_an_unbounded_head_is_allowed_where_the_loss_has_a_minimum(config):
    for change in ("similarity=cosine", "positive_in_denominator=true", "training=supervised"):
        assert problems(config("method.head=identity", f"method.{change}")) == []
    assert problems(config("method.head=identity", "method.training=supervised", "data.box=9")) == []
    assert problems(config("data.box=9")) == []  # contrastive embeddings are no labels


def test_the_ramp_belongs_to_the_recipe_as_shares_of_training(config):
    assert recipe_hash(config()) != recipe_hash(config("method.ramp_on=0.1"))
    module = build_module(config("trainer.max_samples=640000"), build_data(config()))
    assert [(ramp.on, ramp.off, ramp.end) for ramp in module.ramps] == [(2500, 5000, 0.1)] * 2


STOPPED = ("trainer.early_stop.patience=2", "trainer.early_stop.validations=10", "method.lr=0.1")


def curve(folder, name):
    """The values of a curve by seed and step."""
    lines = [line.split(",") for line in (folder / "metrics.csv").read_text().splitlines()[1:]]
    return {(line[2].partition("/")[2], int(line[0])): float(line[3]) for line in lines if line[2].startswith(name)}


@pytest.mark.parametrize("training", ["supervised", "hybrid"])
def test_an_early_stop_keeps_the_weights_of_the_best_validation_after_the_ramp(config, training):
    """The ramp ends at step 5 of 20; there is a validation every 2 steps."""
    folder = execute(config(f"method.training={training}", *STOPPED))
    found = curve(folder, "val_r2")
    steps = sorted({step for _, step in found if step >= 5})
    assert steps[0] == 6
    best = [max(steps, key=lambda step, seed=seed: found[f"seed{seed}", step]) for seed in (0, 1)]
    kept = load(folder / "checkpoints" / "last.ckpt")["callbacks"]["EarlyStop"]
    np.testing.assert_allclose(
        kept["members"]["best"], [1 - found[f"seed{seed}", step] for seed, step in zip((0, 1), best, strict=True)]
    )
    assert steps[-1] == min(20, max(best) + 4)
    for name, values in weights(folder).items():
        torch.testing.assert_close(values, kept["weights"][name.replace(".", "-")])


def test_an_early_stop_validates_on_samples_of_its_own(config):
    """The curve is the R2 of samples that are neither trained on nor tested."""
    run = config(*STOPPED, "trainer.max_samples=64", "method.penalty_weight=0")  # stops after the last step
    folder = execute(run)
    data = build_data(run)
    module = build_module(run, data)
    data.setup()
    module.load_state_dict(weights(folder))
    module._trainer = SimpleNamespace(datamodule=data)
    assert (len(data.train), len(data.validation), len(data.held_out)) == (324, 36, 40)
    batch = data.validation.part(slice(None))
    own = module.label_r2(module.embed(batch), batch.labels)
    best = load(folder / "checkpoints" / "last.ckpt")["callbacks"]["EarlyStop"]["members"]["best"]
    torch.testing.assert_close(1 - own, best)


def test_an_early_stopped_run_resumes_bit_for_bit(config, resumed):
    undisturbed = execute(config(*STOPPED))
    run = config(*STOPPED, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, RegCLModule, 7)
    assert numbers(again) == numbers(undisturbed)
    assert (again / "metrics.csv").read_text() == (undisturbed / "metrics.csv").read_text()


def test_labels_that_do_not_vary_in_the_validation_samples_do_not_decide(prepared):
    module, _, data = prepared(*STOPPED)
    module._trainer = SimpleNamespace(datamodule=data)
    batch = data.validation.part(slice(None))
    embedding, labels = module.embed(batch), batch.labels.clone()
    labels[..., 0] = 0
    train = data.attribution_batch()
    own = slice(2, 4)  # coordinates of the labels
    r2 = linear_r2(module.embed(train)[..., own], train.labels[..., 1:], embedding[..., own], labels[..., 1:])
    np.testing.assert_allclose(module.label_r2(embedding, labels), r2, rtol=1e-5)
    losses = module.held_out_losses(embedding, labels)
    undefined = module.label_r2(embedding, torch.zeros_like(labels))
    assert undefined.isnan().all()
    torch.testing.assert_close(module.stop_errors(undefined, losses), losses["time"] + losses["labels"])
    assert module.stop_errors(undefined, {}).isnan().all()
    torch.testing.assert_close(module.stop_errors(torch.tensor([0.25, math.nan]), losses)[0], torch.tensor(0.75))


def test_with_an_early_stop_lambda_is_chosen_on_the_validation_samples(config, monkeypatch):
    asked = []
    monkeypatch.setattr(RegCLModule, "choice", lambda self, losses: asked.append(losses) or torch.tensor([0, 3, 6]))
    losses = RegCLModule.held_out_losses
    seen = []

    def noted(self, embedding, labels):
        found = losses(self, embedding, labels)
        seen.append((labels.shape[1], found))
        return found

    monkeypatch.setattr(RegCLModule, "held_out_losses", noted)
    execute(config(*TUNED, *STOPPED[:2]))
    assert [samples for samples, _ in seen[-2:]] == [40, 36]
    assert asked[-1] is seen[-1][1]


def test_without_an_early_stop_validations_are_of_the_held_out_samples_as_in_recorded_runs(config):
    """The paper's presets have none: their numbers and row keys are those of before there was one."""
    presets = {path: yaml.safe_load(path.read_text()) for path in (CONFIGS / "experiment").glob("**/regcl/*.yaml")}
    stopping = {path.name for path, content in presets.items() if "early_stop" in (content.get("trainer") or {})}
    assert stopping == {f"arrays.{scale}.yaml" for scale in ("smoke", "small", "paper")}
    assert {path.name for path in presets} >= {"table1.yaml", "table1.paper.yaml"}
    run = config()
    assert run.trainer.early_stop.patience == 0
    data = build_data(run)
    data.setup()
    assert data.validation is data.held_out
    assert (len(data.train), len(data.held_out)) == (360, 40)
    rows = read_rows(execute(run) / "result.json")
    assert {row.keys["method"] for row in rows} == {"regcl"}
