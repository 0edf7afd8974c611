"""Masked mixtures in a run: impossible settings, row keys, identity, absent files."""

import subprocess
import sys

import pytest
from omegaconf import OmegaConf

from sparseid.config.components import settings_class
from sparseid.config.identity import row_keys, run_hash
from sparseid.config.schema import RunConfig
from sparseid.config.validate import missing_files, problems
from sparseid.project import CONFIGS
from sparseid.settings import TrainerSettings


def settings(group, name, **changes):
    stored = OmegaConf.load(CONFIGS / group / f"{name}.yaml")
    del stored["defaults"]
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(settings_class(group, name)), stored, changes))


def run(method=None, **changes):
    chosen = {"method": method or settings("method", "ddl"), "data": settings("data", "mlp_mixture", **changes)}
    trainer = TrainerSettings(max_samples=10_000, batch_size=256)
    return RunConfig(experiment="x", scale="smoke", paper="ddl", trainer=trainer, **chosen)


def test_what_the_yaml_says_can_be_run():
    assert problems(run()) == []
    assert missing_files(run()) == []


def test_the_data_set_is_asked_what_it_cannot_be():
    (problem,) = problems(run(mask="groups", groups="12-12"))
    assert problem.keys == ("data.groups",)
    assert "no observation reads z3" in problem.text


def test_other_methods_are_refused():
    prior = {"lambda0": 10.0, "lambda1": 1.0}
    sparse_vae = settings("method", "sparse_vae", latents=3, hidden=8, lr=0.01, prior=prior)
    (problem,) = problems(run(sparse_vae))
    assert problem.keys == ("method.name", "data.name")
    assert "mlp_mixture" in problem.text


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({}, {"structure": "diverse", "mask": "circulant2", "m": 6}),
        ({"band": 3}, {"structure": "dense", "mask": "circulant3", "m": 6}),
        ({"mask": "dense", "outputs_per_row": 1}, {"structure": "dense", "mask": "dense", "m": 3}),
        ({"mask": "random", "latents": 5}, {"dim": 5, "structure": "diverse", "mask": "random", "m": 10}),
        ({"mask": "dense_minus_edge"}, {"structure": "other", "mask": "dense_minus_edge", "m": 6}),
        (
            {"mask": "groups", "groups": "12-23", "rho": 0.8},
            {"structure": "other", "mask": "groups", "groups": "12-23", "m": 6, "rho": 0.8},
        ),
        ({"noise": 0.1}, {"structure": "diverse", "mask": "circulant2", "m": 6, "noise": 0.1}),
        ({"mask": "/some/where/mine.csv"}, {"structure": "other", "mask": "mine"}),
    ],
)
def test_rows_have_the_keys_of_the_tables(changes, keys):
    found = row_keys(run(**changes))
    expected = {"domain": "mlpmixture", "dim": 3, "noise": 0.0, "rho": 0.0} | keys
    assert {key: value for key, value in found.items() if key not in ("method", "alpha", "penalty")} == expected


def test_a_mask_counts_by_its_content_and_is_asked_for_where_it_is_not(tmp_path):
    place, other = tmp_path / "mask.csv", tmp_path / "other.csv"
    wanted = run(mask=str(place))
    assert problems(wanted) == []
    (problem,) = missing_files(wanted)
    assert problem.keys == ("data.mask",)
    for path in (place, other):
        path.write_text("1,0,0\n0,1,0\n0,0,1\n")
    assert missing_files(wanted) == []
    same = run_hash(wanted)
    assert run_hash(run(mask=str(other))) == same
    place.write_text("1,0,0\n1,1,0\n0,0,1\n")
    assert run_hash(wanted) != same


def test_checking_settings_imports_no_torch():
    script = (
        "import sys; from sparseid.settings import settings_errors\n"
        "from sparseid.data.mlp_mixture.settings import MLPMixtureSettings\n"
        "sizes = dict(latents=3, outputs_per_row=2, samples=100, test_samples=100, hidden=8, layers=2)\n"
        "config = MLPMixtureSettings(**sizes, slope=0.2, gain=1.0, bias_std=0.3)\n"
        "assert not list(settings_errors(config, 'data.', None))\n"
        "print(sorted({'torch', 'pandas', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
