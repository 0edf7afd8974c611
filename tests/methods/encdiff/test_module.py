import math

import numpy as np
import pytest
import torch
from torch.func import jacfwd, vmap

from sparseid.methods.encdiff.autoencoder import AutoencoderModule
from sparseid.methods.encdiff.metrics import METRICS
from sparseid.methods.encdiff.module import EncDiffModule
from sparseid.methods.factor_vae.metrics import METRICS as OF_IMAGES
from sparseid.streams import Streams
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunDiverged, RunError
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.seeding import seed_everything

OF_FACTORS = {"reader_accuracy", "decoded_accuracy", "transfer", "leak", "selectivity"}
OF_AUTOENCODER = {"autoencoder_error", "codes_used"}
DEPENDENCY = "method.penalty=dependency", "method.alpha=0.5"


def content(folder):
    return load(folder / "checkpoints" / "last.ckpt")


def prepared(cfg):
    """The untrained module of a run, and its data."""
    seed_everything(Streams(cfg.seed).integer("init"))
    data = build_data(cfg)
    return build_module(cfg, data).train(), data


def test_both_runs_measure_every_metric(finished):
    autoencoder, run = finished
    assert content(autoencoder)["global_step"] == 4
    assert content(run)["global_step"] == 10
    of_data = {"dataset": "fake_images", "image_size": 32, "source": "mini"}
    rows = {row.metric: row for row in read_rows(autoencoder / "result.json")}
    assert set(rows) == OF_AUTOENCODER
    assert rows["autoencoder_error"].keys == of_data | {"backbone": "encdiff_autoencoder"}
    rows = read_rows(run / "result.json")
    own = of_data | {"backbone": "encdiff", "regulariser": "none", "alpha": 0}
    expected = {metric.name for metric in (*METRICS, *OF_IMAGES)} - OF_AUTOENCODER - {"image_error"}
    assert {row.metric for row in rows} == expected
    for name in expected:
        keys = [row.keys for row in rows if row.metric == name]
        wanted = [{"factor": factor} for factor in ("hue", "shape")] if name in OF_FACTORS else [{}]
        assert keys == [own | key for key in wanted]
    assert "val_denoising_error" in (run / "metrics.csv").read_text()


def test_the_run_keeps_the_weights_of_its_autoencoder_and_scales_its_latents(finished, config):
    autoencoder, run = (content(folder)["state_dict"] for folder in finished)
    for name, weight in autoencoder.items():
        assert torch.equal(run[name], weight), name
    module, data = prepared(config())
    module.load_state_dict(run)
    images = data.training_batch(0, "latent scale").inputs
    assert module.latents_of(images).std().item() == pytest.approx(1)


def test_pictures_and_votes_are_kept_for_figures(finished):
    shapes = [{name: array.shape for name, array in np.load(folder / "arrays.npz").items()} for folder in finished]
    image = (32, 32, 3)
    assert shapes[0] == {"examples": (8, *image), "reconstructions": (8, *image)}
    assert shapes[1] == {
        "active": (3,),
        "votes": (2, 3),
        "importance": (3, 2),
        "chosen": (2,),
        "factor_names": (2,),
        "swap_examples": (3, *image),
        "swap_decoded": (3, *image),
        "swaps": (3, 3, *image),
        "examples": (2, *image),
        "reconstructions": (2, *image),
        "traversals": (2, 3, 9, *image),
        "traversal_values": (9,),
    }


def test_a_run_without_its_autoencoder_names_the_command(config):
    with pytest.raises(RunError, match=r"(?s)it does not exist yet.*method.training=autoencoder"):
        execute(config())


@pytest.mark.parametrize(
    ("changes", "module", "optimisers"),
    [
        ((*DEPENDENCY, "method.estimator=finite_difference"), EncDiffModule, 1),
        (("method.training=autoencoder", "method.autoencoder.adversarial=0.75"), AutoencoderModule, 2),
    ],
)
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(
    config, with_autoencoder, resumed, changes, module, optimisers
):
    changes = (*changes, "trainer.max_samples=40")
    undisturbed, run = config(*changes), config(*changes, "trainer.save_every_s=0")
    run.outputs += "/again"
    if module is EncDiffModule:
        for each in (undisturbed, run):
            with_autoencoder(each)
    once, again = execute(undisturbed), resumed(run, module, 3)
    values = [{(r.metric, str(r.keys)): r.value for r in read_rows(each / "result.json")} for each in (once, again)]
    assert values[0] == values[1]
    first, second = content(once), content(again)
    assert all(torch.equal(tensor, second["state_dict"][name]) for name, tensor in first["state_dict"].items())
    assert len(first["optimizer_states"]) == optimisers
    for ours, theirs in zip(first["optimizer_states"], second["optimizer_states"], strict=True):
        for number, state in ours["state"].items():
            assert all(torch.equal(value, theirs["state"][number][name]) for name, value in state.items())
    assert first["lr_schedulers"] == second["lr_schedulers"]


def test_a_loss_that_is_not_finite_ends_the_run(config, with_autoencoder, monkeypatch):
    training_step = EncDiffModule.training_step

    def broken(self, batch, batch_idx):
        if self.global_step == 2:
            self.tokens.layers[0].weight.data.fill_(math.nan)
        return training_step(self, batch, batch_idx)

    monkeypatch.setattr(EncDiffModule, "training_step", broken)
    with pytest.raises(RunDiverged, match="not finite at step 3"):
        execute(with_autoencoder(config()))


@pytest.mark.parametrize("penalty", ["none", "latent"])
def test_the_loss_of_a_step_is_that_of_plain_code(config, penalty):
    module, data = prepared(config(f"method.penalty={penalty}", f"method.alpha={0.1 if penalty == 'latent' else 0}"))
    images = data.training_batch(0).inputs
    error, found = module.losses(images, Streams(0).torch("step", 3))
    generator = Streams(0).torch("step", 3)
    latents = module.autoencoder.encode(2 * images - 1).latents
    times = torch.randint(20, (8,), generator=generator)
    noise = torch.randn(8, 3, 8, 8, generator=generator)
    roots = torch.linspace(0.0015**0.5, 0.0155**0.5, 20)
    retained = (1 - roots.square()).cumprod(dim=0)[times][:, None, None, None]
    codes = module.encoder(2 * images - 1)
    noisy = retained.sqrt() * latents + (1 - retained).sqrt() * noise
    predicted = module.denoiser(noisy, times, module.tokens(codes)).sample
    torch.testing.assert_close(error, (predicted - noise).abs().mean())
    wanted = 0.1 * codes.abs().sum(dim=1).mean() if penalty == "latent" else torch.zeros(())
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("target", ["noise", "latents"])
def test_all_coordinates_give_the_l1_norm_of_the_jacobian_of_the_target(config, target):
    changes = *DEPENDENCY, "method.coordinates=3", f"method.target={target}", "method.unit_scale=raw"
    module, data = prepared(config(*changes))
    module.eval()  # running statistics: one code does not depend on the other images
    images = data.training_batch(0).inputs
    diffused = module.diffuse(module.latents_of(images), Streams(0).torch("step", 0))
    codes = module.encode(images).detach()
    retained = module.schedule.alphas_cumprod[diffused.times][:, None, None, None]

    def predict(code, noisy, time, kept):
        noise = module.denoiser(noisy[None], time[None], module.tokens(code[None])).sample[0]
        return noise if target == "noise" else (noisy - (1 - kept).sqrt() * noise) / kept.sqrt()

    exact = vmap(jacfwd(predict))(codes, diffused.noisy, diffused.times, retained).abs()
    wanted = 0.5 * exact.sum(dim=-1).mean()
    found = module.losses(images, Streams(0).torch("step", 0))[1]
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-7)
    module.settings.estimator = "finite_difference"
    near = module.losses(images, Streams(0).torch("step", 0))[1]
    assert near.item() == pytest.approx(found.item(), rel=0.05)
    module.settings.reduction = "sum"
    summed = module.losses(images, Streams(0).torch("step", 0))[1]
    assert summed.item() == pytest.approx(3 * 8 * 8 * near.item(), rel=1e-4)


def test_the_penalty_by_units_in_standard_deviations_does_not_depend_on_their_scale(config):
    found = []
    for change in ("method.unit_scale=sd", "method.unit_scale=raw"):
        module, data = prepared(config(*DEPENDENCY, change))
        images = data.training_batch(0).inputs
        for scale in (1.0, 4.0):  # of the code; the tokens are the same
            for parameter in module.encoder[-1].parameters():
                parameter.data *= scale
            module.tokens.layers[0].weight.data /= scale
            found.append(module.losses(images, Streams(0).torch("step", 0))[1].item())
    assert found[1] == pytest.approx(found[0], rel=1e-4)
    assert found[3] == pytest.approx(found[2] / 4, rel=1e-4)


def test_the_penalty_reaches_tokens_and_encoder(config):
    module, data = prepared(config(*DEPENDENCY))
    penalty = module.losses(data.training_batch(0).inputs, Streams(0).torch("step", 0))[1]
    penalty.backward()
    for part in (module.tokens, module.denoiser, module.encoder):
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in part.parameters())
    assert all(p.grad is None for p in (*module.autoencoder.parameters(), *module.averaged.parameters()))


def test_only_a_penalised_denoiser_needs_attention_without_fusion(config):
    kinds = {
        estimator: {type(each).__name__ for each in prepared(config(*changes))[0].denoiser.attn_processors.values()}
        for estimator, changes in {
            "jvp": DEPENDENCY,
            "finite_difference": (*DEPENDENCY, "method.estimator=finite_difference"),
            "none": (),
        }.items()
    }
    fused = {"AttnProcessor2_0"}
    assert kinds == {"jvp": {"AttnProcessor"}, "finite_difference": fused, "none": fused}


def test_the_learning_rate_rises_and_stays(config):
    module, _ = prepared(config("method.warmup_steps=4"))
    optimiser = module.configure_optimizers()
    rates = []
    for _ in range(6):
        rates.append(optimiser["lr_scheduler"]["scheduler"].get_last_lr()[0])
        optimiser["optimizer"].step()
        optimiser["lr_scheduler"]["scheduler"].step()
    assert rates == pytest.approx([0.00025, 0.0005, 0.00075, 0.001, 0.001, 0.001])


def test_swapping_a_unit_by_itself_changes_nothing_and_equal_codes_are_decoded_alike(config):
    module, _ = prepared(config("method.autoencoder.codes=4096"))
    module.eval()
    module.autoencoder.quantize.embedding.weight.data.normal_()
    codes = torch.randn(3, 3)
    together = module.decode(torch.stack([codes, codes.flip(0), codes]))
    assert together.shape == (3, 3, 3, 32, 32)
    torch.testing.assert_close(together[0], module.decode(codes))
    torch.testing.assert_close(together[2], together[0])
    assert not torch.allclose(together[1, 0], together[0, 0])  # another code
    assert (together >= 0).all()
    assert (together <= 1).all()


def test_a_discriminator_has_losses_of_its_own(config):
    module, data = prepared(config("method.training=autoencoder", "method.autoencoder.adversarial=0.75"))
    plain, _ = prepared(config("method.training=autoencoder"))
    images = 2 * data.training_batch(0).inputs - 1
    without, none = plain.losses(images)
    made = plain.reconstruct(images)
    torch.testing.assert_close(without, (made.images - images).abs().mean() + made.codebook)
    assert none == 0
    loss, critics = module.losses(images)
    loss.backward(retain_graph=True)
    assert all(p.grad is None for p in module.discriminator.parameters())
    assert module.autoencoder.decoder.conv_out.weight.grad is not None
    module.zero_grad()
    critics.backward()
    assert all(p.grad is None for p in module.autoencoder.parameters())
    assert all(p.grad is not None for p in module.discriminator.parameters())
