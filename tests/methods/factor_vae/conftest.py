"""Small runs of FactorVAE on random images, composed of the method's own file."""

import sys
from functools import partial
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.methods.factor_vae.settings import FactorVAESettings
from sparseid.settings import TrainerSettings
from sparseid.training.run import execute

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode knows no siblings
METHOD = Path(__file__).resolve().parents[3] / "configs" / "method" / "factor_vae.yaml"
SCORES = {"train_votes": 40, "eval_votes": 20, "vote_batch": 8, "variance_samples": 50, "test_images": 40}
SMALL = {
    "latents": 4,
    "widths": [4, 4, 8, 8],
    "hidden": 16,
    "discriminator_hidden": 16,
    "discriminator_layers": 2,
    "lr": 0.001,
    "scores": SCORES | {"dci_train": 30, "dci_test": 20},
}


def composed(outputs: Path, *changes: str) -> RunConfig:
    """Return a run of 25 steps, with changes like method.alpha=0.1."""
    import fake_images

    published = {k: v for k, v in yaml.safe_load(METHOD.read_text()).items() if k != "defaults"}
    groups = {
        "method": OmegaConf.structured(FactorVAESettings),
        "data": OmegaConf.structured(fake_images.FakeImagesSettings),
        "trainer": OmegaConf.structured(TrainerSettings),
    }
    trainer = {"max_samples": 25 * 8, "batch_size": 8, "threads": 1, "accelerator": "cpu"}
    values = {"method": published | SMALL, "trainer": trainer, "seed": 0}
    tree = OmegaConf.merge(groups, values, OmegaConf.from_dotlist(list(changes)))
    parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
    return RunConfig("ddl/images", "smoke", "ddl", seed=tree.seed, outputs=str(outputs), **parts)


@pytest.fixture
def config(tmp_path):
    """Return a small run with changes, with a folder of this test's."""
    return partial(composed, tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a finished small run."""
    return execute(composed(tmp_path_factory.mktemp("finished")))
