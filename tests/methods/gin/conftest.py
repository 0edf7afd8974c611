"""Small runs of the flow on silhouettes, composed of the method's own file."""

from functools import partial
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.fashion_mnist.settings import FashionMNISTSettings
from sparseid.methods.gin.settings import GINSettings
from sparseid.settings import TrainerSettings

METHOD = Path(__file__).resolve().parents[3] / "configs" / "method" / "gin.yaml"
SMALL = {
    "widths": [4, 4],
    "blocks": 1,
    "hidden": 16,
    "last_blocks": 1,
    "lr": 0.003,
    "traversed": 3,
    "fitted_images": 40,
    "volume_images": 1,
}


def composed(outputs: Path, *changes: str) -> RunConfig:
    """Return a run of 12 steps, with changes like method.alpha=0.1."""
    published = {k: v for k, v in yaml.safe_load(METHOD.read_text()).items() if k != "defaults"}
    groups = {
        "method": OmegaConf.structured(GINSettings),
        "data": OmegaConf.structured(FashionMNISTSettings),
        "trainer": OmegaConf.structured(TrainerSettings),
    }
    trainer = {"max_samples": 12 * 16, "batch_size": 16, "threads": 1, "accelerator": "cpu"}
    values = {"method": published | SMALL, "data": {"images": 48}, "trainer": trainer, "seed": 0}
    tree = OmegaConf.merge(groups, values, OmegaConf.from_dotlist(list(changes)))
    parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
    return RunConfig("ddl/flow", "smoke", "ddl", seed=tree.seed, outputs=str(outputs), **parts)


@pytest.fixture
def config(tmp_path):
    """Return a small run with changes, with a folder of this test's."""
    return partial(composed, tmp_path)
