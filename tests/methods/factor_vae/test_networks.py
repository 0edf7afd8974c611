import pytest
import torch
from torch import nn

from sparseid.methods.factor_vae.networks import ImageVAE, discriminator


def shapes(network, kind):
    return [tuple(layer.weight.shape) for layer in network.modules() if isinstance(layer, kind)]


def test_the_networks_of_64_pixels_are_those_of_disentanglement_lib():
    model = ImageVAE(64, 3, 10)
    assert shapes(model.encoder, nn.Conv2d) == [(32, 3, 4, 4), (32, 32, 4, 4), (64, 32, 2, 2), (64, 64, 2, 2)]
    assert shapes(model.encoder, nn.Linear) == [(256, 1024), (20, 256)]
    assert shapes(model.decoder, nn.Linear) == [(256, 10), (1024, 256)]
    transposed = [(64, 64, 4, 4), (64, 32, 4, 4), (32, 32, 4, 4), (32, 3, 4, 4)]
    assert shapes(model.decoder, nn.ConvTranspose2d) == transposed
    assert shapes(discriminator(10), nn.Linear) == [(1000, 10), *[(1000, 1000)] * 5, (2, 1000)]


@pytest.mark.parametrize(
    ("side", "channels", "widths", "kernels"), [(32, 1, (4, 4, 8, 8), (4, 4, 4, 4)), (16, 3, (4, 8), (4, 2))]
)
def test_outputs_have_the_shape_of_the_images(side, channels, widths, kernels):
    model = ImageVAE(side, channels, 5, widths, kernels, hidden=16)
    images = torch.rand(2, channels, side, side)
    posterior = model.encode(images)
    assert posterior.mean.shape == posterior.log_variance.shape == (2, 5)
    assert model.decoder(posterior.mean).shape == images.shape
    assert isinstance(model.decoder[-1], nn.ConvTranspose2d)  # logits


def test_images_that_cannot_be_halved_are_refused():
    with pytest.raises(ValueError, match="images of 24 pixels cannot be halved 4 times"):
        ImageVAE(24, 3, 5)


def test_weights_are_glorots_and_biases_zero():
    torch.manual_seed(0)
    layer = discriminator(10)[2]
    assert not layer.bias.any()
    assert layer.weight.abs().max().item() == pytest.approx((6 / 2000) ** 0.5, rel=1e-3)
