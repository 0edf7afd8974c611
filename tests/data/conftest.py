"""Settings of the latent walk as ``configs/data/latent_walk.yaml`` has them, but small."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sparseid.data.arrays.settings import ArraysSettings
from sparseid.data.latent_walk.settings import LatentWalkSettings

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "data"
SMALL = {"latents": 5, "samples": 400, "conditioning_draws": 50, "attribution_samples": 30}


def settings_of(name, schema, changes):
    stored = OmegaConf.load(CONFIGS / f"{name}.yaml")
    del stored["defaults"]
    changed = OmegaConf.from_dotlist([f"{key}={value}" for key, value in changes.items()])
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(schema), stored, changed))


@pytest.fixture
def walk_config():
    """Return a function that makes settings: ``walk_config(samples=100, **{"sampling.time_offset": 3})``."""
    return lambda **changes: settings_of("latent_walk", LatentWalkSettings, SMALL | changes)


@pytest.fixture
def arrays_config():
    """Return a function that makes settings of a user's own arrays."""
    return lambda **changes: settings_of("arrays", ArraysSettings, {"attribution_samples": 30} | changes)
