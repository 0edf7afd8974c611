import dataclasses

import pytest
import yaml

from sparseid.config.compose import compose
from sparseid.config.identity import run_hash
from sparseid.config.stored import load_run_config
from sparseid.errors import ConfigError


@pytest.fixture
def values():
    return dataclasses.asdict(compose(["scale=smoke", "seed=3"]))


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "config.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return write


def message(path):
    with pytest.raises(ConfigError) as caught:
        load_run_config(path)
    assert f"from: {path}" in str(caught.value)
    return str(caught.value)


def test_round_trip(values, write):
    run = compose(["scale=smoke", "seed=3"])
    path = write(values)
    assert load_run_config(path) == load_run_config(path.parent) == run
    assert run_hash(load_run_config(path)) == run_hash(run)


def test_other_schema_version(values, write):
    text = message(write(values | {"schema": 0}))
    assert "schema version 0; this code reads version 1" in text
    assert "environment.json" in text
    del values["schema"]
    assert "schema version None" in message(write(values))


def test_unknown_key(values, write):
    values["method"]["encoder"]["widht"] = 3
    text = message(write(values))
    assert "unknown key method.encoder.widht" in text
    assert "did you mean: method.encoder.width" in text


def test_wrong_type_and_unknown_method(values, write):
    assert "seed" in message(write(values | {"seed": "three"}))
    assert "method can be: ddl, disco, encdiff, factor_vae, gin, regcl" in message(
        write(values | {"method": {"name": "sparlin"}})
    )
    assert "method.name is None" in message(write(values | {"method": 3}))


@pytest.mark.parametrize("content", ["", "- 1", "a: [", "\x00"])
def test_unreadable_file(write, content):
    message(write(content))


def test_no_file(tmp_path):
    message(tmp_path / "no.yaml")
