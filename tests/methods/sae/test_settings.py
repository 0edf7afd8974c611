import pytest

from sparseid.settings import settings_errors


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("method.k=49", "a dictionary of method.features=48 has no 49 to activate: lower method.k"),
        ("method.jacobian_weight=1", "method.jacobian_weight is for method.kind=jsae"),
        ("method.jacobian_weight=-1", "method.jacobian_weight must be at least 0: a negative weight would reward"),
        ("trainer.precision=bf16-mixed", "set trainer.precision=32"),
        ("trainer.devices=2", "set trainer.devices=1"),
        ("method.kind=top", "topk"),
        ("method.clip=0", "method.clip must be above 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(config, change, text):
    run = config(change)
    assert any(text in error.text for error in settings_errors(run.method, "method.", run))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("data.tokens=15", "data.tokens=15 does not fill a sequence of data.context=16 tokens"),
        ("data.held_out=1", "data.held_out=1 does not fill a sequence of data.context=16 tokens"),
        ("data.tokens=31", "16 training tokens do not fill a batch: raise data.tokens or lower trainer.batch_size"),
        ("data.stored=int8", "float16"),
    ],
)
def test_data_that_do_not_fit_are_refused(config, change, text):
    run = config(change)
    assert any(text in error.text for error in settings_errors(run.data, "data.", run))


def test_settings_of_every_kind_are_accepted(config, of_kind):
    for changes in of_kind.values():
        run = config(*changes)
        assert settings_errors(run.method, "method.", run) == settings_errors(run.data, "data.", run) == []
