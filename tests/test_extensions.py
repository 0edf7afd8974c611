"""Where extensions are looked for."""

import sys

import pytest

from sparseid.errors import InputError
from sparseid.extensions import packages


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    packages.cache_clear()
    yield
    packages.cache_clear()


def _package(folder, name="with_sounds"):
    (folder / name / "data" / "sounds").mkdir(parents=True)
    (folder / name / "data" / "sounds" / "settings.py").touch()
    return folder / name


def test_ours_comes_first_and_knows_its_parts():
    ours = packages()[0]
    assert ours.package == "sparseid"
    assert (ours.configs / "config.yaml").is_file()
    assert ours.parts("data", "settings.py")["zeisel"] == "sparseid.data.zeisel"


def test_a_folder_named_by_the_variable_is_found(tmp_path, monkeypatch):
    folder = _package(tmp_path)
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folder))
    found = packages()[-1]
    assert (found.package, found.folder, found.configs) == ("with_sounds", folder, folder / "configs")
    assert found.parts("data", "settings.py") == {"sounds": "with_sounds.data.sounds"}


def test_an_installed_package_is_found_by_its_entry_point(tmp_path, monkeypatch):
    folder = _package(tmp_path, "with_smells")
    info = tmp_path / "with_smells-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: with-smells\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[sparseid.extensions]\nsmells = with_smells\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert packages()[-1].folder == folder


@pytest.mark.parametrize(
    ("value", "message"), [("/no/such/folder", "which is not a folder"), ("{broken}", "cannot be imported: no luck")]
)
def test_what_cannot_be_used_is_named(tmp_path, monkeypatch, value, message):
    broken = _package(tmp_path, "broken_extension")
    (broken / "__init__.py").write_text("raise RuntimeError('no luck')")
    monkeypatch.setenv("SPARSEID_EXTENSIONS", value.format(broken=broken))
    with pytest.raises(InputError, match=message):
        packages()
