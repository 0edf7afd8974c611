import dataclasses
from types import SimpleNamespace

import pytest

from sparseid.config.schema import RunConfig
from sparseid.config.validate import problems
from sparseid.settings import EarlyStopSettings, MethodSettings, TrainerSettings, settings_errors


def batches_of(size):
    """The part of a run that the rules look at."""
    return SimpleNamespace(trainer=SimpleNamespace(batch_size=size, early_stop=EarlyStopSettings()))


def test_what_the_yaml_says_can_be(walk_config):
    config = walk_config(samples=100000, latents=9)
    assert list(settings_errors(config, "data.", batches_of(5000))) == []
    assert (config.sigma, config.box, config.dim_x1, config.dim_x2) == (0.1, 1.0, 25, 25)
    assert (config.mixing, config.n_square_layers, config.slope, config.boundary) == ("shared", 2, 0.2, "redraw")


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"setting": "c"}, "data.setting", "a or b"),
        ({"setting_b": "z3_fixed"}, "data.setting_b", "z1_fixed or z2_fixed"),
        ({"boundary": "wrap"}, "data.boundary", "redraw or reflect"),
        ({"mixing": "linear"}, "data.mixing", "shared or additive"),
        ({"latents": 2}, "data.latents", "at least 3"),
        ({"fixed_latents": 5}, "data.fixed_latents", "each of the two factors"),
        ({"fixed_latents": 0}, "data.fixed_latents", "at least 1"),
        ({"dim_x1": 1, "dim_x2": 3}, "data.dim_x1", "4 observed features cannot determine 5 latents"),
        ({"dim_x2": 1}, "data.dim_x2", "only x2 depends on it"),
        ({"n_square_layers": 0}, "data.n_square_layers", "at least 1"),
        ({"slope": -0.1}, "data.slope", "at least 0"),
        ({"sigma": 0}, "data.sigma", "not larger than the box"),
        ({"sigma": 1.1}, "data.box", "not larger than the box"),
        ({"sigma": "nan"}, "data.sigma", "not larger than the box"),
        ({"box": "inf"}, "data.box", "above 0"),
        ({"gain_x1": 0}, "data.gain_x1", "above 0"),
        ({"conditioning_draws": 0}, "data.conditioning_draws", "at least 1"),
        ({"conditioning_quantile": 1.5}, "data.conditioning_quantile", "between 0 and 1"),
        ({"held_out": 0}, "data.held_out", "strictly between"),
        ({"held_out": 0.001}, "data.held_out", "at least 2 samples must be held out"),
        ({"attribution_samples": 0}, "data.attribution_samples", "at least 1"),
        ({"sampling.label_positives": 0}, "data.sampling.label_positives", "at least 1"),
        ({"sampling.time_offset": 360}, "data.sampling.time_offset", "360 training samples"),
        ({"sampling.time_delta": 0}, "data.sampling.time_delta", "at least 1"),
        ({"samples": 110}, "trainer.batch_size", "99 training samples, less than one batch"),
        ({"samples": 0}, "data.samples", "at least 1"),
    ],
)
def test_what_cannot_be_is_named(walk_config, changes, key, text):
    found = list(settings_errors(walk_config(**changes), "data.", batches_of(100)))
    assert any(key in keys and text in said for keys, said in found), found


def test_a_run_is_checked(walk_config):
    trainer = TrainerSettings(max_samples=1000, batch_size=500)
    method = MethodSettings("any")  # without rules of its own
    method.interfaces = ("contrastive",)
    run = RunConfig(experiment="x", scale="smoke", paper="regcl", method=method, data=walk_config(), trainer=trainer)
    [problem] = problems(run)
    assert "360 training samples, less than one batch" in problem.text
    assert problems(dataclasses.replace(run, trainer=dataclasses.replace(trainer, batch_size=360))) == []


def test_sizes_of_factors(walk_config):
    def sizes(**changes):
        return [part.stop - part.start for part in walk_config(latents=9, **changes).factors]

    assert sizes() == [7, 2]
    assert sizes(setting="b") == [2, 7]
    assert sizes(setting="b", setting_b="z2_fixed") == [7, 2]
    assert sizes(setting_b="z2_fixed") == [7, 2]
    assert sizes(fixed_latents=3) == [6, 3]
