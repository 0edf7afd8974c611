"""YAML of extensions, of ``hydra.searchpath`` and of ``--config-dir``: listed, composed and named in messages."""

import shutil
import sys
from pathlib import Path

import pytest

from sparseid.config.choices import choices, description, scales
from sparseid.config.compose import compose
from sparseid.config.search_path import CONFIGS, config_file, config_folders
from sparseid.config.sweep import plan
from sparseid.errors import ConfigError
from sparseid.extensions import packages
from sparseid.launching import launch
from sparseid.launching.main import main
from sparseid.launching.one_run import Outcome

QUICK = ["experiment=toys/quick", "scale=smoke"]


def write_presets(folder: Path) -> Path:
    """Write an experiment with one scale; return the folder of YAML files."""
    (folder / "experiment/toys").mkdir(parents=True)
    (folder / "experiment/at/toys").mkdir(parents=True)
    head = "# @package _global_\n"
    (folder / "experiment/toys/quick.yaml").write_text(f"{head}# DigitCircle, but quick\npaper: toys\n")
    smoke = (CONFIGS / "experiment/at/digitcircle.smoke.yaml").read_text().replace("width: 8", "width: 5")
    (folder / "experiment/at/toys/quick.smoke.yaml").write_text(smoke)
    return folder


@pytest.fixture
def presets(tmp_path):
    return write_presets(tmp_path / "presets")


@pytest.fixture
def extension(tmp_path, monkeypatch):
    """The YAML files of a named extension."""
    folder = write_presets(tmp_path / "toy_presets/configs")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SPARSEID_EXTENSIONS", str(folder.parent))
    packages.cache_clear()
    yield folder
    packages.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The same as an importable package that is no extension, for ``pkg://``."""
    folder = write_presets(tmp_path / "with_presets/configs")
    (folder / "__init__.py").touch()
    (folder.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in ("with_presets", "with_presets.configs"):
        sys.modules.pop(name, None)


def message(*overrides):
    with pytest.raises(ConfigError) as caught:
        plan(overrides)
    return str(caught.value)


def test_an_extension_is_listed_and_composed(extension):
    assert config_folders() == (CONFIGS, extension)
    assert "toys/quick" in choices("experiment")
    assert scales("toys/quick") == ["smoke"]
    assert description("experiment", "toys/quick") == "DigitCircle, but quick"
    run = compose(QUICK)
    assert (run.experiment, run.paper, run.method.encoder.width) == ("toys/quick", "toys", 5)
    assert [trial.run.seed for trial in plan([*QUICK, "seed=1,2"]).trials] == [1, 2]


def test_the_first_folder_that_has_a_file_counts(extension):
    shutil.copy(extension / "experiment/toys/quick.yaml", extension / "experiment/digitcircle.yaml")
    assert config_file("experiment/digitcircle", config_folders()).is_relative_to(CONFIGS)
    assert compose(["scale=smoke"]).paper == "sparling"
    assert choices("experiment").count("digitcircle") == 1


def test_messages_know_the_names_and_files_of_an_extension(extension):
    assert "did you mean: toys/quick" in message("experiment=toys/quik")
    assert "did you mean: experiment=toys/quick" in message("toys/quick")
    missing = message("experiment=toys/quick", "scale=paper")
    assert f"{extension}/experiment/at/toys/quick.paper.yaml is missing" in missing
    assert "scales of this experiment: smoke" in missing

    path = extension / "experiment/toys/quick.yaml"
    path.write_text(path.read_text() + "trainer: {max_sample: 3}\n")
    text = message(*QUICK)
    assert "did you mean: trainer.max_samples" in text
    assert f"from: {path}" in text


def test_a_setting_names_the_file_of_an_extension(extension):
    path = extension / "experiment/at/toys/quick.smoke.yaml"
    path.write_text(path.read_text().replace("max_digits: 2", "max_digits: 0"))
    assert f"data.max_digits = 0  ({path})" in message(*QUICK)


@pytest.mark.parametrize("element", ["{presets}", "file://{presets}", "pkg://with_presets.configs"])
def test_hydra_searchpath(presets, package, element):
    search = f"hydra.searchpath=[{element.format(presets=presets)}]"
    assert compose([*QUICK, search]).method.encoder.width == 5
    assert len(plan([*QUICK, search, "seed=1,2"]).trials) == 2
    assert "did you mean: toys/quick" in message("experiment=toys/quik", search)
    assert "toys/quick" not in choices("experiment")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("[file:///no/such/folder]", "file:///no/such/folder is not a folder"),
        ("[s3://bucket]", "s3://bucket is not a folder"),
        ("[pkg://no_such_package.configs]", "pkg://no_such_package.configs cannot be imported: No module"),
        ("[pkg://no_such_package]", "is not a package with an __init__.py"),
        ("folder", "must be a list of folders and packages"),
        ("[3]", "must be a list of folders and packages"),
    ],
)
def test_a_search_path_that_cannot_be_used(value, wanted):
    text = message(f"hydra.searchpath={value}")
    assert wanted in text
    assert "command line: hydra.searchpath" in text


def test_config_dir_is_searched_before_hydra_searchpath(presets, tmp_path, capsys):
    other = write_presets(tmp_path / "other's [presets]")
    path = other / "experiment/at/toys/quick.smoke.yaml"
    path.write_text(path.read_text().replace("width: 5", "width: 6"))
    assert main(["--cfg", "job", "--config-dir", str(other), *QUICK, f"hydra.searchpath=[{presets}]"]) == 0
    assert "width: 6" in capsys.readouterr().out
    assert main(["--cfg", "job", "-cd", str(presets), *QUICK]) == 0
    assert "width: 5" in capsys.readouterr().out


def test_config_dir_that_does_not_exist(capsys):
    assert main(["--config-dir", "/no/such/folder"]) == 2
    assert "/no/such/folder is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--config-dir", "{}"], ["hydra.searchpath=[{}]"]])
def test_a_folder_one_level_too_deep_is_refused(presets, option, capsys):
    words = [word.format(presets / "experiment") for word in option]
    assert main(["--cfg", "job", *words, *QUICK]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "contains none of the folders data, experiment, hydra, logger, method, scale, trainer" in said
    assert f"name the folder above them: {presets}" in said


def test_help_names_where_a_choice_comes_from(extension, tmp_path, capsys):
    more = tmp_path / "more"
    (more / "experiment").mkdir(parents=True)
    (more / "experiment/other.yaml").write_text("# Another one\n")
    assert main(["--help", "--config-dir", str(more)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "toys/quick DigitCircle, but quick (toy_presets)" in text
    assert f"other Another one ({more})" in text


def test_a_launcher_of_hydra_composes_with_the_search_path(presets, monkeypatch):
    runs = []
    monkeypatch.setattr(launch, "make_run", lambda run, **_: runs.append(run) or Outcome("", Path()))
    planned = plan([*QUICK, f"hydra.searchpath=[{presets}]", "seed=1,2", "hydra/launcher=basic"])
    launch.launch(planned, CONFIGS)
    assert [(run.experiment, run.seed, run.method.encoder.width) for run in runs] == [
        ("toys/quick", 1, 5),
        ("toys/quick", 2, 5),
    ]


def test_a_byte_order_mark_hides_no_line_of_a_preset(presets):
    search = f"hydra.searchpath=[{presets}]"
    plain = compose([*QUICK, search])
    for path in presets.rglob("*.yaml"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert compose([*QUICK, search]) == plain
    assert description("experiment", "toys/quick", [presets]) == "DigitCircle, but quick"


def test_lines_of_presets_end_at_newlines_only(presets):
    path = presets / "experiment/toys/quick.yaml"
    path.write_text(f"{path.read_text()}# seeds:\u2028seed: 3\x85seed: 4\u2029seed: 5\n", encoding="utf-8")
    assert compose([*QUICK, f"hydra.searchpath=[{presets}]"]).seed == 0


def test_a_preset_that_is_not_utf8_is_refused_with_its_name_and_still_listed(presets, capsys):
    path = presets / "experiment/toys/quick.yaml"
    path.write_bytes(path.read_bytes() + "# Größe\n".encode("latin-1"))
    assert main(["--cfg", "job", "--config-dir", str(presets), *QUICK]) == 2
    assert f"error: {path} is not UTF-8 (byte 0xf6 in line 4): save it as UTF-8" in capsys.readouterr().err
    assert main(["--help", "--config-dir", str(presets)]) == 0
    assert "toys/quick" in capsys.readouterr().out


def test_a_preset_that_is_no_yaml_is_refused_with_its_name_and_line(presets):
    path = presets / "experiment/toys/quick.yaml"
    path.write_text(path.read_text() + "trainer: {\n")
    text = message(*QUICK, f"hydra.searchpath=[{presets}]")
    assert f'"{path}", line 5' in text


def test_a_preset_with_the_other_ending_of_yaml_is_named(presets):
    search = f"hydra.searchpath=[{presets}]"
    for name, keys in (("at/toys/quick.smoke", QUICK), ("toys/quick", QUICK)):
        path = presets / f"experiment/{name}.yaml"
        path.rename(path.with_suffix(".yml"))
        assert f"presets end in .yaml: rename {path.with_suffix('.yml')}" in message(*keys, search)
    assert "presets end in .yaml: rename" in message("experiment=toys/quick.yml", search)


def test_hidden_files_are_no_presets(presets):
    (presets / "experiment/toys/._quick.yaml").write_bytes(b"\x00\x05\x16\x07\xff")
    (presets / "experiment/.backup").mkdir()
    shutil.copy(presets / "experiment/toys/quick.yaml", presets / "experiment/.backup/quick.yaml")
    assert choices("experiment", [presets]) == ["toys/quick"]
    assert "defaults" not in message("experiment=toys/quik", f"hydra.searchpath=[{presets}]")


def test_the_home_folder_in_every_spelling(presets, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(presets.parent))
    name = presets.name
    for search in (f"~/{name}", f"file://~/{name}"):
        assert compose([*QUICK, f"hydra.searchpath=['{search}']"]).method.encoder.width == 5
    for outputs in ("outputs=~/runs", "outputs='~/runs'", 'outputs="~/runs"'):
        assert main(["--cfg", "job", "--config-dir", f"~/{name}", *QUICK, outputs]) == 0
        assert f"outputs: {presets.parent}/runs\n" in capsys.readouterr().out
    assert main(["--cfg", "job", "--config-dir", f"~/{name}", *QUICK, "outputs=~"]) == 0
    assert f"outputs: {presets.parent}\n" in capsys.readouterr().out
    assert main(["--cfg", "job", *QUICK[1:], "outputs=a~/b"]) == 2  # Hydra's grammar; only the beginning is ours
