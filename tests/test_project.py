"""The project's files, in a checkout and in an installed package."""

import importlib.util
import shutil
from pathlib import Path

from sparseid import project
from sparseid.data.paths import data_folder
from sparseid.extensions import packages

ROOT = Path(__file__).resolve().parents[1]


def test_a_checkout_has_its_files_beside_the_package():
    assert project.CHECKOUT == ROOT
    assert project.CONFIGS == ROOT / "configs"
    assert project.SAMPLES == ROOT / "data" / "samples"
    assert packages()[0].configs == ROOT / "configs"


def test_an_installed_package_holds_its_files(tmp_path):
    package = tmp_path / "site-packages" / "sparseid"
    (package / "configs").mkdir(parents=True)
    copy = shutil.copy(ROOT / "src" / "sparseid" / "project.py", package)
    spec = importlib.util.spec_from_file_location("installed_project", copy)
    installed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(installed)
    assert installed.CHECKOUT is None
    assert package / "configs" == installed.CONFIGS


def test_without_a_checkout_data_go_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARSEID_DATA", raising=False)
    monkeypatch.setattr("sparseid.data.paths.CHECKOUT", None)
    monkeypatch.chdir(tmp_path)
    assert data_folder() == tmp_path / "data"
