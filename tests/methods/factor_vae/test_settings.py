import pytest

from sparseid.settings import settings_errors


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("method.widths=[4,4,8,8,8,8]", "images of 32 pixels cannot be halved 6 times: give fewer method.widths"),
        ("method.widths=[4,0]", "method.widths needs a positive number for each convolution"),
        ("method.kernels=[4,4,2]", "method.kernels needs 2 or 4 for each of method.widths"),
        ("method.kernels=[4,4,2,3]", "method.kernels needs 2 or 4 for each of method.widths"),
        ("method.alpha=0.1", "method.alpha has no effect without a penalty"),
        ("method.coordinates=5", "there are 4 latents: method.coordinates must be between 1 and 4"),
        ("method.alpha=-1", "method.alpha must be at least 0: a negative weight would reward dense dependencies"),
        ("trainer.batch_size=1", "trainer.batch_size must be at least 2 per device"),
        ("trainer.precision=bf16-mixed", "set trainer.precision=32"),
        ("method.penalty=hessian", "hessian"),
    ],
)
def test_settings_that_do_not_fit_are_refused(config, change, text):
    run = config(change)
    assert any(text in error.text for error in settings_errors(run.method, "method.", run))


def test_the_published_settings_are_accepted(config):
    run = config("method.widths=[32,32,64,64]", "data.size=64")
    assert settings_errors(run.method, "method.", run) == []
