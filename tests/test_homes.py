"""Home folders of users, and of those that do not exist."""

import pwd
from pathlib import Path

import pytest

from sparseid.data.paths import data_folder
from sparseid.errors import InputError
from sparseid.homes import expanded
from sparseid.launching.main import main

ME = pwd.getpwuid(0)


def test_homes_are_expanded_and_other_paths_are_as_they_were(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expanded("~/x//y") == f"{tmp_path}/x//y"
    assert expanded(f"~{ME.pw_name}/x") == f"{ME.pw_dir}/x"
    for path in ("", ".", "./~x", "a/~b", "/~c", "a~"):
        assert expanded(path) == path
    assert expanded(Path("a")) == "a"


def test_a_nul_character_is_in_no_path():
    with pytest.raises(InputError, match=r"'a\\x00b' has a NUL character: remove it"):
        expanded("a\0b")


def test_an_unknown_user_is_named_unless_a_file_has_the_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    said = "~nobody-at-all/x: there is no user 'nobody-at-all': write the whole path, or ./~nobody-at-all"
    with pytest.raises(InputError, match=said):
        expanded("~nobody-at-all/x")
    monkeypatch.setenv("SPARSEID_DATA", "~nobody-at-all/x")
    with pytest.raises(InputError, match=said):
        data_folder()
    Path("~nobody-at-all").mkdir()
    assert expanded("~nobody-at-all/x") == "~nobody-at-all/x"


@pytest.mark.parametrize(
    "words",
    [
        ["show", "~nobody-at-all/x"],
        ["--config-dir", "~nobody-at-all/x", "--cfg", "job"],
        ["outputs=~nobody-at-all/x", "--cfg", "job"],
        ['data.path="~nobody-at-all/x"', "experiment=tbr/arrays", "--cfg", "job"],
    ],
)
def test_the_command_line_names_the_user(words, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert "error: ~nobody-at-all" in (said := capsys.readouterr().err)
    assert "there is no user 'nobody-at-all'" in said
    assert not list(tmp_path.iterdir())
