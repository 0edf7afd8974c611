"""The pinned packages."""

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
TEXT = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
BLOCK = re.compile(r"([\w.-]+)==([\w.]+)(?: ; sys_platform == \"linux\")?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_package_is_pinned_once_with_hashes_and_nothing_else_is_there():
    assert BLOCK.sub("", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)) == ""
    names = [normal(name) for name, _, _ in BLOCK.findall(TEXT)]
    assert len(set(names)) == len(names) > 100


def test_all_that_the_project_asks_for_is_pinned():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    groups = project["optional-dependencies"]
    named = {name: {normal(re.split(r"[^\w.-]", line)[0]) for line in lines} for name, lines in groups.items()}
    asked = {normal(re.split(r"[^\w.-]", line)[0]) for line in project["dependencies"]}.union(
        *(packages for name, packages in named.items() if name not in ("all", "peers", "tutorials"))
    )
    pinned = {normal(name) for name, _, _ in BLOCK.findall(TEXT)}
    assert asked <= pinned
    assert groups["all"] == [f"sparseid[{','.join(sorted(set(groups) - {'all', 'dev', 'peers', 'tutorials'}))}]"]


def test_whatever_a_pinned_package_needs_here_is_pinned():
    """Otherwise pip would refuse the whole file."""
    from packaging.requirements import Requirement

    pinned = {normal(name) for name, _, _ in BLOCK.findall(TEXT)}
    missing = {
        f"{package.metadata['Name']} needs {requirement.name}"
        for package in distributions()
        if normal(package.metadata["Name"]) in pinned
        for requirement in map(Requirement, package.requires or [])
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if normal(requirement.name) not in pinned
    }
    assert missing == set()


def test_setup_installs_only_what_has_a_known_hash():
    makefile = (PROJECT / "Makefile").read_text()
    assert "--require-hashes --requirement requirements.lock" in makefile
    assert "--no-deps --no-build-isolation --editable ." in makefile
