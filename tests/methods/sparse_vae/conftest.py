"""Models of given sizes, and models with the weights of the authors' code."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.feature_matrix import FeatureData, Matrices
from sparseid.data.seven_features.datamodule import SevenFeaturesData
from sparseid.data.seven_features.settings import SevenFeaturesSettings
from sparseid.methods.sparse_vae.model import VAE, Given, SparseVAE
from sparseid.methods.sparse_vae.networks import Noise
from sparseid.methods.sparse_vae.settings import SparseVAESettings
from sparseid.methods.sparse_vae.vsc import VSC
from sparseid.settings import TrainerSettings
from sparseid.stacking.members import generators

PUBLISHED = Path(__file__).resolve().parents[3] / "configs" / "method" / "sparse_vae.yaml"
MODELS = {"sparse_vae": SparseVAE, "vae": VAE, "vsc": VSC}
NAMES = {
    "q_z.0": "encoder.trunk.0",
    "q_z.2": "encoder.trunk.2",
    "z_mean": "encoder.mean",
    "z_log_var": "encoder.log_variance",
    "z_log_gamma": "encoder.log_gamma",
    "generator.0": {"sparse_vae": "decoder.first", "vae": "decoder.0", "vsc": "decoder.0"},
    "generator.2": {"sparse_vae": "decoder.second", "vae": "decoder.2", "vsc": "decoder.2"},
    "generator.4": "decoder.4",
    "heads": "decoder.heads",
    "pseudo_selector": "pseudo_selector",
    "pseudo": "pseudo_inputs",
    "pseudo.0": "pseudo_inputs",
}
"""Layers of the authors' code -> ours; those in braces by model."""
PLAIN = {"W": "decoder.selector", "log_sigmas": "log_sigma", "p_star": "slab_probability", "thetas": "slab_share"}
"""Arrays stored without conversion."""


def method_config(**changes):
    """The published method with changes, nested ones as dictionaries."""
    values = yaml.safe_load(PUBLISHED.read_text())
    del values["defaults"]
    tree = OmegaConf.merge(OmegaConf.structured(SparseVAESettings), values, {"latents": 3, "hidden": 5}, changes)
    return OmegaConf.to_object(tree)


@pytest.fixture
def made():
    """Return a model of a stack of given seeds, by default of 7 Gaussian features, with changes to its settings."""

    def make(model, seeds=(0, 1), given=None, **changes):
        defaults = {"features": 7, "gaussian": True, "row_normalised": False, "batch_size": 4, "steps": 10}
        method = method_config(model=model, **changes)
        return MODELS[model](method, Given(**defaults | (given or {})), generators(seeds, "init"))

    return make


@pytest.fixture
def authors(made):
    """Return a model of one member with the arrays' parameters of a state, and a reader of arrays under our names."""

    def make(model, arrays, state="param", **given):
        features, latents = arrays[f"{state}/generator.0.weight"].shape[0], arrays[f"{state}/z_mean.weight"].shape[0]
        hidden = features
        features = arrays[f"{state}/q_z.0.weight"].shape[1]
        prior = {"lambda0": 10.0, "lambda1": 1.0}
        gaussian = bool(given.pop("gaussian"))
        sizes = {"features": features, "gaussian": gaussian, "row_normalised": not gaussian}
        module = made(
            model,
            seeds=[0],
            given={**sizes, "batch_size": int(arrays["B_config"]), **given},
            latents=latents,
            hidden=hidden,
            prior=prior,
        )
        own = dict(module.named_parameters()) | dict(module.named_buffers())
        for name, values in named(model, arrays, state).items():
            if name in own:
                own[name].data.copy_(values)
        module.sigma_scale.fill_(float(arrays["sigma_prior_scale"]))
        return module

    return make


def named(model, arrays, state):
    """Return the authors' arrays of a state under our names, in our layout, with a member axis."""
    found = {}
    for key, values in arrays.items():
        if not key.startswith(f"{state}/"):
            continue
        key = key.removeprefix(f"{state}/")
        if key in PLAIN:
            found[PLAIN[key]] = torch.from_numpy(values)[None]
            continue
        layer, kind = key.rsplit(".", 1)
        ours = NAMES[layer] if isinstance(NAMES[layer], str) else NAMES[layer][model]
        tensor = torch.from_numpy(values.T.copy())  # theirs is out x in
        found[f"{ours}.{kind}"] = tensor[None] if kind == "weight" else tensor[None, None]
    return found


@pytest.fixture
def under_our_names():
    return named


@pytest.fixture
def batch_of():
    """Return the inputs and the noise of arrays, rows `rows`."""

    def make(arrays, rows=slice(None)):
        part = lambda name: torch.from_numpy(arrays[name][rows])[None]  # noqa: E731
        uniform = part("uniform") if "uniform" in arrays else part("eps")
        return part("x"), Noise(part("eps"), uniform)

    return make


@pytest.fixture
def config(tmp_path):
    """Return a run of 20 steps on seven features of two seeds, with changes like method.lr=0.1."""

    def composed(*changes: str) -> RunConfig:
        data = yaml.safe_load((PUBLISHED.parents[1] / "data" / "seven_features.yaml").read_text())
        del data["defaults"]
        groups = {
            "method": OmegaConf.structured(SparseVAESettings),
            "data": OmegaConf.structured(SevenFeaturesSettings),
            "trainer": OmegaConf.structured(TrainerSettings),
        }
        method = OmegaConf.to_container(OmegaConf.structured(method_config(hidden=8)))
        trainer = {"max_samples": 640, "batch_size": 32, "threads": 1, "accelerator": "cpu"}
        values = {"method": method, "data": data | {"samples": 120}, "trainer": trainer, "seeds": [0, 1]}
        tree = OmegaConf.merge(groups, values, OmegaConf.from_dotlist(list(changes)))
        parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
        return RunConfig(
            "sparse_vae/test", "smoke", "sparse_vae", seeds=list(tree.seeds), outputs=str(tmp_path), **parts
        )

    return composed


@pytest.fixture
def other_data(monkeypatch):
    """Let runs see other data than the seven features: cells of three classes, or counts of words."""

    class Cells(FeatureData):
        likelihood, features, feature_names = "gaussian", 7, list("abcdefg")
        labels = np.repeat(["one", "two", "three"], 20)

        def make(self):
            rates = np.kron(np.eye(3, 7), np.ones((20, 1)))
            cells = np.random.default_rng(0).poisson(2 + 20 * rates).astype(np.float32)
            return Matrices(torch.from_numpy(cells)[None])

    class Words(FeatureData):
        likelihood, row_normalised, features = "multinomial", True, 7

        def make(self):
            counts = np.random.default_rng(0).poisson(0.8, size=(60, 7)).astype(np.float32)
            counts[3] = 0  # an empty document
            return Matrices(torch.from_numpy(counts[:40])[None], torch.from_numpy(counts[3:])[None])

    def use(kind):
        made = {"cells": Cells, "words": Words}[kind]
        items = {"cells": 60, "words": 57}[kind]
        make = lambda settings, run: made(run.seeds, run.batch_size, items)  # noqa: E731
        monkeypatch.setattr(SevenFeaturesData, "from_settings", make)

    return use
