"""Folders are replaced as a whole, whenever the process is killed."""

import sys
from pathlib import Path

import pytest

from sparseid.files import remove_leftovers, replaced_folder

MOVES = ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "os.mkdir")
"""Audit events of Python that change a folder."""
OLD, NEW = {"a.svg", "b.svg", "c.svg"}, {"a.svg", "d.svg"}


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(scope="module")
def kill_before():
    """Kill before the nth change of a folder from now on; 0 for none. Audit hooks cannot be removed."""
    left = [0]

    def watch(event, arguments):
        if left[0] and event in MOVES:
            left[0] -= 1
            if not left[0]:
                raise Killed

    sys.addaudithook(watch)
    return lambda number: left.__setitem__(0, number)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def replace(folder: Path) -> None:
    with replaced_folder(folder) as part:
        for name in NEW:
            (part / name).touch()


@pytest.mark.parametrize("moment", range(1, 12))
def test_a_folder_that_exists_is_complete_whenever_its_replacement_is_killed(tmp_path, kill_before, moment):
    folder = tmp_path / "figures"
    folder.mkdir()
    for name in OLD:
        (folder / name).touch()
    kill_before(moment)
    try:
        replace(folder)
        killed = False
    except Killed:
        killed = True
    finally:
        kill_before(0)
    assert not folder.exists() or names(folder) in (OLD, NEW)
    assert killed or names(folder) == NEW
    remove_leftovers(tmp_path)
    replace(folder)
    assert names(folder) == NEW
    assert names(tmp_path) == {"figures"}


def test_a_file_in_the_place_of_the_folder_is_replaced_and_nothing_is_left(tmp_path):
    (tmp_path / "figures").touch()
    replace(tmp_path / "figures")
    assert names(tmp_path / "figures") == NEW
    remove_leftovers(tmp_path)
    assert names(tmp_path) == {"figures"}
