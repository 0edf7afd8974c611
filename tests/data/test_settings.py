"""The Sparse VAE's data sets in a run: impossible settings, row keys, identity, absent files."""

import subprocess
import sys

import pytest
from omegaconf import OmegaConf

from sparseid.config.components import settings_class
from sparseid.config.identity import row_keys, run_hash, run_name
from sparseid.config.schema import RunConfig
from sparseid.config.validate import missing_files, problems
from sparseid.project import CONFIGS
from sparseid.settings import TrainerSettings, settings_errors

NAMES = ("seven_features", "movielens", "peerread", "peerread_shift", "zeisel")
PRIOR = {"prior.lambda0": 10.0, "prior.lambda1": 1.0}


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))


def settings(group, name, **changes):
    stored = OmegaConf.load(CONFIGS / group / f"{name}.yaml")
    del stored["defaults"]
    changed = OmegaConf.from_dotlist([f"{key}={value}" for key, value in changes.items()])
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(settings_class(group, name)), stored, changed))


def run(name, **changes):
    trainer = TrainerSettings(max_samples=10000, batch_size=100)
    parts = {"experiment": "x", "scale": "smoke", "paper": "sparse_vae", "trainer": trainer}
    method = settings("method", "sparse_vae", **{"latents": 5, "hidden": 50, "lr": 0.01} | PRIOR)
    return RunConfig(method=method, data=settings("data", name, **changes), **parts)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_yaml_says_can_be_run_without_any_file(name):
    assert problems(run(name)) == []
    assert missing_files(run(name)) == []


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("seven_features", {"rho": 1.5}, "data.rho"),
        ("movielens", {"source": "netflix"}, "data.source"),
        ("peerread", {"corpus.words": 1}, "data.corpus.words"),
        ("peerread_shift", {"topics": 3}, "data.topics"),
        ("zeisel", {"genes": 0}, "data.genes"),
    ],
)
def test_a_data_set_is_asked_what_it_cannot_be(name, changes, key):
    assert [problem.keys[0] for problem in problems(run(name, **changes))] == [key]


@pytest.mark.parametrize(
    ("name", "changes", "meant"),
    [
        ("movielens", {"source": "ml25m"}, "ml-25m"),
        ("zeisel", {"source": "orginal"}, "original"),
        ("peerread", {"corpus.source": "foldre"}, "folder"),
        ("mlp_mixture", {"latents": 3, "mask": "circulent"}, "circulant"),
    ],
)
def test_a_mistyped_choice_is_answered_with_the_nearest(name, changes, meant):
    (problem,) = settings_errors(settings("data", name, **changes), "data.", None)
    assert problem[1].endswith(f"did you mean: {meant}")


@pytest.mark.parametrize(
    ("name", "changes", "keys"),
    [
        ("seven_features", {"rho": 0.4}, {"domain": "sevenfeatures", "rho": 0.4}),
        ("movielens", {"fold": 2}, {"dataset": "movielens", "fold": 2, "source": "latent_factors"}),
        ("movielens", {"source": "ml-25m"}, {"dataset": "movielens", "fold": 0, "source": "ml-25m"}),
        ("peerread", {}, {"dataset": "peerread", "fold": 0, "source": "scitldr"}),
        ("peerread", {"corpus.source": "folder"}, {"dataset": "peerread", "fold": 0, "source": "folder"}),
        (
            "peerread_shift",
            {"sigma_shift": 3.0, "corpus.source": "folder"},
            {"domain": "peerreadshift", "shift": "low", "sigma_shift": 3.0, "source": "folder"},
        ),
        (
            "peerread_shift",
            {"sigma_shift": 2.0},
            {"domain": "peerreadshift", "shift": "other", "sigma_shift": 2.0, "source": "scitldr"},
        ),
        ("zeisel", {}, {"domain": "zeisel", "source": "sample"}),
        ("zeisel", {"source": "original"}, {"domain": "zeisel", "source": "original"}),
    ],
)
def test_rows_have_the_keys_of_the_tables_and_say_what_was_read(name, changes, keys):
    found = row_keys(run(name, **changes))
    assert {key: value for key, value in found.items() if key != "method"} == keys


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("movielens", {"source": "ml-25m"}),
        ("peerread", {"corpus.source": "folder"}),
        ("peerread_shift", {"corpus.source": "folder"}),
        ("zeisel", {"source": "original"}),
    ],
)
def test_absent_files_stop_a_run_and_no_plan(name, changes):
    wanted = run(name, **changes)
    assert problems(wanted) == []
    assert run_name(wanted)
    (problem,) = missing_files(wanted)
    assert any("path" in key for key in problem.keys)


def test_a_run_is_known_by_the_content_of_its_files(tmp_path):
    place = tmp_path / "data" / "zeisel" / "expression_mRNA_17-Aug-2014.txt"
    place.parent.mkdir(parents=True)
    hashes = set()
    for content in ("one", "two"):
        place.write_text(content)
        hashes.add(run_hash(run("zeisel", source="original")))
    other = tmp_path / "elsewhere.txt"
    other.write_text("two")
    hashes.add(run_hash(run("zeisel", source="original", path=other)))
    assert len(hashes) == 2


def test_checking_settings_imports_no_torch():
    script = (
        "import sys; from sparseid.config import schema\n"
        "from sparseid.data.seven_features.settings import SevenFeaturesSettings\n"
        "from sparseid.data.movielens import settings\n"
        "from sparseid.settings import settings_errors\n"
        "import sparseid.data.peerread_shift.settings, sparseid.data.zeisel.settings\n"
        "assert not list(settings_errors(SevenFeaturesSettings(samples=100, noise_std=1), 'data.', None))\n"
        "print(sorted({'torch', 'pandas', 'sklearn', 'scipy', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
