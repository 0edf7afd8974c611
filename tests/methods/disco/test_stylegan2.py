"""The generator of StyleGAN2 against plain code, and files of weights."""

import math
import pickle

import pytest
import torch
from torch.nn import functional

from sparseid.errors import InputError
from sparseid.methods.disco.stylegan2 import ModulatedConvolution, StyleGAN2, filtered, load_stylegan2, upsampled

SIZES = (16, 6, 4, 2)


def seeded():
    torch.manual_seed(0)
    return StyleGAN2(*SIZES)


def plain_convolution(layer, images, latents):
    """Each sample by itself, with modulated and normalised weights, as in the paper."""
    outputs = []
    for image, latent in zip(images, latents, strict=True):
        linear = layer.modulation
        style = linear.weight @ latent / math.sqrt(linear.weight.shape[1]) + linear.bias
        weight = layer.weight[0] * style[:, None, None] / math.sqrt(layer.weight[0, 0].numel())
        if layer.demodulate:
            weight = weight / (weight.square().sum(dim=(1, 2, 3), keepdim=True) + 1e-8).sqrt()
        if layer.upsample:
            wide = functional.conv_transpose2d(image[None], weight.transpose(0, 1), stride=2)
            outputs.append(filtered(wide, 4.0, (1, 1))[0])
        else:
            outputs.append(functional.conv2d(image[None], weight, padding=weight.shape[-1] // 2)[0])
    return torch.stack(outputs)


@pytest.mark.parametrize(("kernel", "demodulate", "upsample"), [(3, True, False), (3, True, True), (1, False, False)])
def test_a_convolution_is_modulated_per_sample(kernel, demodulate, upsample):
    torch.manual_seed(1)
    layer = ModulatedConvolution(5, 4, kernel, 6, demodulate, upsample)
    images, latents = torch.randn(3, 5, 8, 8), torch.randn(3, 6)
    found = layer(images, latents)
    assert found.shape == (3, 4, 16, 16) if upsample else (3, 4, 8, 8)
    torch.testing.assert_close(found, plain_convolution(layer, images, latents), rtol=1e-4, atol=1e-5)


def test_upsampling_keeps_constants_and_ramps():
    assert upsampled(torch.ones(1, 2, 6, 6)).shape == (1, 2, 12, 12)
    torch.testing.assert_close(upsampled(torch.ones(1, 2, 6, 6))[..., 2:-2, 2:-2], torch.ones(1, 2, 8, 8))
    ramp = upsampled(torch.arange(6.0).expand(1, 1, 6, 6))[0, 0, 6, 2:-2]
    torch.testing.assert_close(ramp.diff(), torch.full((7,), 0.5))


def test_parameters_have_the_names_of_the_published_weights():
    names = {name: tuple(value.shape) for name, value in seeded().state_dict().items()}
    assert names["style.1.weight"] == (6, 6)
    assert names["input.input"] == (1, 4, 4, 4)
    assert names["conv1.conv.weight"] == (1, 4, 4, 3, 3)
    assert names["conv1.conv.modulation.bias"] == (4,)
    assert names["conv1.noise.weight"] == (1,)
    assert names["conv1.activate.bias"] == (4,)
    assert names["to_rgb1.bias"] == (1, 3, 1, 1)
    assert names["convs.3.conv.weight"] == (1, 4, 4, 3, 3)
    assert names["to_rgbs.1.conv.weight"] == (1, 3, 4, 1, 1)
    assert [names[f"noises.noise_{number}"][-1] for number in range(5)] == [4, 8, 8, 16, 16]
    assert len(names) == 2 * 2 + 1 + 5 * 5 + 3 * 4 + 5


def test_images_are_functions_of_their_latents():
    generator = seeded()
    noise = torch.randn(2, 6, generator=torch.Generator().manual_seed(0))
    latents = generator.place(noise)
    first, again, alone = generator(latents), generator(latents), generator(latents[1:])
    assert first.shape == (2, 3, 16, 16)
    assert torch.equal(first, again)
    torch.testing.assert_close(first[1:], alone, rtol=1e-4, atol=1e-5)
    assert (first[0] - first[1]).abs().max() > 0


def saved(path, content):
    torch.save(content, path)
    return str(path)


def published(generator):
    """Weights as rosinality/stylegan2-pytorch saves them, with its filters."""
    filters = {"convs.0.conv.blur.kernel": torch.ones(4, 4), "to_rgbs.0.upsample.kernel": torch.ones(4, 4)}
    return generator.state_dict() | filters


@pytest.mark.parametrize("wrapped", [True, False])
def test_published_weights_are_loaded(tmp_path, wrapped):
    weights = published(seeded())
    path = saved(tmp_path / "g.pt", {"g_ema": weights, "d": {}} if wrapped else weights)
    loaded = load_stylegan2(path, *SIZES)
    latents = torch.randn(2, 6)
    assert torch.equal(loaded(latents), seeded()(latents))


class Code:
    def __reduce__(self):
        return (print, ("executed",))


def test_other_files_are_refused_and_nothing_is_executed(tmp_path, capsys):
    def refused(path, says):
        with pytest.raises(InputError, match=says) as caught:
            load_stylegan2(str(path), *SIZES)
        assert caught.value.keys == ("method.generator.checkpoint",)

    refused("", "no generator is given.*set method.generator.kind=vae")
    refused(tmp_path / "none.pt", "is not a file")
    (tmp_path / "code.pt").write_bytes(pickle.dumps(Code()))
    refused(tmp_path / "code.pt", "cannot be read as weights")
    refused(saved(tmp_path / "hidden.pt", {"g_ema": Code()}), "cannot be read as weights")
    assert "executed" not in capsys.readouterr().out
    refused(saved(tmp_path / "list.pt", [torch.ones(2)]), "has no weights by name")
    refused(saved(tmp_path / "larger.pt", StyleGAN2(32, 6, 4, 2).state_dict()), "holds another generator: convs.4")
    cut = (tmp_path / "larger.pt").read_bytes()[:-200]
    (tmp_path / "cut.pt").write_bytes(cut)
    refused(tmp_path / "cut.pt", "cannot be read as weights")
