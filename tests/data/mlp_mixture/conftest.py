"""Settings of the mixture as ``configs/data/mlp_mixture.yaml`` has them, with fewer samples."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sparseid.data.mlp_mixture.settings import MLPMixtureSettings

CONFIG = Path(__file__).resolve().parents[3] / "configs" / "data" / "mlp_mixture.yaml"


@pytest.fixture
def mixture_config():
    """Return a function that makes settings: ``mixture_config(latents=4, mask="dense")``."""

    def make(**changes):
        stored = OmegaConf.load(CONFIG)
        del stored["defaults"]
        few = {"samples": 2000, "test_samples": 500}
        return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(MLPMixtureSettings), stored, few | changes))

    return make
