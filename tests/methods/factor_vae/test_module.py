import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.func import jacfwd, vmap
from torch.nn import functional

from sparseid.methods.factor_vae.metrics import METRICS
from sparseid.methods.factor_vae.module import FactorVAEModule
from sparseid.streams import Streams
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunDiverged
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.seeding import seed_everything

PENALTIES = ["dependency", "latent", "orojar", "hessian_penalty"]


def content(folder: Path):
    return load(folder / "checkpoints" / "last.ckpt")


def prepared(cfg):
    """The untrained module of a run."""
    seed_everything(Streams(cfg.seed).integer("init"))
    data = build_data(cfg)
    return build_module(cfg, data).train(), data


def of_penalty(name, alpha=0.1):
    return f"method.penalty={name}", f"method.alpha={alpha}"


def test_a_run_counts_batches_and_measures_every_metric(finished):
    assert content(finished)["global_step"] == 25
    rows = {row.metric: row for row in read_rows(finished / "result.json")}
    assert set(rows) == {metric.name for metric in METRICS}
    for row in rows.values():
        of_data = {"dataset": "fake_images", "image_size": 32, "source": "mini"}
        assert row.keys == of_data | {"backbone": "factorvae", "regulariser": "none", "alpha": 0, "gamma": 10}
        assert row.value is not None
    assert rows["image_error"].n == 40
    assert rows["factorvae_score"].n == 20
    names = {line.split(",")[2] for line in (finished / "metrics.csv").read_text().splitlines()[1:]}
    assert names == {"val_image_error"}  # 25 steps: no point of the training curves yet


def test_pictures_and_votes_are_kept_for_figures(finished):
    arrays = np.load(finished / "arrays.npz")
    shapes = {name: arrays[name].shape for name in arrays}
    assert shapes == {
        "active": (4,),
        "votes": (2, 4),
        "importance": (4, 2),
        "examples": (2, 32, 32, 3),
        "reconstructions": (2, 32, 32, 3),
        "traversals": (2, 4, 9, 32, 32, 3),
        "traversal_values": (9,),
    }
    assert arrays["traversals"].dtype == np.uint8


@pytest.mark.parametrize(
    "changes",
    [of_penalty("dependency"), (*of_penalty("orojar"), "method.permuted_batch=same")],
)
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed, changes):
    changes = (*changes, "trainer.max_samples=64")
    undisturbed = execute(config(*changes))
    run = config(*changes, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, FactorVAEModule, 5)
    values = [{row.metric: row.value for row in read_rows(each / "result.json")} for each in (undisturbed, again)]
    assert values[0] == values[1]
    first, second = content(undisturbed), content(again)
    assert all(torch.equal(tensor, second["state_dict"][name]) for name, tensor in first["state_dict"].items())
    assert len(first["optimizer_states"]) == 2
    for ours, theirs in zip(first["optimizer_states"], second["optimizer_states"], strict=True):
        assert all(float(state["step"]) == 8 for state in ours["state"].values())
        for number, state in ours["state"].items():
            assert all(torch.equal(value, theirs["state"][number][name]) for name, value in state.items())


def test_a_loss_that_is_not_finite_ends_the_run(config, monkeypatch):
    training_step = FactorVAEModule.training_step

    def broken(self, batch, batch_idx):
        if self.global_step == 2:
            self.discriminator[0].weight.data.fill_(math.nan)
        return training_step(self, batch, batch_idx)

    monkeypatch.setattr(FactorVAEModule, "training_step", broken)
    with pytest.raises(RunDiverged, match="not finite at step 3"):
        execute(config())


@pytest.mark.parametrize("permuted", ["same", "independent"])
def test_the_losses_of_a_step_and_their_gradients_are_those_of_plain_code(config, permuted):
    """The plain code repeats the draws of the step; each loss reaches only its own network."""
    module, data = prepared(config(f"method.permuted_batch={permuted}", "method.gamma=6"))
    streams, images = module.streams, data.training_batch(0).inputs
    generator = streams.torch("step", 3, 0)

    def posterior(x):
        mean, log_variance = module.model.encoder(x).split(4, dim=1)
        return mean, log_variance, mean + torch.exp(log_variance / 2) * torch.randn(8, 4, generator=generator)

    mean, log_variance, z = posterior(images)
    other = z
    if permuted == "independent":
        factors = streams.numpy("second batch", 3).integers((3, 2), size=(8, 2))
        other = posterior(torch.stack([to_image(data.images.observations(row[None])[0]) for row in factors]))[2]
    order = torch.rand(8, 4, generator=generator).argsort(dim=0)
    shuffled = torch.stack([other[order[:, j], j] for j in range(4)], dim=1).detach()
    loss = functional.binary_cross_entropy_with_logits(module.model.decoder(z), images, reduction="sum") / 8
    loss = loss + 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum() / 8
    on_joint, classes = module.discriminator(z), torch.arange(2).repeat_interleave(8)
    loss = loss + 6 * (on_joint[:, 0] - on_joint[:, 1]).mean()
    judged = module.discriminator(torch.cat([z.detach(), shuffled]))
    critics_loss = functional.cross_entropy(judged, classes)
    wanted = [
        *torch.autograd.grad(loss, list(module.model.parameters())),
        *torch.autograd.grad(critics_loss, list(module.discriminator.parameters())),
    ]

    losses = module.losses(images, 3)
    torch.testing.assert_close(module.autoencoder_loss(losses), loss)
    torch.testing.assert_close(losses.discriminator, critics_loss)
    (module.autoencoder_loss(losses) + losses.discriminator).backward()
    for parameter, gradient in zip(module.parameters(), wanted, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


def to_image(pixels):
    return torch.from_numpy(pixels.transpose(2, 0, 1) / np.float32(255))


def test_a_step_of_a_run_is_one_of_adam_for_each_network(config):
    cfg = config("trainer.max_samples=16")
    module, data = prepared(cfg)
    adams = [
        torch.optim.Adam(module.model.parameters(), lr=0.001, betas=(0.9, 0.999)),
        torch.optim.Adam(module.discriminator.parameters(), lr=0.0001, betas=(0.5, 0.9)),
    ]
    for step in range(2):
        module.zero_grad()
        losses = module.losses(data.training_batch(step).inputs, step)
        (module.autoencoder_loss(losses) + losses.discriminator).backward()
        for adam in adams:
            adam.step()
    trained = content(execute(cfg))["state_dict"]
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(parameter.detach(), trained[name], rtol=1e-5, atol=1e-7)


def penalty_of(config, *changes):
    module, data = prepared(config(*changes))
    return module.losses(data.training_batch(0).inputs, 0).penalty.item()


def test_without_a_weight_there_is_no_penalty_and_with_one_it_is_linear(config):
    assert penalty_of(config) == 0
    for name in PENALTIES:
        none, one, two = (penalty_of(config, *of_penalty(name, alpha)) for alpha in (0.0, 0.1, 0.2))
        assert none == 0
        assert two == pytest.approx(2 * one, rel=1e-4)
        assert one > 0


@pytest.mark.parametrize("target", ["image", "logits"])
def test_all_coordinates_give_the_l1_norm_of_the_jacobian_of_the_target(config, target):
    changes = *of_penalty("dependency", 1.0), "method.coordinates=4", f"method.target={target}"
    module, _ = prepared(config(*changes))
    latents = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))

    def decode(z):
        logits = module.model.decoder(z[None])[0]
        return logits.sigmoid() if target == "image" else logits

    exact = vmap(jacfwd(decode))(latents).abs()
    logits, penalty = module.decode_and_penalise(latents, latents, torch.Generator())
    torch.testing.assert_close(logits, module.model.decoder(latents))
    torch.testing.assert_close(penalty, exact.sum(dim=-1).mean())
    near = penalty_of(config, *changes, "method.estimator=finite_difference")
    assert near == pytest.approx(penalty_of(config, *changes), rel=0.02)
    assert penalty_of(config, *changes, "method.reduction=sum") == pytest.approx(
        3 * 32 * 32 * penalty_of(config, *changes), rel=1e-4
    )
