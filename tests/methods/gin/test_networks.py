"""The coupling is that of FrEIA, and the flow preserves volume and is inverted."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.func import jacfwd, vmap

from sparseid.methods.gin.networks import Coupling, GINFlow, Permutation


def bent(flow):
    """The flow with random last layers, so that it is no mere permutation."""
    generator = torch.Generator().manual_seed(1)
    for layer in flow.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.weight.data = (
                0.3 * torch.randn(layer.weight.shape, generator=generator) / layer.weight[0].numel() ** 0.5
            )
            layer.bias.data = 0.1 * torch.randn(layer.bias.shape, generator=generator)
    return flow


def peers(arrays, case):
    """Our coupling with the peer's subnetworks."""

    def linear(name, layer):
        weight, bias = (torch.from_numpy(arrays[f"{case}/{name}/{kind}{layer}"]) for kind in "Wb")
        made = nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
        made.load_state_dict({"weight": weight, "bias": bias})
        return made

    names = iter(("subnet2", "subnet1"))  # that of the second half is made first

    def subnet(inputs, outputs):
        name = next(names)
        first, last = linear(name, 0), linear(name, 1)
        assert (first.in_features, last.out_features) == (inputs, outputs)
        return nn.Sequential(first, nn.ReLU(), last)

    return Coupling(arrays[f"{case}/x"].shape[1], subnet, float(arrays[f"{case}/clamp"]))


@pytest.mark.parametrize("case", ["even8", "odd5"])
def test_the_coupling_is_that_of_freia(fixture_arrays, case):
    arrays = fixture_arrays("ddl_gin_coupling")
    x, y, z, x_of_z = (torch.from_numpy(arrays[f"{case}/{name}"]) for name in ("x", "y", "z", "x_of_z"))
    coupling = peers(arrays, case)
    assert coupling.sizes == [int(arrays[f"{case}/split_len{part}"]) for part in (1, 2)]
    with torch.no_grad():
        torch.testing.assert_close(coupling(x), y, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(coupling.inverse(y), x, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(coupling.inverse(z), x_of_z, rtol=1e-5, atol=1e-5)
    exact = torch.linalg.slogdet(vmap(jacfwd(lambda row: coupling(row[None])[0]))(x)).logabsdet
    np.testing.assert_allclose(exact.detach(), arrays[f"{case}/jacobian_logabsdet_autograd"], atol=1e-5)


def test_the_flow_preserves_volume_and_is_inverted():
    flow = bent(GINFlow(8, 1, widths=(6,), blocks=2, hidden=20, last_blocks=2))
    images = torch.rand(5, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        latents = flow(images)
        assert (flow.inverse(latents) - images).abs().max() < 1e-5
        assert (latents.sort().values - images.flatten(1).sort().values).abs().max() > 0.1
    exact = flow.double()
    jacobian = vmap(jacfwd(lambda flat: exact(flat.view(1, 1, 8, 8))[0]))(images.double().flatten(1))
    assert torch.linalg.slogdet(jacobian).logabsdet.abs().max() < 1e-10


def test_untrained_it_reorders_pixels():
    flow = GINFlow(28, 1, widths=(4, 4), blocks=1, hidden=8, last_blocks=1)
    assert flow.latents == 784
    image = torch.rand(1, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.equal(flow(image).sort().values, image.flatten(1).sort().values)


def test_a_permutation_has_an_inverse_and_is_part_of_the_weights():
    permutation = Permutation(7)
    values = torch.arange(14).view(2, 7)
    assert torch.equal(permutation.inverse(permutation(values)), values)
    assert list(permutation.state_dict()) == ["order"]


def test_a_side_that_cannot_be_halved_is_refused():
    with pytest.raises(ValueError, match="images of 7 pixels cannot be halved"):
        GINFlow(28, 1, widths=(4, 4, 4))
