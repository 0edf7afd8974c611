"""Packages that provide data sets, methods and papers: this one, and the user's extensions.

An extension is a Python package with the layout of this one. Each of its folders is optional::

    my_extension/
        data/<name>/settings.py      a data set
        methods/<name>/settings.py   a method
        papers/<name>/__init__.py    a paper
        configs/                     YAML of the groups data, method and experiment

It is found by an entry point of the group ``sparseid.extensions`` or by the environment variable
``SPARSEID_EXTENSIONS``, a list of such folders separated as in ``PATH``. Every command imports its ``__init__.py`` and
its settings, so slow imports (torch) belong in other modules.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from sparseid.errors import InputError
from sparseid.homes import expanded
from sparseid.project import CONFIGS

ENTRY_POINTS = "sparseid.extensions"
"""Group of entry points, with any name and the package as value."""

VARIABLE = "SPARSEID_EXTENSIONS"
"""Environment variable that lists folders of packages, separated as in PATH."""

_PARTS = {"data": "data sets", "methods": "methods", "papers": "papers"}


@dataclass(frozen=True)
class Extension:
    """A package that is searched for components, papers and configuration files.

    Attributes
    ----------
    package
        Importable name, ``sparseid`` for this package.
    folder
        Folder of the package.
    configs
        Folder of its YAML files, which need not exist.
    source
        Source for error messages: ``SPARSEID_EXTENSIONS=...`` or the entry point.
    """

    package: str
    folder: Path
    configs: Path
    source: str = ""

    def parts(self, kind: str, file: str) -> dict[str, str]:
        """Return the parts of one kind, without importing them.

        Parameters
        ----------
        kind
            ``data``, ``methods`` or ``papers``.
        file
            File that identifies the folder of a part, for example ``settings.py``.

        Returns
        -------
        dict
            Importable package of each part by its name, sorted.
        """
        found = sorted(path.parent.name for path in (self.folder / kind).glob(f"*/{file}"))
        return {name: f"{self.package}.{kind}.{name}" for name in found}


@cache
def packages() -> tuple[Extension, ...]:
    """Return this package and every extension, in search order.

    Raises
    ------
    InputError
        If an extension cannot be imported or shares its name with another one.
    """
    here = Path(__file__).parent
    found = {"sparseid": Extension("sparseid", here, CONFIGS)}
    for extension in (*_installed(), *_named()):
        other = found.setdefault(extension.package, extension)
        if other.folder != extension.folder:
            raise InputError(
                f"two extensions are called {extension.package}: {other.folder} and {extension.folder}\n"
                "  rename one of them"
            )
    return tuple(found.values())


def parts(kind: str, file: str) -> dict[str, str]:
    """Return the parts of one kind in all packages, without importing them: name -> importable package.

    Parameters
    ----------
    kind, file
        See :meth:`Extension.parts`.

    Raises
    ------
    InputError
        If two packages have a part of the same name.
    """
    found: dict[str, str] = {}
    for extension in packages():
        for name, package in extension.parts(kind, file).items():
            if other := found.get(name):
                raise InputError(
                    f"two {_PARTS[kind]} are called {name}: {other} and {package} ({extension.source})\n"
                    "  rename the folder of one of them"
                )
            found[name] = package
    return found


def load(module: str) -> ModuleType:
    """Import a module of this package or of an extension.

    Raises
    ------
    InputError
        If a module of an extension cannot be imported. Errors in our own modules are bugs and propagate unchanged.
    """
    return _import(module, *_owner(module))


def load_object(place: str, settings: type) -> Any:
    """Import the class, function or module that the settings of a component name.

    Parameters
    ----------
    place
        ``package.module:name``, or a module.
    settings
        The settings class, of this package or of an extension.

    Raises
    ------
    InputError
        Like :func:`load`, and if the module of an extension does not define the name.
    """
    module, _, name = place.partition(":")
    package, source = _owner(settings.__module__)
    found = _import(module, package, source)
    if not name:
        return found
    if source and not hasattr(found, name):
        raise InputError(
            f"{module} defines no {name!r}\n  from: {found.__file__}\n"
            f"  {settings.__module__} names {place}: correct one of them"
        )
    return getattr(found, name)


def unset_hint() -> str:
    """Return a hint that parts of an extension are found only if it is named; empty if the variable names any."""
    return "" if os.environ.get(VARIABLE) else f"if an extension has it: set {VARIABLE} to its folder, or install it"


def _installed() -> Iterator[Extension]:
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.value):
        yield _extension(point.value, f"entry point {point.name} of the group {ENTRY_POINTS}")


def _named() -> Iterator[Extension]:
    for text in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        folder = Path(expanded(text)).resolve()
        if not folder.is_dir():
            raise InputError(
                f"{VARIABLE} names {text}, which is not a folder\n"
                f"  correct or remove the path; several folders are separated by {os.pathsep!r}"
            )
        parent = str(folder.parent)
        if parent not in sys.path:
            sys.path.append(parent)
        yield _extension(folder.name, f"{VARIABLE}={text}")


def _extension(package: str, source: str) -> Extension:
    module = _import(package, package, source)
    if not hasattr(module, "__path__"):
        raise InputError(
            f"the extension {package} ({source}) is a module: name a package (a folder with an __init__.py)"
        )
    folder = Path(next(iter(module.__path__)))
    return Extension(package, folder, folder / "configs", source)


def _owner(module: str) -> tuple[str, str]:
    """Return package and source of the extension that a module belongs to; without a source if it is not of one."""
    package = module.partition(".")[0]
    return package, next((entry.source for entry in packages() if entry.package == package), "")


def _import(module: str, package: str, source: str) -> ModuleType:
    try:
        return import_module(module)
    except Exception as error:
        if not source:
            raise
        place = _place(error, package)
        raise InputError(
            f"{module} cannot be imported: {type(error).__name__}: {error}\n"
            + (f"  from: {place}\n" if place else "")
            + f"  correct it, or remove the extension {package} ({source})"
        ) from error


def _place(error: Exception, package: str) -> str:
    """Return file and line of an error of an import: the last of the package, else the last outside this module."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    shown = [frame for frame in frames if package in Path(frame.filename).parts] or frames
    return f"{shown[-1].filename}:{shown[-1].lineno}" if shown else ""
