"""Folders of papers: this package's and those of extensions, found without importing any."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sparseid.errors import InputError
from sparseid.extensions import parts


@cache
def paper_packages() -> dict[str, str]:
    """Return the importable package of each paper by the paper's name, that of its folder.

    Raises
    ------
    InputError
        If two packages have a paper of the same name.
    """
    return parts("papers", "__init__.py")


def paper_file(paper: str, name: str) -> Traversable:
    """Return a file of a paper's folder, which need not exist.

    Raises
    ------
    InputError
        If the paper is unknown.
    """
    known = paper_packages()
    if paper not in known:
        raise InputError(f"unknown paper {paper!r}. Known: {', '.join(known)}")
    return files(known[paper]).joinpath(name)
