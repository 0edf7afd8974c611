"""Provenance of a run."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy
import sklearn

from sparseid.training import environment
from sparseid.training.environment import describe

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_version_of_every_package_that_is_asked_for_is_written():
    versions = describe(0, "cpu")["packages"]
    asked = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    assert {re.split(r"[^\w.-]", line)[0] for line in asked} <= set(versions)
    assert (versions["numpy"], versions["scikit-learn"]) == (numpy.__version__, sklearn.__version__)
    assert "not installed" not in versions.values()


def test_the_versions_of_packages_for_single_methods_are_written_if_they_are_installed(monkeypatch):
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    names = {re.split(r"[^\w.-]", line)[0] for extra in ("sae", "diffusion") for line in extras[extra]}
    known = dict.fromkeys([*names, "numpy"], "1.2") | {"pytest": "9"}
    monkeypatch.setattr(environment, "version", lambda name: known.get(name, "0"))
    assert dict.fromkeys(names, "1.2").items() <= describe(0, "cpu")["packages"].items()
    assert "pytest" not in environment.packages()

    def missing(name):
        raise PackageNotFoundError

    monkeypatch.setattr(environment, "version", missing)
    assert not names & set(environment.packages())


def test_devices_of_all_starts_are_listed_once_for_each_change():
    first = describe(0, "2 x cpu")
    assert (first["device"], first["devices"]) == ("2 x cpu", ["2 x cpu"])
    again = describe(0, "2 x cpu", first)
    assert again["devices"] == ["2 x cpu"]
    moved = describe(0, "cpu", again)
    assert (moved["device"], moved["devices"]) == ("2 x cpu then cpu", ["2 x cpu", "cpu"])
    assert describe(0, "2 x cpu", moved)["device"] == "2 x cpu then cpu then 2 x cpu"
    assert describe(0, "cpu", {"device": "NVIDIA H200"})["devices"] == ["NVIDIA H200", "cpu"]  # of an older version
