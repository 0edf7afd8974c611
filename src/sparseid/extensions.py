"""Packages that bring data sets, methods and papers: this one, and those that a user has installed or named.

An extension is a Python package with the layout of this one. Each of its folders is optional::

    my_extension/
        data/<name>/settings.py      a data set
        methods/<name>/settings.py   a method
        papers/<name>/__init__.py    a paper
        configs/                     YAML of the groups data, method and experiment

It is found by an entry point of the group ``sparseid.extensions`` or by the environment variable
``SPARSEID_EXTENSIONS``, a list of such folders.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from sparseid.errors import InputError

ENTRY_POINTS = "sparseid.extensions"
"""Group of entry points: any name, and the package as its value."""

VARIABLE = "SPARSEID_EXTENSIONS"
"""Environment variable with folders of packages, separated as in PATH."""


@dataclass(frozen=True)
class Extension:
    """A package that components, papers and configuration files are looked for in.

    Attributes
    ----------
    package
        Importable name, ``sparseid`` for this package.
    folder
        Folder of the package.
    configs
        Folder of its YAML files; it need not exist.
    """

    package: str
    folder: Path
    configs: Path

    def parts(self, kind: str, file: str) -> dict[str, str]:
        """Return the parts of a kind, without importing any.

        Parameters
        ----------
        kind
            ``data``, ``methods`` or ``papers``.
        file
            File by which the folder of a part is known, for example ``settings.py``.

        Returns
        -------
        dict
            Name of each part -> its importable package, sorted by name.
        """
        found = sorted(path.parent.name for path in (self.folder / kind).glob(f"*/{file}"))
        return {name: f"{self.package}.{kind}.{name}" for name in found}


@cache
def packages() -> tuple[Extension, ...]:
    """Return this package and every extension, in the order in which they are looked through.

    Raises
    ------
    InputError
        If an extension that was installed or named cannot be imported or shares its name with another one.
    """
    here = Path(__file__).parent
    found = {"sparseid": Extension("sparseid", here, here.parents[1] / "configs")}
    for extension in (*_installed(), *_named()):
        if extension.package in found and extension != found[extension.package]:
            raise InputError(
                f"two extensions are called {extension.package}: {found[extension.package].folder} and "
                f"{extension.folder}. Rename one of them"
            )
        found[extension.package] = extension
    return tuple(found.values())


def _installed() -> Iterator[Extension]:
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.value):
        yield _extension(point.value, f"entry point {point.name} of the group {ENTRY_POINTS}")


def _named() -> Iterator[Extension]:
    for text in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        folder = Path(text).resolve()
        if not folder.is_dir():
            raise InputError(f"{VARIABLE} names {text}, which is not a folder")
        parent = str(folder.parent)
        if parent not in sys.path:
            sys.path.append(parent)
        yield _extension(folder.name, f"{VARIABLE}={text}")


def _extension(package: str, source: str) -> Extension:
    try:
        module = import_module(package)
    except Exception as error:
        raise InputError(f"the extension {package} ({source}) cannot be imported: {error}") from error
    folder = Path(next(iter(module.__path__)))
    return Extension(package, folder, folder / "configs")
