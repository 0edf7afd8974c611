"""Small runs of DisCo on images of two factors, composed of the method's own file."""

from functools import partial
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.cars3d.settings import Cars3DSettings
from sparseid.methods.disco.settings import DisCoSettings
from sparseid.settings import TrainerSettings

METHOD = Path(__file__).resolve().parents[3] / "configs" / "method" / "disco.yaml"
SCORES = {"train_votes": 40, "eval_votes": 20, "vote_batch": 8, "variance_samples": 50, "test_images": 40}
SMALL = {
    "generator": {"latents": 5, "widths": [4, 4, 8], "hidden": 16, "samples": 128, "batch_size": 16},
    "directions": 4,
    "widths": [4, 4, 8],
    "hidden": 16,
    "dims": 6,
    "positives": 4,
    "negatives": 5,
    "shift_std": 2.0,
    "lr": 0.001,
    "scores": SCORES | {"dci_train": 30, "dci_test": 20, "validation_images": 8},
}


def composed(outputs: Path, *changes: str) -> RunConfig:
    """Return a run of 8 steps, with changes like method.alpha=0.1."""
    published = {k: v for k, v in yaml.safe_load(METHOD.read_text()).items() if k != "defaults"}
    groups = {
        "method": OmegaConf.structured(DisCoSettings),
        "data": OmegaConf.structured(Cars3DSettings),
        "trainer": OmegaConf.structured(TrainerSettings),
    }
    trainer = {"max_samples": 8 * 6, "batch_size": 6, "threads": 1, "accelerator": "cpu"}
    values = {"data": {"size": 32, "levels": [2, 2, 2]}, "trainer": trainer, "seed": 0}
    tree = OmegaConf.merge(
        groups, {"method": published}, {"method": SMALL}, values, OmegaConf.from_dotlist(list(changes))
    )
    parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
    return RunConfig("ddl/disco", "smoke", "ddl", seed=tree.seed, outputs=str(outputs), **parts)


@pytest.fixture
def config(tmp_path):
    """Return a small run with changes, with a folder of this test's."""
    return partial(composed, tmp_path)


@pytest.fixture(scope="module")
def with_generator(tmp_path_factory):
    """Return a function like `config` whose folder has a finished run of the generator."""
    from sparseid.config.parents import parent_run
    from sparseid.training.run import execute

    folder = tmp_path_factory.mktemp("generator")
    execute(parent_run(composed(folder)))
    return partial(composed, folder)
