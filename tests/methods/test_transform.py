"""New samples through the networks of each method, on modules of smoke runs before training."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.training.build import build_data, build_module


def module_of(*overrides):
    cfg = compose([*overrides, "scale=smoke", "hydra.mode=RUN"])
    torch.manual_seed(0)
    return build_module(cfg, build_data(cfg)).eval()


def samples(module, count=5):
    return torch.rand(count, *module.input_shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("overrides", "latents"),
    [
        (["experiment=regcl/table1", "data.latents=4", "seeds=[0,1]"], lambda module: module.layout.size),
        (["experiment=sparse_vae/fig3", "seeds=[0,1]"], lambda module: module.method.latents),
        (["experiment=ddl/table5", "seeds=[0,1]"], lambda module: module.latents),
        (["experiment=tbr/fig4", "seeds=[0,1]"], lambda module: module.method.latents),
    ],
)
@torch.no_grad()
def test_stacks_give_the_codes_of_each_member_sample_by_sample(overrides, latents):
    module = module_of(*overrides)
    inputs, models = samples(module), np.array([0, 1])
    codes = module.transform(inputs, {"models": models})
    assert codes.shape == (2, 5, latents(module))
    torch.testing.assert_close(module.transform(inputs[1:2], {"models": models})[:, 0], codes[:, 1])
    assert not torch.equal(codes[0], codes[1])


@torch.no_grad()
def test_of_several_restarts_the_chosen_ones_are_used():
    module = module_of("experiment=sparse_vae/fig3", "seeds=[0,1]", "method.restarts=2")
    inputs = samples(module)
    every = module.model.encode(inputs.expand(4, -1, -1))
    assert torch.equal(module.transform(inputs, {"models": np.array([1, 2])}), every[[1, 2]])
    with pytest.raises(InputError, match="which candidates"):
        module.transform(inputs, {})


@torch.no_grad()
def test_sparling_gives_its_motif_maps():
    module = module_of("experiment=digitcircle")
    inputs = samples(module, 2)
    maps = module.transform(inputs, {})
    assert torch.equal(maps, module.sparse(module.encoder(inputs)))
    assert maps.shape[:2] == (2, module.channels)


IMAGES = {
    "gin": (["experiment=ddl/fig8"], lambda module, images: module.flow(images)),
    "disco": (["experiment=ddl/table1_disco"], lambda module, images: module.encoder(images)),
    "disco's generator": (
        ["experiment=ddl/table1_disco", "method.training=generator"],
        lambda module, images: module.model.encode(images).mean,
    ),
    "encdiff": (["experiment=ddl/fig9"], lambda module, images: module.encoder(2 * images - 1)),
    "encdiff's autoencoder": (
        ["experiment=ddl/fig9", "method.training=autoencoder"],
        lambda module, images: module.autoencoder.encode(2 * images - 1).latents,
    ),
}


@pytest.mark.parametrize("name", IMAGES)
@torch.no_grad()
def test_images_have_the_codes_that_the_networks_give_them(name):
    overrides, coded = IMAGES[name]
    module = module_of(*overrides)
    assert len(module.input_shape) == 3
    images = samples(module, 4)
    codes = module.transform(images, {})
    assert len(codes) == 4
    assert torch.equal(codes, coded(module, images))
    torch.testing.assert_close(module.transform(images[2:3], {})[0], codes[2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["topk", "batchtopk", "jsae"])
@torch.no_grad()
def test_tokens_have_the_active_features_of_both_dictionaries(kind):
    module = module_of("experiment=ddl/table3", f"method.kind={kind}")
    tokens = samples(module, 6)
    codes = module.transform(tokens, {})
    settings = module.settings
    assert codes.shape == (6, 2, settings.features)
    active = (codes > 0).sum(dim=2)
    assert (codes >= 0).all()
    assert (active.sum(dim=0) <= 6 * settings.k).all()
    if kind != "batchtopk":
        assert (active <= settings.k).all()
        torch.testing.assert_close(module.transform(tokens[3:4], {})[0], codes[3])
    for number, part in enumerate(("input", "output")):
        network, seen = module.network(part), module.seen(tokens[:, number])
        rebuilt = codes[:, number] @ network.decoder + network.decoder_bias
        torch.testing.assert_close(rebuilt, network(seen.values), rtol=1e-4, atol=1e-5)


def test_the_two_stage_estimator_rotates_as_its_tests_did():
    module = module_of("experiment=tbr/fig4", "seeds=[0]", "method.estimator=two_stage")
    inputs, width = samples(module), module.method.latents
    turned = torch.eye(width).flip(0)[None]
    with torch.no_grad():
        latents = module.transform(inputs, {"rotation": turned.numpy()})
        assert torch.equal(latents[0], module.model.encode(inputs[None])[0].flip(1))
        with pytest.raises(InputError, match="has not saved its rotation"):
            module.transform(inputs, {})


def test_the_readme_lists_the_methods_that_have_a_transform():
    root = Path(__file__).resolve().parents[2]
    section = (root / "README.md").read_text().split("## Take results along")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    modules = (root / "src" / "sparseid" / "methods").glob("*/module.py")
    have = {path.parent.name for path in modules if "def transform(" in path.read_text()}
    assert have == {name for row in rows for name in re.findall(r"`(\w+)`", row)}
