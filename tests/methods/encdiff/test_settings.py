import importlib.util

import pytest

from sparseid.settings import settings_errors


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("method.encoder_layers=6", "images of 32 pixels cannot be halved 6 times: lower or shorten method.encoder_"),
        ("method.autoencoder.multipliers=[1,1,1,1,1,1,1]", "shorten method.autoencoder.multipliers"),
        ("method.denoiser.multipliers=[1,1,1,1,1]", "method.denoiser.attention needs true or false for each"),
        ("method.autoencoder.multipliers=[]", "method.autoencoder.multipliers needs a positive number"),
        ("method.denoiser.groups=3", "4 channels cannot be divided into 3 groups: change one of them"),
        ("method.denoiser.heads=3", "method.denoiser.heads must divide the channels of each level"),
        ("method.denoiser.beta_start=0.1", "method.denoiser.beta_start must not exceed method.denoiser.beta_end"),
        ("method.token_hidden=[]", "method.token_hidden needs a positive number for each layer"),
        ("method.swaps.steps=20", "method.swaps.steps must be below 20"),
        ("method.autoencoder.samples=4", "raise method.autoencoder.samples"),
        ("method.alpha=0.1", "method.alpha has no effect without a penalty"),
        ("method.alpha=-1", "method.alpha must be at least 0: a negative weight would reward dense dependencies"),
        ("method.coordinates=4", "there are 3 units: method.coordinates must be between 1 and 3"),
        ("trainer.batch_size=1", "trainer.batch_size must be at least 2 per device"),
        ("trainer.precision=bf16-mixed", "set trainer.precision=32"),
        ("method.penalty=orojar", "method.penalty"),
        ("method.training=vq", "method.training"),
    ],
)
def test_settings_that_do_not_fit_are_refused(config, change, text):
    run = config(change)
    assert any(text in error.text for error in settings_errors(run.method, "method.", run))


def test_the_autoencoder_has_no_penalty(config):
    run = config("method.training=autoencoder", "method.penalty=latent", "method.alpha=1")
    assert "the autoencoder has no penalty" in settings_errors(run.method, "method.", run)[0].text


def test_without_diffusers_the_remedy_is_named(config, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr("sparseid.optional.find_spec", lambda name: None if name == "diffusers" else found(name))
    run = config()
    assert (
        "the package diffusers is not installed: pip install 'sparseid[diffusion]'"
        in settings_errors(run.method, "method.", run)[0].text
    )


def test_the_published_sizes_are_accepted(config):
    sizes = "method.denoiser.multipliers=[1,2,4,4]", "method.denoiser.attention=[true,true,true,false]"
    run = config(
        "method.encoder_layers=4", "data.size=64", "method.denoiser.width=64", "method.denoiser.heads=8", *sizes
    )
    assert settings_errors(run.method, "method.", run) == []


def test_all_penalties_of_a_seed_share_their_autoencoder(config):
    from sparseid.config.identity import run_directory
    from sparseid.config.parents import parent_run

    runs = [config(), config("method.penalty=latent", "method.alpha=1"), config("trainer.max_samples=640")]
    assert len({run_directory(parent_run(run)) for run in runs}) == 1
    assert parent_run(parent_run(runs[0])) is None
    assert parent_run(runs[0]).trainer.max_samples == 32
