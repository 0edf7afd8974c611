"""Data sets and methods are found by their folders."""

import dataclasses
import sys

import pytest

from sparseid.config import components
from sparseid.config.components import FOLDERS, component_names, settings_class, settings_classes
from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.extensions import packages
from sparseid.settings import DataSettings

SOUNDS = '''
from dataclasses import dataclass
from sparseid.settings import DataSettings, setting

@dataclass
class SoundsSettings(DataSettings):
    """Sounds."""
    name: str = "sounds"
    length: int = setting("Length of a sound.", default=3, at_least=1)
    loads = "more_parts.data.sounds.datamodule:SoundsData"
    interface = "environments"
'''


@pytest.fixture
def extension(tmp_path, monkeypatch):
    """Return a function that writes a data set into a package of its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(tmp_path / "more_parts"))
    packages.cache_clear()

    def write(name, text):
        (tmp_path / "more_parts" / "data" / name).mkdir(parents=True)
        (tmp_path / "more_parts" / "data" / name / "settings.py").write_text(text)

    yield write
    packages.cache_clear()
    components._class.cache_clear()
    for module in [name for name in sys.modules if name.partition(".")[0] == "more_parts"]:
        del sys.modules[module]


@pytest.mark.parametrize("group", FOLDERS)
def test_every_field_of_every_component_is_documented(group):
    for name, settings in settings_classes(group).items():
        assert settings.__doc__
        for field in dataclasses.fields(settings):
            assert field.name == "name" or field.metadata["text"].endswith("."), f"{group}={name}: {field.name}"


def test_names_are_those_of_the_folders():
    names = ["ddl", "disco", "encdiff", "factor_vae", "gin", "regcl", "sae", "sparling", "sparse_vae", "tbr"]
    assert component_names("method") == names
    assert settings_class("data", "zeisel").__name__ == "ZeiselSettings"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="did you mean: zeisel"):
        settings_class("data", "zeisl")


def test_a_data_set_of_another_package_needs_no_list(extension):
    extension("sounds", SOUNDS)
    assert "sounds" in component_names("data")
    sounds = settings_class("data", "sounds")
    assert issubclass(sounds, DataSettings)
    run = compose(["experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", "data.S=1"])
    assert dataclasses.replace(run, data=sounds()).data.row_keys() == {"domain": "sounds"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("sounds", "raise ValueError('no luck')", "cannot be imported: ValueError: no luck"),
        ("sounds", "", "settings.py: define exactly one subclass of DataSettings"),
        ("smells", SOUNDS, "needs the field name: str = 'smells'"),
    ],
)
def test_what_cannot_be_used_is_named(extension, name, text, message):
    extension(name, text)
    with pytest.raises(InputError, match=message):
        settings_class("data", name)


def test_two_components_of_one_name_are_refused(extension):
    extension("zeisel", SOUNDS)
    with pytest.raises(InputError, match=r"two data sets are called zeisel: sparseid\S* and more_parts.data.zeisel"):
        component_names("data")
