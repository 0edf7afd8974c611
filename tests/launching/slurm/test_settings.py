"""Mistyped settings of the launcher answer at once, with the nearest name."""

import pytest
from omegaconf import OmegaConf

from sparseid.config.compose import compose
from sparseid.config.sweep import plan
from sparseid.errors import ConfigError
from sparseid.launching.main import main
from sparseid.launching.slurm.settings import checked


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("hydra.launcher.partitionn=gpu", "hydra.launcher.partition"),
        ("hydra.launcher.timeout_min=soon", "whole number"),
        ("hydra/launcher=slurn", "did you mean: slurm"),
    ],
)
def test_hydra_refuses_what_the_schema_does_not_know(override, expected):
    with pytest.raises(ConfigError, match=expected):
        compose(["scale=smoke", "hydra/launcher=slurm", override])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"partitionn": "gpu"}, "did you mean: hydra.launcher.partition"),
        ({"max_array": 0}, "hydra.launcher.max_array is 0"),
        ({"max_in_flight": -1}, "hydra.launcher.max_in_flight is -1"),
        ({"additional_parameters": "mail-type=END"}, "not options of sbatch"),
    ],
)
def test_what_gets_past_hydra_is_refused_too(values, expected):
    with pytest.raises(ConfigError, match=expected):
        checked(values)


@pytest.mark.parametrize("plus", ["", "+"])
def test_other_options_of_sbatch_are_given_as_a_dictionary(plus):
    override = f"{plus}hydra.launcher.additional_parameters={{mail-type: END, nice: 5}}"
    tree = plan(["scale=smoke", "hydra/launcher=slurm", override]).tree
    given = OmegaConf.to_container(tree.hydra.launcher.additional_parameters)
    assert checked({"additional_parameters": given}).additional_parameters == {"mail-type": "END", "nice": 5}


def test_one_more_option_of_sbatch():
    tree = plan(["scale=smoke", "hydra/launcher=slurm", "+hydra.launcher.additional_parameters.nice=5"]).tree
    assert tree.hydra.launcher.additional_parameters == {"nice": 5}


def test_without_slurm_nothing_is_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["scale=smoke", "hydra/launcher=slurm", f"outputs={tmp_path}/outputs"]) == 2
    said = capsys.readouterr().err
    assert "sbatch is not found" in said
    assert "hydra/launcher=slurm" in said
    assert list((tmp_path / "outputs").iterdir()) == []
