"""The search for extensions."""

import os
import sys
from importlib.metadata import EntryPoint

import pytest

from sparseid.errors import InputError
from sparseid.extensions import Extension, load, packages, parts


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
    ("value", "message"),
    [("/no/such/folder", "which is not a folder"), ("{broken}", "RuntimeError: no luck\\n  from: .*__init__.py:1")],
)
def test_what_cannot_be_used_is_named(tmp_path, monkeypatch, value, message):
    broken = _package(tmp_path, "broken_extension")
    (broken / "__init__.py").write_text("raise RuntimeError('no luck')")
    monkeypatch.setenv("SPARSEID_EXTENSIONS", value.format(broken=broken))
    with pytest.raises(InputError, match=message):
        packages()


def test_parts_of_all_packages_have_names_of_their_own(tmp_path, monkeypatch):
    folders = _package(tmp_path, "with_sounds"), _package(tmp_path, "with_more_sounds")
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folders[0]))
    found = parts("data", "settings.py")
    assert (found["zeisel"], found["sounds"]) == ("sparseid.data.zeisel", "with_sounds.data.sounds")
    packages.cache_clear()
    monkeypatch.setenv("SPARSEID_EXTENSIONS", os.pathsep.join(map(str, folders)))
    with pytest.raises(
        InputError, match=r"two of data are called sounds: with_sounds\S* and with_more_sounds(.|\n)*rename"
    ):
        parts("data", "settings.py")


def test_a_module_that_cannot_be_imported_is_named_with_its_line(tmp_path, monkeypatch):
    folder = _package(tmp_path, "with_an_error")
    (folder / "data/sounds/settings.py").write_text("\nimport no_such_module_of_sounds\n")
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folder))
    with pytest.raises(InputError, match=r"No module (.|\n)*settings.py:2\n.*remove the extension with_an_error \(SPA"):
        load("with_an_error.data.sounds.settings")
    with pytest.raises(ModuleNotFoundError):
        load("sparseid.no_such_module")


def test_two_extensions_of_one_name_are_refused(tmp_path, monkeypatch):
    folders = [_package(tmp_path / name, "with_twins") for name in ("a", "b")]
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folders[0]))
    monkeypatch.setattr(
        "sparseid.extensions._installed", lambda: iter([Extension("with_twins", folders[1], folders[1])])
    )
    with pytest.raises(InputError, match=r"two extensions are called with_twins.*\n  rename one of them"):
        packages()


def test_an_entry_point_that_is_a_module_is_refused(monkeypatch):
    point = EntryPoint("files", "tempfile", "sparseid.extensions")
    monkeypatch.setattr("sparseid.extensions.entry_points", lambda group: [point])
    with pytest.raises(InputError, match=r"tempfile .entry point files .* is a module: name a package"):
        packages()
