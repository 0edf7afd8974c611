"""Small runs of EncDiff on random images, composed of the method's own file."""

import sys
from functools import partial
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.parents import parent_run
from sparseid.config.schema import RunConfig
from sparseid.methods.encdiff.settings import EncDiffSettings
from sparseid.settings import TrainerSettings
from sparseid.training.run import execute

sys.path.insert(0, str(Path(__file__).parents[1] / "factor_vae"))  # its fake_images; importlib mode knows no siblings
METHOD = Path(__file__).resolve().parents[3] / "configs" / "method" / "encdiff.yaml"
SCORES = {"train_votes": 40, "eval_votes": 20, "vote_batch": 8, "variance_samples": 50, "test_images": 40}
NARROW = {"width": 4, "groups": 2, "blocks": 1}
SMALL = {
    "units": 3,
    "encoder_width": 4,
    "encoder_layers": 3,
    "token_hidden": [4],
    "token_size": 4,
    "lr": 0.001,
    "warmup_steps": 2,
    "autoencoder": NARROW | {"samples": 32, "batch_size": 8, "codes": 16, "adversarial": 0.0, "discriminator_width": 4},
    "denoiser": NARROW | {"multipliers": [1, 2], "attention": [True, False], "heads": 2, "steps": 20},
    "swaps": {"steps": 3, "images": 3, "batches": 2, "reader_steps": 3, "reader_width": 4},
    "scores": SCORES | {"dci_train": 30, "dci_test": 20},
}


def composed(outputs: Path, *changes: str) -> RunConfig:
    """Return a run of 10 steps, with changes like method.alpha=0.1."""
    import fake_images

    published = {k: v for k, v in yaml.safe_load(METHOD.read_text()).items() if k != "defaults"}
    groups = {
        "method": OmegaConf.structured(EncDiffSettings),
        "data": OmegaConf.structured(fake_images.FakeImagesSettings),
        "trainer": OmegaConf.structured(TrainerSettings),
    }
    trainer = {"max_samples": 10 * 8, "batch_size": 8, "threads": 1, "accelerator": "cpu"}
    tree = OmegaConf.merge(groups, {"method": published, "trainer": trainer, "seed": 0}, {"method": SMALL})
    tree = OmegaConf.merge(tree, OmegaConf.from_dotlist(list(changes)))
    parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
    return RunConfig("ddl/images", "smoke", "ddl", seed=tree.seed, outputs=str(outputs), **parts)


@pytest.fixture
def config(tmp_path):
    """Return a small run with changes, with a folder of this test's."""
    return partial(composed, tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folders of a finished small run and of its autoencoder's."""
    run = composed(tmp_path_factory.mktemp("finished"))
    return execute(parent_run(run)), execute(run)


@pytest.fixture
def with_autoencoder():
    """Train the autoencoder that a run starts from, and return the run."""

    def trained(run: RunConfig) -> RunConfig:
        execute(parent_run(run))
        return run

    return trained
