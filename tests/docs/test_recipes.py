"""The recipes of ``docs/``, followed literally: files written as shown, commands run, promised output found."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted(path.stem for path in (ROOT / "docs").glob("add-a-*.md"))
BLOCK = re.compile(r"(?:^`(?P<path>[\w./-]+)`\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block of a recipe: a file with its path, an edit of one (diff), commands (bash) or output (text)."""

    path: str
    language: str
    text: str


def blocks(recipe: str) -> Iterator[Block]:
    """Yield the blocks of a recipe in order."""
    for match in BLOCK.finditer((ROOT / "docs" / f"{recipe}.md").read_text(encoding="utf-8")):
        yield Block(match["path"] or "", match["language"], match["text"])


def edited(before: str, diff: str) -> str:
    """Return a text with the hunks of a diff applied; each must fit in one place."""
    for hunk in re.split(r"^@@\n", diff, flags=re.M):
        old, new = (
            "".join(line[1:] for line in hunk.splitlines(keepends=True) if line[0] in marks) for marks in (" -", " +")
        )
        assert before.count(old) == 1, f"does not fit:\n{old}"
        before = before.replace(old, new)
    return before


class Follower:
    """A reader who does what a recipe says, in a checkout."""

    def __init__(self, checkout: Path):
        self.checkout, self.said = checkout, ""
        self.environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(checkout / "src"),
            "SPARSEID_DATA": str(checkout / "data"),
            "COLUMNS": "160",
        }
        self.environment.pop("SPARSEID_EXTENSIONS", None)

    def follow(self, recipe: str) -> None:
        for block in blocks(recipe):
            if block.language == "bash":
                self.run(block.text)
            elif block.language == "text":
                for line in block.text.splitlines():
                    assert self.was_said(line), f"not said: {line}\n\n{self.said}"
            elif block.language == "diff":
                path = self.checkout / block.path
                path.write_text(edited(path.read_text(), block.text))
            elif block.path:
                path = self.checkout / block.path
                assert path.parent.is_dir(), f"the recipe has not created the folder of {block.path}"
                path.write_text(block.text)

    def run(self, commands: str) -> None:
        # what one block exports holds in the next, as in the reader's shell
        script = f"set -e\n[ -f .exported ] && . ./.exported\n{commands}\nexport -p > .exported\n"
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.checkout, env=self.environment, capture_output=True, text=True, timeout=600
        )
        self.said += done.stdout + done.stderr
        assert done.returncode == 0, self.said

    def was_said(self, line: str) -> bool:
        parts = [re.escape(part) for part in re.split(r"<\w+>", " ".join(line.split()))]
        return re.search(r"\w+".join(parts), " ".join(self.said.split())) is not None


@pytest.fixture
def follower(tmp_path):
    """A reader in a fresh checkout, without recorded results: reports hold what the recipe has run and nothing else."""
    for name in ("configs", "scripts", "src", "tests/example_extension"):
        ignored = shutil.ignore_patterns("measured", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignored)  # links to configs and samples
    shutil.copy(ROOT / "run.py", tmp_path)
    return Follower(tmp_path)


def test_there_is_a_recipe_for_each_kind_of_part():
    assert RECIPES == ["add-a-data-set", "add-a-method", "add-a-metric", "add-a-paper"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_following_a_recipe_gives_what_it_promises(recipe, follower):
    follower.follow(recipe)


def test_the_same_files_work_as_part_of_the_repository(follower):
    files = [block for block in blocks("add-a-data-set") if block.path]
    for block in files:
        path = block.path.removeprefix("toy_sparsity/")
        path = follower.checkout / (path if path.startswith("configs/") else f"src/sparseid/{path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text.replace("toy_sparsity", "sparseid"))
    follower.run("python run.py --help data=blocks\npython run.py --cfg job experiment=blocks/vae scale=smoke")
    assert follower.was_said("Independent factors, one per block.")
    assert follower.was_said("outputs/smoke/blocks/blocks-sparse_vae-factors3-seeds0to1-<hash>")
