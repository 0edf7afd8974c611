import math
from pathlib import Path

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.identity import recipe_hash, row_keys, run_name
from sparseid.config.validate import problems
from sparseid.data.batch import FeatureBatch
from sparseid.errors import InputError
from sparseid.methods.sparse_vae import module as module_file
from sparseid.methods.sparse_vae.module import SparseVAEModule
from sparseid.metrics.classification import cross_validated_accuracy
from sparseid.metrics.projection import class_silhouette
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

MODELS = ["sparse_vae", "vae", "vsc", "oi_vae"]


def numbers(folder: Path, seed=None):
    """Rows of a run without what passes, of one seed or all."""
    rows = read_rows(folder / "result.json")
    return {(row.seed, row.metric): row.value for row in rows if seed in (None, row.seed)}


def weights(folder: Path):
    return load(folder / "checkpoints" / "last.ckpt")["state_dict"]


@pytest.mark.parametrize("model", MODELS)
def test_a_member_has_the_numbers_it_has_alone(config, model):
    stack = execute(config(f"method.model={model}", "seeds=[3,0,7]"))
    alone = execute(config(f"method.model={model}", "seeds=[0]"))
    together, single = numbers(stack, 0), numbers(alone)
    assert list(together) == list(single)
    selected = model in ("sparse_vae", "oi_vae")
    assert len(single) == 5 + 2 * selected
    np.testing.assert_allclose(list(together.values()), list(single.values()), rtol=1e-3, atol=1e-5)
    for name, tensor in weights(alone).items():
        torch.testing.assert_close(weights(stack)[name][1], tensor[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", ["sparse_vae", "oi_vae"])
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed, model):
    changes = (f"method.model={model}",)
    undisturbed = execute(config(*changes))
    run = config(*changes, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, SparseVAEModule, 7)
    assert numbers(again) == numbers(undisturbed)
    assert all(torch.equal(tensor, weights(undisturbed)[name]) for name, tensor in weights(again).items())


def test_a_member_that_diverges_is_lost_alone(config, monkeypatch):
    training_step = SparseVAEModule.training_step

    def broken(self, batch, batch_idx):
        if self.global_step == 2:
            self.model.decoder.selector.data[1] = math.nan
        return training_step(self, batch, batch_idx)

    whole = execute(config())
    monkeypatch.setattr(SparseVAEModule, "training_step", broken)
    run = config()
    run.outputs += "/again"
    folder = execute(run)
    assert set(numbers(folder, 1).values()) == {None}
    assert numbers(folder, 0) == numbers(whole, 0)


def test_of_several_restarts_that_with_the_lowest_objective_is_measured(config, monkeypatch):
    single = execute(config())
    several = execute(config("method.restarts=3"))
    first = weights(several)["model.decoder.selector"][[0, 3]]
    torch.testing.assert_close(first, weights(single)["model.decoder.selector"], rtol=1e-4, atol=1e-5)
    lowest = [numbers(several, seed)[seed, "objective"] for seed in (0, 1)]
    assert all(low <= numbers(single, seed)[seed, "objective"] + 1e-5 for seed, low in zip((0, 1), lowest, strict=True))

    seen = []
    objectives = SparseVAEModule.objectives

    def noted(self):
        seen.append(objectives(self))
        return seen[-1]

    monkeypatch.setattr(SparseVAEModule, "objectives", noted)
    run = config("method.restarts=3")
    run.outputs += "/again"
    with np.load(execute(run) / "arrays.npz") as arrays:
        chosen = seen[0].argmin(dim=1) + torch.tensor([0, 3])
        np.testing.assert_array_equal(arrays["selector"], weights(several)["model.decoder.selector"][chosen])
    np.testing.assert_allclose(seen[0].amin(dim=1), lowest, rtol=1e-6)
    assert not seen[0].argmin(dim=1).eq(0).all()  # else the test shows nothing


def test_the_warm_up_leaves_the_prior_out_for_its_share_of_training(config):
    cfg = config("method.prior.warm_up=0.25")
    module = build_module(cfg, build_data(cfg))
    assert (module.model.prior(4) == 0).all()  # of 20 steps
    assert (module.model.prior(5) > 0).all()
    assert (build_module(config(), build_data(config())).model.prior(0) > 0).all()


def test_real_values_stop_early_by_the_objective_and_not_before_the_prior_counts(config, monkeypatch):
    cfg = config("method.prior.warm_up=0.25")
    data = build_data(cfg)
    module = build_module(cfg, data)
    data.setup()
    module.model.prepare(data.train, data.column_sd)
    monkeypatch.setattr(module, "log_members", lambda *_: None)
    parts = [part.inputs for part in (data.training_batch(0), data.training_batch(1))]
    steps = module.given.steps
    for step, begun in ((4, False), (5, True)):  # of 20
        monkeypatch.setattr(type(module), "global_step", step)
        module.on_validation_epoch_start()
        with torch.no_grad():
            for number, inputs in enumerate(parts):
                module.validation_step(FeatureBatch(inputs), number)
            module.on_validation_epoch_end()
            noises = [module.evaluation_noise("validation", number, inputs) for number, inputs in enumerate(parts)]
            terms = [module.model.terms(*part, steps) for part in zip(parts, noises, strict=True)]
        assert (module.validation_errors is not None) == begun
    torch.testing.assert_close(module.validation_errors, sum(part.total for part in terms) / 2)
    assert all((part.prior > 0).all() for part in terms)


def test_features_left_out_of_a_step_change_with_it_and_cost_nothing_of_the_prior(config):
    cfg = config("method.feature_share=0.4")
    data = build_data(cfg)
    module = build_module(cfg, data)
    data.setup()
    module.model.prepare(data.train, data.column_sd)
    chosen = [module.chosen_features(step) for step in range(40)]
    assert {len(part) for part in chosen} == {3}
    counts = torch.cat(chosen).bincount(minlength=7)
    assert counts.min() > 5
    inputs = data.training_batch(0).inputs
    noise = module.noise.at(0, 32, inputs.device)
    whole = module.model.terms(inputs, noise, 0)
    parts = [module.model.terms(inputs, noise, 0, torch.tensor([j])) for j in range(7)]
    mean = torch.stack([part.reconstruction for part in parts]).mean(dim=0)
    torch.testing.assert_close(mean, whole.reconstruction)
    assert all(torch.equal(part.prior, whole.prior) and torch.equal(part.sigma, whole.sigma) for part in parts)


def test_the_standard_deviations_begin_at_those_of_the_data(config):
    cfg = config()
    data = build_data(cfg)
    module = build_module(cfg, data)
    data.setup()
    module.model.prepare(data.train, data.column_sd)
    whole = torch.cat([data.train, data.test], dim=1)
    torch.testing.assert_close(module.model.log_sigma.exp(), whole.std(dim=1, correction=0), rtol=1e-5, atol=0)


def test_rows_have_the_keys_and_metrics_of_the_papers_figure(config):
    cfg = config("data.rho=0.4")
    assert row_keys(cfg) == {"domain": "sevenfeatures", "method": "sparse_vae", "rho": 0.4}
    assert run_name(cfg).startswith("sevenfeatures-sparse_vae-rho0.4-seeds0to1-")
    rows = {(row.seed, row.metric): row for row in read_rows(execute(cfg) / "result.json")}
    metrics = ("mse", "objective", "dci", "dci_all_rows", "completeness_all_rows", "selector_mse", "selector_hamming")
    assert set(rows) == {(seed, metric) for seed in (0, 1) for metric in metrics}
    test_samples = build_data(cfg).test_items
    assert rows[0, "mse"].n == test_samples
    assert rows[0, "dci"].n == 16
    assert 0 <= rows[0, "dci_all_rows"].value <= 1


def test_the_mse_is_that_of_the_tested_weights(config, monkeypatch):
    """By hand from the checkpoint, in other chunks of other noise: near it, and of the right unit."""
    cfg = config()
    folder = execute(cfg)
    data = build_data(cfg)
    module = build_module(cfg, data)
    data.setup()
    module.load_state_dict(weights(folder))
    generator = torch.Generator().manual_seed(0)
    draws = []
    for _ in range(50):
        shape = (*data.test.shape[:2], 3)
        noise = module_file.Noise(torch.randn(shape, generator=generator), torch.rand(shape, generator=generator))
        draws.append((module.model.reconstruct(data.test, noise) - data.test).square().mean(dim=(1, 2)))
    draws = torch.stack(draws)
    for seed in (0, 1):
        distance = abs(numbers(folder)[seed, "mse"] - draws[:, seed].mean().item())
        assert distance < 5 * draws[:, seed].std().item()


def test_pictures_have_loadings_of_all_members_and_codes_of_the_first(config):
    with np.load(execute(config()) / "arrays.npz") as arrays:
        assert arrays["selector"].shape == arrays["slab_probability"].shape == (2, 7, 3)
        assert arrays["slab_share"].shape == (2, 3)
        assert arrays["codes"].shape[1] == 3
        assert arrays["factors"].shape == (len(arrays["codes"]), 2)


@pytest.mark.parametrize("model", [*MODELS, "nmf"])
def test_classes_of_cells_are_predicted_from_the_codes_of_every_model(config, other_data, model):
    other_data("cells")
    folder = execute(config(f"method.model={model}", "method.latents=4"))
    found = numbers(folder)
    assert {metric for _, metric in found} == {"mse", "objective", "accuracy", "silhouette"}
    labels = np.repeat(["one", "two", "three"], 20)
    with np.load(folder / "arrays.npz") as arrays:
        assert found[0, "accuracy"] == pytest.approx(cross_validated_accuracy(arrays["codes"], labels, seed=0))
        assert found[0, "silhouette"] == pytest.approx(class_silhouette(arrays["plane"], labels))
        assert arrays["labels"].tolist() == labels.tolist()
        assert arrays["feature_names"].tolist() == list("abcdefg")
        assert ("selector" in arrays) == (model in ("sparse_vae", "oi_vae", "nmf"))
    if model == "nmf":
        assert [found[seed, "accuracy"] for seed in (0, 1)] == [1, 1]


@pytest.mark.parametrize("model", ["sparse_vae", "vae", "vsc"])
def test_words_are_scored_as_in_the_papers_tables(config, other_data, model):
    other_data("words")
    folder = execute(config(f"method.model={model}"))
    rows = {(row.seed, row.metric): row for row in read_rows(folder / "result.json")}
    assert {metric for _, metric in rows} == {"log_loss", "gap_to_oracle", "recall_at_5", "ndcg_at_10", "objective"}
    assert rows[0, "log_loss"].n == 57
    assert rows[0, "recall_at_5"].n == 56  # an empty document has no rank
    assert 0 < rows[0, "recall_at_5"].value <= 1
    counts = np.random.default_rng(0).poisson(0.8, size=(60, 7))[3:]
    counts[0] = 0
    oracle = -(counts * np.log(np.maximum(counts, 1) / np.maximum(counts.sum(axis=1), 1)[:, None])).sum(axis=1).mean()
    assert oracle < rows[0, "log_loss"].value < 1.5 * counts.sum(axis=1).mean() * np.log(7)


@pytest.mark.parametrize("model", ["oi_vae", "nmf"])
def test_models_without_a_likelihood_of_counts_refuse_them(config, other_data, model):
    other_data("words")
    cfg = config(f"method.model={model}")
    with pytest.raises(InputError, match="no likelihood of counts"):
        build_module(cfg, build_data(cfg))


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        (("method.model=vae", "method.beta=2"), {"method": "beta_vae", "beta": 2.0}),
        (("method.model=vae",), {"method": "vae"}),
        (("method.model=vsc", "method.vsc.variant=original"), {"method": "vsc_original"}),
        (("method.prior.warm_up=0.25",), {"method": "sparse_vae_warm_up"}),
        (("method.prior.warm_up=0.25", "method.restarts=2"), {"method": "sparse_vae_warm_up_restarts"}),
    ],
)
def test_a_recipe_that_is_not_the_published_one_has_its_own_row(config, changes, keys):
    assert row_keys(config(*changes)) == {"domain": "sevenfeatures", "rho": 0.0} | keys
    assert recipe_hash(config(*changes)) != recipe_hash(config())


def test_own_data_have_no_published_recipe_to_depart_from(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "1,2\n3,4\n" * 30)
    own = compose(["experiment=sparse_vae/arrays", f"data.path={table}"])
    assert own.method.prior.warm_up > 0
    assert row_keys(own)["method"] == "sparse_vae"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (("method.model=gan",), "method.model"),
        (("method.kl_reduction=none",), "method.kl_reduction"),
        (("method.lr=.nan",), "method.lr"),
        (("method.latents=0",), "method.latents"),
        (("method.beta=2",), "method.beta"),
        (("method.prior.lambda0=1",), "method.prior.lambda0"),
        (("method.prior.lambda1=0",), "method.prior.lambda1"),
        (("method.prior.laplace_normaliser=none",), "method.prior.laplace_normaliser"),
        (("method.prior.warm_up=2",), "method.prior.warm_up"),
        (("method.vsc.variant=other",), "method.vsc.variant"),
        (("method.oi_vae.units=0",), "method.oi_vae.units"),
        (("method.feature_share=0",), "method.feature_share"),
        (("method.feature_share=0.5", "method.model=vae"), "method.feature_share"),
        (("method.restarts=0",), "method.restarts"),
        (("method.model=nmf",), "method.model"),
        (("trainer.precision=bf16-mixed",), "trainer.precision"),
        (("trainer.devices=2",), "trainer.devices"),
    ],
)
def test_what_cannot_work_is_refused(config, changes, key):
    (problem,) = problems(config(*changes))
    assert key in problem.keys
