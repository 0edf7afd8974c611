"""Provenance of a run."""

import tomllib
from pathlib import Path

import numpy
import sklearn

from sparseid.training.environment import describe

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_the_version_of_every_package_that_is_asked_for_is_written():
    versions = describe(0, "cpu")["packages"]
    asked = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    assert len(versions) == len(asked) + 1
    assert (versions["numpy"], versions["scikit-learn"]) == (numpy.__version__, sklearn.__version__)
    assert "not installed" not in versions.values()


def test_devices_of_all_starts_are_listed_once_for_each_change():
    first = describe(0, "2 x cpu")
    assert (first["device"], first["devices"]) == ("2 x cpu", ["2 x cpu"])
    again = describe(0, "2 x cpu", first)
    assert again["devices"] == ["2 x cpu"]
    moved = describe(0, "cpu", again)
    assert (moved["device"], moved["devices"]) == ("2 x cpu then cpu", ["2 x cpu", "cpu"])
    assert describe(0, "2 x cpu", moved)["device"] == "2 x cpu then cpu then 2 x cpu"
    assert describe(0, "cpu", {"device": "NVIDIA H200"})["devices"] == ["NVIDIA H200", "cpu"]  # of an older version
