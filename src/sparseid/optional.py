"""Packages of optional dependency groups, which a light installation lacks."""

from __future__ import annotations

from importlib.util import find_spec

from sparseid.errors import InputError


def absence(package: str, group: str) -> str:
    """Return in one line that a package is not installed, and how to install it; empty if it is installed.

    Parameters
    ----------
    package
        Name by which it is imported; it is looked for, not imported.
    group
        Group of `pyproject.toml` that has it.

    Examples
    --------
    >>> absence("no_such_package", "cells")
    "the package no_such_package is not installed: pip install 'sparseid[cells]' (make setup does)"
    >>> absence("numpy", "cells")
    ''
    """
    if find_spec(package) is not None:
        return ""
    return f"the package {package} is not installed: pip install 'sparseid[{group}]' (make setup does)"


def need(package: str, group: str, keys: tuple[str, ...] = ()) -> None:
    """Raise an error if an optional package is not installed.

    Parameters
    ----------
    package, group
        As for `absence`.
    keys
        Settings that ask for it.

    Raises
    ------
    InputError
        If it is not installed.
    """
    if text := absence(package, group):
        raise InputError(text, keys)
