"""The search for extensions."""

import os
import sys
from importlib.metadata import EntryPoint

import pytest

from sparseid.errors import InputError
from sparseid.extensions import Extension, load, load_object, packages, parts


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    packages.cache_clear()
    yield
    packages.cache_clear()
    for name in [name for name in sys.modules if name.startswith("with_")]:
        del sys.modules[name]


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
    [
        ("/no/such/folder,/other", f"which is not a folder\n.*several folders are separated by {os.pathsep!r}"),
        ("{broken}", "RuntimeError: no luck\\n  from: .*__init__.py:1"),
    ],
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
        InputError, match=r"two data sets are called sounds: with_sounds\S* and with_more_sounds(.|\n)*rename"
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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\ndef f(:\n", 2),
        ("from with_an_error import other", 3),  # of other.py
        ("import dataclasses\n\n@dataclasses.dataclass\nclass A:\n    b: list = []\n", 3),
        ("from sparseid.settings import setting\n\nsetting()\n", 3),
        ("import numpy as np\nnp.zeros(-1)\n", 2),
    ],
    ids=[
        "syntax",
        "syntax elsewhere",
        "raised in the standard library",
        "raised in this package",
        "raised in a library",
    ],
)
def test_the_line_named_is_the_users_own(tmp_path, monkeypatch, text, line):
    folder = _package(tmp_path, "with_an_error")
    (folder / "__init__.py").touch()
    (folder / "other.py").write_text("\n\n1 +\n")
    path = folder / "data/sounds/datamodule.py"
    path.write_text(text)
    named = folder / "other.py" if "other" in text else path
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folder))
    with pytest.raises(InputError) as caught:
        load_object("with_an_error.data.sounds.datamodule:Sounds", _settings_of("with_an_error"))
    assert f"\n  from: {named}:{line}\n  correct it, or remove the extension with_an_error (SPA" in str(caught.value)


def _settings_of(package):
    return type("Settings", (), {"__module__": f"{package}.data.sounds.settings"})


def test_what_settings_name_is_imported_or_said_to_be_missing(tmp_path, monkeypatch):
    folder = _package(tmp_path, "with_a_reader")
    path = folder / "data/sounds/datamodule.py"
    path.write_text("class Sounds: pass\n")
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folder))
    settings, place = _settings_of("with_a_reader"), "with_a_reader.data.sounds.datamodule"
    assert load_object(f"{place}:Sounds", settings).__name__ == "Sounds"
    assert load_object(place, settings).__name__ == place
    with pytest.raises(InputError, match=rf"defines no 'Noises'\n  from: {path}\n  .*settings names {place}:Noises"):
        load_object(f"{place}:Noises", settings)
    with pytest.raises(InputError, match=r"^with_a_raeder.x cannot be imported: ModuleNotFoundError.*\n  correct it"):
        load_object("with_a_raeder.x:Sounds", settings)
    with pytest.raises(ModuleNotFoundError):  # a bug of ours
        load_object("with_a_raeder.x:Sounds", _settings_of("sparseid"))


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
