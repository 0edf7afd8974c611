"""Runs of DisCo, and its steps against plain code."""

import shutil

import numpy as np
import pytest
import torch
from torch.func import jacfwd, vmap

from sparseid.config.parents import parent_run
from sparseid.methods.disco.metrics import METRICS
from sparseid.methods.disco.module import DisCoModule
from sparseid.methods.disco.stylegan2 import StyleGAN2
from sparseid.methods.factor_vae.losses import bernoulli_error, divergence
from sparseid.methods.factor_vae.metrics import METRICS as SCORES
from sparseid.streams import Streams
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunError
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.seeding import seed_everything

DEPENDENCY = ("method.penalty=dependency", "method.alpha=0.5")


def prepared(cfg):
    """The untrained module of a run."""
    seed_everything(Streams(cfg.seed).integer("init"))
    data = build_data(cfg)
    return build_module(cfg, data).train(), data


def weights(folder):
    return load(folder / "checkpoints" / "last.ckpt")["state_dict"]


def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(with_generator, resumed):
    run = with_generator(*DEPENDENCY, "trainer.save_every_s=0")
    shutil.copytree(run.outputs, f"{run.outputs}/again")  # with the generator
    undisturbed = execute(with_generator(*DEPENDENCY))
    source = weights(next(undisturbed.parent.glob("cars3d-disco_generator-*")))
    run.outputs += "/again"
    again = resumed(run, DisCoModule, 5)
    first, second = ({row.metric: row for row in read_rows(each / "result.json")} for each in (undisturbed, again))
    assert set(first) == {metric.name for metric in (*SCORES, *METRICS)} - {"image_error"}
    assert {name: row.value for name, row in first.items()} == {name: row.value for name, row in second.items()}
    keys = {"dataset": "cars3d", "image_size": 32, "source": "mini", "levels": "2x2x2"}
    ours = {"backbone": "disco", "regulariser": "dependency", "alpha": 0.5, "generator": "vae"}
    assert first["factorvae_score"].keys == keys | ours
    trained, other = weights(undisturbed), weights(again)
    for name, value in trained.items():
        assert torch.equal(value, other[name])
        if name.startswith("generator."):
            assert torch.equal(value, source[name.replace("generator.", "model.")])
    with np.load(undisturbed / "arrays.npz") as arrays:
        assert arrays["traversals"].shape == (2, 4, 9, 32, 32, 3)
        assert arrays["votes"].shape == (3, 6)


def test_the_generator_of_all_penalties_is_the_same_run(config):
    plain, penalised = parent_run(config()), parent_run(config(*DEPENDENCY))
    assert plain == penalised
    assert (plain.method.training, plain.trainer.max_samples, plain.trainer.batch_size) == ("generator", 128, 16)
    assert parent_run(plain) is None
    with pytest.raises(RunError, match=r"method\.training=generator"):
        execute(config())


def test_the_generator_is_a_plain_vae(config):
    cfg = parent_run(config("method.generator.beta=0.5"))
    module, data = prepared(cfg)
    images = data.training_batch(0)
    mean, log_variance = module.model.encode(images.inputs)
    noise = torch.randn(mean.shape, generator=module.streams.torch("generator step", 0))
    logits = module.model.decoder(mean + (log_variance / 2).exp() * noise)
    plain = bernoulli_error(logits, images.inputs).mean() + 0.5 * divergence(mean, log_variance)
    module._trainer = type("Trainer", (), {"global_step": 0})()
    torch.testing.assert_close(module.training_step(images, 0), plain)


def test_the_pairs_of_a_step_share_a_direction_or_do_not(config):
    module, _ = prepared(config("method.shift_min=1.5"))
    targets = set()
    for step in range(30):
        drawn = module.draw(module.streams.torch("step", step))
        assert drawn.normal.shape == (15, 5)
        target = int(drawn.directions[0])
        targets.add(target)
        assert (drawn.directions[:10] == target).all()
        assert (drawn.directions[10:] != target).all()
        assert set(drawn.directions.tolist()) <= set(range(4))
        assert drawn.lengths.abs().min() >= 1.5
    assert targets == set(range(4))
    assert (drawn.lengths < 0).any()
    assert (drawn.lengths.abs() == 1.5).any()


def test_the_losses_of_a_step_are_those_of_plain_code(config):
    module, _ = prepared(config(*DEPENDENCY))
    losses = module.losses(3)
    drawn = module.draw(module.streams.torch("step", 3))
    directions = torch.matrix_exp(module.navigator.logarithm - module.navigator.logarithm.T)
    variations, changes = [], []
    for normal, direction, length in zip(*drawn, strict=True):
        plain = module.generator.decoder(normal[None]).sigmoid()
        shifted = module.generator.decoder((normal + length * directions[:, direction])[None]).sigmoid()
        difference = (module.encoder(shifted) - module.encoder(plain)).abs()[0]
        variations.append(difference / difference.norm())
        changes.append((shifted - plain).abs().mean() / length.abs())
    queries, others = torch.stack(variations[:6]), torch.stack(variations[6:])
    logits, labels = queries @ others.T, torch.zeros(6, 9)
    labels[logits > 0.95] = logits[logits > 0.95].detach()
    labels[:, :4] = 1
    plain = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
    torch.testing.assert_close(losses.contrast, plain, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(losses.penalty, 0.5 * 4 * torch.stack(changes).mean(), rtol=1e-3, atol=1e-7)
    (losses.contrast + losses.entropy + losses.penalty).backward()
    trained = {name for name, parameter in module.named_parameters() if parameter.grad is not None}
    assert not any(name.startswith("generator") for name in trained)
    assert "navigator.logarithm" in trained


def test_derivatives_of_all_directions_give_the_norm_of_the_jacobian(config, monkeypatch):
    """One direction of each sample on average; here every sample has each."""
    module, _ = prepared(config(*DEPENDENCY, "method.estimator=jvp"))
    latents = torch.randn(3, 5, generator=torch.Generator().manual_seed(0)).repeat_interleave(4, dim=0)
    every = torch.arange(4).repeat(3)[:, None]
    monkeypatch.setattr("sparseid.methods.disco.module.random_coordinates", lambda *sizes: every)
    found = module.penalty(latents, latents, latents, latents, latents, torch.Generator())

    def images(shift, latent):
        return module.generator(latent[None] + module.navigator(shift[None]))[0]

    exact = vmap(jacfwd(images))(torch.zeros(3, 4), latents[::4]).abs()
    torch.testing.assert_close(found, 0.5 * exact.mean(dim=(0, 1, 2, 3)).sum(), rtol=1e-4, atol=1e-7)


def test_latent_sparsity_is_that_of_the_representation(config):
    module, _ = prepared(config("method.penalty=latent", "method.alpha=0.5"))
    drawn = module.draw(module.streams.torch("step", 3))
    codes = module.encoder(module.generator(drawn.normal))
    torch.testing.assert_close(module.losses(3).penalty, 0.5 * codes.abs().sum(dim=1).mean())
    assert prepared(config("method.penalty=latent"))[0].losses(3).penalty == 0


def test_a_run_with_the_users_generator(config, tmp_path):
    torch.manual_seed(0)
    torch.save({"g_ema": StyleGAN2(32, 5, 4, 2).state_dict()}, tmp_path / "g.pt")
    of_user = ["kind=stylegan2", f"checkpoint={tmp_path / 'g.pt'}", "channels=4", "mapping_layers=2"]
    cfg = config(*(f"method.generator.{change}" for change in of_user), "trainer.max_samples=12")
    assert parent_run(cfg) is None
    folder = execute(cfg)
    assert torch.equal(weights(folder)["generator.input.input"], torch.load(tmp_path / "g.pt")["g_ema"]["input.input"])


def errors(config, *changes):
    cfg = config(*changes)
    return [error.keys[0] for error in cfg.method.errors(cfg)]


def test_settings_that_cannot_be_are_refused(config):
    generator = "method.generator"
    assert errors(config) == []
    assert errors(config, "method.directions=6") == ["method.directions"]
    assert errors(config, "method.widths=[4,4,4,4,4,4,4]") == ["method.widths"]
    assert errors(config, f"{generator}.widths=[]") == [f"{generator}.widths"]
    assert errors(config, "method.training=generator", f"{generator}.kind=stylegan2") == ["method.training"]
    assert errors(config, f"{generator}.checkpoint=g.pt") == [f"{generator}.checkpoint"]
    assert errors(config, f"{generator}.samples=8") == [f"{generator}.samples"]
    assert errors(config, "method.alpha=1") == ["method.penalty"]
    assert errors(config, "trainer.devices=2") == ["trainer.devices"]
