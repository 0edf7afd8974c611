import numpy as np
import pytest
import torch

from sparseid.methods.sae.metrics import METRICS
from sparseid.methods.sae.module import SAEModule
from sparseid.methods.sae.networks import restored, standardised
from sparseid.streams import Streams
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder
from sparseid.training.seeding import seed_everything


def content(folder):
    return load(folder / "checkpoints" / "last.ckpt")


def untrained(cfg):
    """The module of a run as it starts, and its data."""
    seed_everything(Streams(cfg.seed).integer("init"))
    data = build_data(cfg)
    data.setup()
    module = build_module(cfg, data)
    module.mlp = data.mlp
    return module, data


def test_a_run_measures_every_metric_of_both_codes(finished):
    assert content(finished)["global_step"] == 12
    rows = read_rows(finished / "result.json")
    assert {row.metric for row in rows} == {metric.name for metric in METRICS}
    keys = {"model": "random", "corpus": "wikitext2", "layer": 1, "method": "jsae", "features": 48, "k": 4}
    assert {row.keys.get("part") for row in rows if row.metric == "dead_features"} == {None, "input", "output"}
    assert all(keys.items() <= row.keys.items() for row in rows)
    assert {row.metric for row in rows if row.value is None} == {"loss_recovered"}
    whole = {row.metric: row for row in rows if "part" not in row.keys}
    assert whole["dead_features"].n == 128
    assert whole["jacobian_mean"].n == 128 * 4 * 4
    arrays = np.load(finished / "arrays.npz")
    assert whole["dead_features"].value == sum((arrays[f"fired_{part}"] == 0).sum() for part in ("input", "output"))
    plain, replaced, without = arrays["next_token_losses"]
    assert without < min(plain, replaced)  # of random weights, an MLP's output helps no prediction
    remark = f"zeros for the MLP's output add nothing to the loss (from {plain:.4g} to {without:.4g})"
    assert any(remark in line for line in RunFolder(finished).remarks)
    assert whole["loss_recovered"].n == 8 * 15


def test_the_loss_with_the_dictionary_is_that_of_its_reconstructions(finished, config, of_kind):
    module, data = untrained(config(*of_kind["jsae"]))
    module.load_state_dict(content(finished)["state_dict"])
    outputs = torch.cat([batch.outputs for batch in data.test_dataloader()])
    again = data.losses_with(module.network("output")(outputs).detach())
    found = np.load(finished / "arrays.npz")["next_token_losses"]
    np.testing.assert_allclose([again.plain, again.replaced, again.without], found, rtol=1e-6)


@pytest.mark.parametrize(("change", "tokens"), [("method.loss_sequences=3", 3 * 15), ("method.loss_sequences=0", 0)])
def test_the_loss_is_measured_on_as_many_sequences_as_asked(config, change, tokens):
    rows = read_rows(execute(config(change, "trainer.max_samples=32")) / "result.json")
    assert sum(row.n for row in rows if row.metric == "loss_recovered") == tokens


@pytest.mark.parametrize("kind", ["topk", "batchtopk"])
def test_the_reconstruction_improves_within_a_few_steps(config, of_kind, kind):
    run = config(*of_kind[kind], "trainer.max_samples=3200")
    module, data = untrained(run)
    before = module.losses(data.training_batch(0)).reconstruction
    folder = execute(run)
    rows = {row.metric: row.value for row in read_rows(folder / "result.json") if "part" not in row.keys}
    assert "jacobian_mean" not in rows
    assert rows["l0"] == pytest.approx(4, abs=0.5)
    module.load_state_dict(content(folder)["state_dict"])
    assert module.losses(data.training_batch(0)).reconstruction < 0.7 * before


def test_the_penalty_makes_the_jacobian_smaller(config, of_kind):
    values = []
    for weight in ("0", "100"):
        change = f"method.jacobian_weight={weight}"
        folder = execute(config(*of_kind["jsae"], change, "method.jacobian_warmup=0", "trainer.max_samples=1600"))
        values += [row.value for row in read_rows(folder / "result.json") if row.metric == "jacobian_mean"]
    assert values[1] < 0.5 * values[0]


@pytest.mark.parametrize("kind", ["topk", "jsae"])
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, of_kind, resumed, kind):
    undisturbed = execute(config(*of_kind[kind]))
    run = config(*of_kind[kind], "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, SAEModule, 5)
    rows = [[(row.metric, row.value) for row in read_rows(each / "result.json")] for each in (undisturbed, again)]
    assert rows[0] == rows[1]
    first, second = content(undisturbed), content(again)
    assert all(torch.equal(tensor, second["state_dict"][name]) for name, tensor in first["state_dict"].items())
    assert first["lr_schedulers"] == second["lr_schedulers"]


def test_the_learning_rate_rises_and_falls_and_the_penalty_s_weight_rises(config, of_kind):
    changes = ("method.warmup=0.2", "method.decay=0.5", "method.lr=1", "trainer.max_samples=640")
    module, _ = untrained(config(*of_kind["jsae"], *changes))
    factor = module.configure_optimizers()["lr_scheduler"]["scheduler"].lr_lambdas[0]
    assert [factor(step) for step in (0, 3, 10, 15, 20)] == [0.25, 1, 1, 0.5, 0]


def test_rows_of_the_dictionaries_have_unit_norm_before_each_step(config, of_kind):
    module, data = untrained(config(*of_kind["topk"]))
    with torch.no_grad():
        module.network("input").decoder.mul_(2)
    module.losses(data.training_batch(0)).reconstruction.backward()
    module.settings.clip = 0.001
    module.on_before_optimizer_step(None)
    torch.testing.assert_close(module.network("input").decoder.norm(dim=1), torch.ones(48))
    assert sum(p.grad.square().sum() for p in module.parameters()).sqrt() < 0.0011


def test_a_trained_autoencoder_is_loaded_from_its_checkpoint(finished, config, of_kind):
    weights = torch.load(finished / "checkpoints" / "last.ckpt", weights_only=True)["state_dict"]
    network = restored(weights, "output", k=4)
    module, data = untrained(config(*of_kind["jsae"]))
    module.load_state_dict(weights)
    tokens = data.training_batch(3).outputs
    assert torch.equal(network(tokens), module.network("output")(tokens))
    batch = execute(config(*of_kind["batchtopk"]))
    weights = torch.load(batch / "checkpoints" / "last.ckpt", weights_only=True)["state_dict"]
    codes = restored(weights, "input", k=4, per_batch=True).encode(standardised(tokens).values).codes
    assert len(codes.values) == 4 * len(tokens)
    with pytest.raises(KeyError):
        restored(weights, "middle", k=4)
