"""Settings of Diverse Dictionary Learning: what is refused, and what a run is called."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from sparseid.config.identity import recipe_hash, row_keys, run_name
from sparseid.config.schema import RunConfig
from sparseid.config.validate import problems
from sparseid.data.mlp_mixture.settings import MLPMixtureSettings
from sparseid.data.seven_features.settings import SevenFeaturesSettings
from sparseid.methods.ddl.settings import DDLSettings
from sparseid.settings import TrainerSettings

CONFIGS = Path(__file__).resolve().parents[3] / "configs"


def published(group, name):
    return {
        key: value
        for key, value in yaml.safe_load((CONFIGS / group / f"{name}.yaml").read_text()).items()
        if key != "defaults"
    }


def run(**changes):
    trainer = TrainerSettings(max_samples=2560, batch_size=256, precision=changes.pop("precision", "32"))
    method = DDLSettings(**published("method", "ddl") | changes)
    data = MLPMixtureSettings(**published("data", "mlp_mixture"))
    return RunConfig("ddl/table4", "smoke", "ddl", seeds=[0, 1], method=method, data=data, trainer=trainer)


def test_the_published_recipe_can_be_run_as_a_stack():
    assert problems(run()) == []


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"alpha": -0.05}, "method.alpha", "must be at least 0: a negative weight would reward dense"),
        ({"alpha": float("nan")}, "method.alpha", "must be at least 0"),
        ({"alpha": float("inf")}, "method.alpha", "must be at least 0"),
        ({"beta": -1.0}, "method.beta", "must be at least 0"),
        ({"lr": 0.0}, "method.lr", "must be above 0"),
        ({"layers": 0}, "method.layers", "must be at least 1"),
        ({"hidden": 0}, "method.hidden", "must be at least 1"),
        ({"penalty": "l1"}, "method.penalty", "must be dependency or latent or orojar or hessian_penalty or none"),
        ({"schedule": "step"}, "method.schedule", "must be constant or cosine"),
        ({"jacobian": "hutchinson"}, "method.jacobian", "must be exact or coordinates"),
        ({"penalty": "none"}, "method.alpha", "set method.alpha=0, or choose a method.penalty"),
        ({"jacobian": "coordinates", "coordinates": 4}, "data.latents", "must be between 1 and 3"),
        ({"jacobian": "coordinates", "coordinates": 0}, "method.coordinates", "must be between 1 and 3"),
        ({"jacobian": "coordinates", "penalty": "orojar"}, "method.jacobian", "set method.jacobian=exact"),
        ({"precision": "bf16-mixed"}, "trainer.precision", "set trainer.precision=32"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(changes, key, text):
    (problem,) = problems(run(**changes))
    assert key in problem.keys
    assert text in problem.text


def test_only_masked_mixtures_have_a_structure_to_compare_with():
    other = dataclasses.replace(run(), data=SevenFeaturesSettings(samples=100, noise_std=1.0))
    assert "cannot be trained on seven_features" in problems(other)[0].text


@pytest.mark.parametrize(
    ("changes", "method"),
    [
        ({}, "ours"),
        ({"jacobian": "coordinates"}, "ours_coordinates"),
        ({"penalty": "orojar"}, "orojar"),
        ({"penalty": "hessian_penalty"}, "hessian_penalty"),
        ({"penalty": "latent"}, "latent"),
        ({"penalty": "none", "alpha": 0.0}, "none"),
    ],
)
def test_a_row_is_filed_under_the_paper_s_name_of_the_penalty(changes, method):
    keys = row_keys(run(**changes))
    assert keys["method"] == method
    assert keys["alpha"] == changes.get("alpha", 0.05)
    assert keys["dim"] == 3


def test_another_weight_is_another_recipe_and_is_in_the_name():
    light, heavy = run(alpha=0.01), run(alpha=0.03)
    assert recipe_hash(light) != recipe_hash(heavy)
    assert "alpha0.01" in run_name(light)
