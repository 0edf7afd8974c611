import pytest
import torch
from torch import nn

from sparseid.methods.encdiff.networks import (
    UnitTokens,
    autoencoder,
    denoiser,
    image_encoder,
    moving_average,
    patch_discriminator,
    schedule,
)
from sparseid.methods.encdiff.settings import AutoencoderSettings, DenoiserSettings, EncDiffSettings

SMALL = DenoiserSettings(width=4, groups=2, multipliers=[1, 2], attention=[True, False], blocks=1, heads=2)
PUBLISHED = AutoencoderSettings(samples=1, batch_size=1, learning_rate=1.0)


def test_the_image_encoder_is_the_published_one():
    encoder = image_encoder(3, 64, EncDiffSettings(units=20, encoder_layers=4, lr=1.0))
    names = [type(layer).__name__ for layer in encoder]
    block = ["Conv2d", "ChannelNorm"]
    assert names[:11] == [*block, "ReLU", *block, "ReLU", *block, *block, "ReLU"]  # none after the third
    assert names[11:] == ["ResidualBlock", "ChannelNorm", "ReLU", "ResidualBlock", "Flatten", "Linear"]
    assert encoder[-1].weight.shape == (20, 2048)
    assert encoder(torch.zeros(2, 3, 64, 64)).shape == (2, 20)


def test_each_unit_has_a_perceptron_of_its_own():
    tokens = UnitTokens(3, [5, 6], 4)
    codes = torch.randn(7, 3)
    wanted = []
    for unit in range(3):
        features = codes[:, unit : unit + 1]
        for number, layer in enumerate(tokens.layers[::2]):
            size = layer.weight.shape[0] // 3
            part = slice(unit * size, (unit + 1) * size)
            features = features @ layer.weight[part, :, 0].T + layer.bias[part]
            features = nn.functional.elu(features) if number < 2 else features
        wanted.append(features)
    torch.testing.assert_close(tokens(codes), torch.stack(wanted, dim=1))


def test_the_denoiser_has_the_published_levels_and_attends_to_every_token():
    network = denoiser(3, 16, 16, DenoiserSettings())
    assert network.config.block_out_channels == (64, 128, 256, 256)
    assert [hasattr(block, "attentions") for block in network.down_blocks] == [True, True, True, False]
    attention = network.down_blocks[0].attentions[0].transformer_blocks[0].attn2
    assert (attention.heads, attention.to_k.in_features) == (8, 16)
    small = denoiser(3, 8, 4, SMALL)
    tokens = torch.randn(2, 5, 4, requires_grad=True)
    small(torch.randn(2, 3, 8, 8), torch.tensor([1, 700]), tokens).sample.square().sum().backward()
    assert tokens.grad.abs().amin(dim=(0, 2)).gt(0).all()


def test_the_codebooks_loss_is_that_of_plain_code():
    """As in latent diffusion, whose weight of 0.25 is on the codebook's term."""
    network = autoencoder(3, PUBLISHED).quantize
    network.embedding.weight.data.normal_(generator=torch.Generator().manual_seed(0))
    z = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(1), requires_grad=True)
    quantised, loss, (_, _, codes) = network(z)
    flat = z.movedim(1, 3).reshape(-1, 3)
    nearest = (flat[:, None] - network.embedding.weight).square().sum(dim=2).argmin(dim=1)
    assert codes.tolist() == nearest.tolist()
    chosen = network.embedding.weight[nearest].reshape(2, 4, 4, 3).movedim(3, 1)
    torch.testing.assert_close(quantised, chosen)
    torch.testing.assert_close(loss, 1.25 * (chosen - z).square().mean())
    (gradient,) = torch.autograd.grad(loss, z, retain_graph=True)
    torch.testing.assert_close(gradient, 2 * (z - chosen).detach() / z.numel())
    through = torch.autograd.grad((3 * quantised).sum(), z)[0]
    torch.testing.assert_close(through, torch.full_like(z, 3.0))  # straight through


def test_the_autoencoder_divides_the_side_by_4():
    network = autoencoder(3, PUBLISHED)
    assert network.encode(torch.zeros(1, 3, 32, 32)).latents.shape == (1, 3, 8, 8)
    assert network.quantize.embedding.weight.shape == (2048, 3)
    assert not any("attentions" in name for name, _ in network.named_parameters() if "mid_block" not in name)


def test_the_discriminator_judges_patches():
    network = patch_discriminator(3, 64)
    assert network(torch.zeros(2, 3, 64, 64)).shape == (2, 1, 6, 6)
    assert [layer.out_channels for layer in network if isinstance(layer, nn.Conv2d)] == [64, 128, 256, 512, 1]


def test_the_schedule_is_that_of_latent_diffusion():
    steps = schedule(DenoiserSettings())
    roots = torch.linspace(0.0015**0.5, 0.0155**0.5, 1000)
    torch.testing.assert_close(steps.alphas_cumprod, (1 - roots.square()).cumprod(dim=0))
    clean, noise, times = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4), torch.tensor([0, 999])
    retained = steps.alphas_cumprod[times][:, None, None, None]
    wanted = retained.sqrt() * clean + (1 - retained).sqrt() * noise
    torch.testing.assert_close(steps.add_noise(clean, noise, times), wanted)


def test_a_step_of_ddim_is_that_of_plain_code():
    steps = schedule(DenoiserSettings())
    steps.set_timesteps(200)
    assert steps.timesteps[:2].tolist() == [996, 991]
    noisy, noise = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4)
    for time in (996, 1):
        now, before = steps.alphas_cumprod[time], steps.alphas_cumprod[max(time - 5, 0)]
        clean = (noisy - (1 - now).sqrt() * noise) / now.sqrt()
        wanted = before.sqrt() * clean + (1 - before).sqrt() * noise
        torch.testing.assert_close(steps.step(noise, time, noisy).prev_sample, wanted)


def test_the_moving_average_follows_faster_at_first():
    network = nn.Linear(1, 1, bias=False)
    network.weight.data.fill_(1.0)
    averaged = moving_average(network, 0.5)
    wanted = 1.0
    for update, value in enumerate([1.0, 2.0, 3.0, 4.0] * 5):
        network.weight.data.fill_(value)
        averaged.update_parameters(network)
        decay = min(0.5, (1 + update) / (10 + update))
        wanted = value if update == 0 else decay * wanted + (1 - decay) * value
    assert averaged.module.weight.item() == pytest.approx(wanted)
    assert not averaged.module.weight.requires_grad
