"""Runs of the flow, and its steps against plain code."""

import math

import numpy as np
import pytest
import torch

from sparseid.methods.gin.metrics import METRICS
from sparseid.methods.gin.module import GINModule
from sparseid.streams import Streams
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.seeding import seed_everything

DEPENDENCY = ("method.penalty=dependency", "method.alpha=0.5")


def prepared(cfg):
    """The untrained module of a run, with flexible last layers."""
    seed_everything(Streams(cfg.seed).integer("init"))
    data = build_data(cfg)
    return build_module(cfg, data).train(), data


def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed):
    undisturbed = execute(config(*DEPENDENCY))
    run = config(*DEPENDENCY, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, GINModule, 8)  # after the fall of the learning rate
    first, second = (
        {row.metric + str(row.keys.get("factor", "")): row for row in read_rows(each / "result.json")}
        for each in (undisturbed, again)
    )
    assert {row.metric for row in first.values()} == {metric.name for metric in METRICS}
    assert len(first) == 5 + 8
    assert {name: row.value for name, row in first.items()} == {name: row.value for name, row in second.items()}
    assert first["moved_share"].keys == {
        "dataset": "fashion_mnist",
        "source": "silhouettes",
        "images": 48,
        "model": "flow",
        "regulariser": "dependency",
        "alpha": 0.5,
    }
    assert first["log_abs_det_max"].value < 1e-4
    assert first["inverse_error"].value < 1e-4
    ours, theirs = (load(folder / "checkpoints" / "last.ckpt") for folder in (undisturbed, again))
    assert all(torch.equal(tensor, theirs["state_dict"][name]) for name, tensor in ours["state_dict"].items())
    assert ours["optimizer_states"][0]["param_groups"][0]["lr"] == pytest.approx(0.0003)
    with np.load(undisturbed / "arrays.npz") as arrays:
        shapes = {name: arrays[name].shape for name in arrays}
    assert shapes == {
        "flow_examples": (3, 28, 28),
        "flow_spectrum": (784,),
        "flow_latents": (3,),
        "flow_deviations": (3,),
        "flow_images": (3, 9, 28, 28),
        "flow_changes": (3, 28, 28),
    }


@pytest.mark.parametrize("classes", [1, 2])
def test_the_loss_of_a_step_is_that_of_plain_code(config, classes):
    module, data = prepared(config(f"method.classes={classes}"))
    images, labels = data.training_batch(0)
    noise = torch.randn(images.shape, generator=module.streams.torch("step", 3))
    with torch.no_grad():
        latents = module.flow(images + 0.01 * noise)
        losses = module.losses(images, labels, 3)
    groups = [latents] if classes == 1 else [latents[labels == label] for label in range(2)]
    plain = sum(len(group) * group.std(dim=0, correction=0).log().mean() for group in groups) / len(latents)
    torch.testing.assert_close(losses.likelihood, 0.5 + 0.5 * math.log(2 * math.pi) + plain)
    assert losses.penalty == 0


def penalty_of(config, *changes):
    module, data = prepared(config(*changes))
    batch = data.training_batch(0)
    return module.losses(batch.inputs, batch.labels, 0).penalty


def test_penalties_of_an_untrained_flow_are_known(config):
    """It reorders pixels: each latent moves one of 784 pixels, by as much."""
    module, data = prepared(config())
    latents = module.flow(data.training_batch(0).inputs).detach()
    raw = penalty_of(config, *DEPENDENCY, "method.units=raw")
    assert raw.item() == pytest.approx(0.5)  # 784 columns with a mean of 1 / 784
    by_deviation = penalty_of(config, *DEPENDENCY, "method.noise_std=1e-9")
    wanted = 0.5 * latents.std(dim=0, correction=0).sum() / 784
    torch.testing.assert_close(by_deviation, wanted)
    latent = penalty_of(config, "method.penalty=latent", "method.alpha=0.5", "method.noise_std=1e-9")
    torch.testing.assert_close(latent, 0.5 * latents.abs().sum(dim=1).mean())
    assert penalty_of(config, "method.penalty=latent") == 0


def test_differences_are_near_the_derivatives(config):
    module, data = prepared(config("method.estimator=jvp"))
    for part in module.flow.parts:
        for parameter in part.parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    images = data.training_batch(0).inputs
    latents, coordinates = module.flow(images), torch.arange(32).view(16, 2)
    exact = module.differentiate(images, latents, coordinates)
    module.settings.estimator = "finite_difference"
    near = module.differentiate(images, latents, coordinates)
    assert exact.shape == (16, 2, 1, 28, 28)
    assert (near - exact).abs().mean() < 0.02 * exact.abs().mean()


def errors(config, *changes):
    cfg = config(*changes)
    return [error.keys[0] for error in cfg.method.errors(cfg)]


def test_settings_that_cannot_be_are_refused(config):
    assert errors(config) == []
    assert errors(config, "method.widths=[]") == ["method.widths"]
    assert errors(config, "method.alpha=1") == ["method.penalty"]
    assert errors(config, "method.classes=3") == ["method.classes"]
    assert errors(config, "trainer.devices=2") == ["trainer.devices"]
    assert errors(config, "trainer.batch_size=1") == ["trainer.batch_size"]
    assert errors(config, "trainer.precision=bf16-mixed") == ["trainer.precision"]
