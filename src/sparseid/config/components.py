"""Discovery of data sets and methods: one settings class in the ``settings.py`` of each component's folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sparseid.errors import InputError
from sparseid.extensions import Extension, load, packages, parts, unset_hint
from sparseid.settings import DataSettings, MethodSettings
from sparseid.spelling import did_you_mean

FOLDERS = {"method": "methods", "data": "data"}
"""Group of the configuration -> folder of a package that contains its components."""

BASES: dict[str, type[DataSettings | MethodSettings]] = {"method": MethodSettings, "data": DataSettings}


def component_names(group: str) -> list[str]:
    """Return the sorted names of the components of ``method`` or ``data``, without importing them."""
    return sorted(_modules(group, packages()))


def settings_class(group: str, name: str) -> type[DataSettings | MethodSettings]:
    """Return the settings class of a component.

    Raises
    ------
    InputError
        If the component does not exist or its ``settings.py`` is invalid.
    """
    modules = _modules(group, packages())
    if name not in modules:
        hint = did_you_mean(name, modules)
        listing = f"{group} can be: {', '.join(sorted(modules))}"
        raise InputError("\n  ".join(filter(None, [f"{group}={name} does not exist", hint, listing, unset_hint()])))
    return _class(group, name, modules[name])


def settings_classes(group: str) -> dict[str, type[DataSettings | MethodSettings]]:
    """Return the settings class of every component of a group, by name."""
    return {name: settings_class(group, name) for name in component_names(group)}


@cache
def _modules(group: str, extensions: tuple[Extension, ...]) -> Mapping[str, str]:
    """Return the settings module of each component.

    Raises
    ------
    InputError
        If two packages have a component of the same name.
    """
    return MappingProxyType(
        {name: f"{package}.settings" for name, package in parts(FOLDERS[group], "settings.py").items()}
    )


@cache
def _class(group: str, name: str, module: str) -> type[DataSettings | MethodSettings]:
    base = BASES[group]
    content = vars(load(module)).values()
    classes = [value for value in content if isinstance(value, type) and value.__module__ == module]
    own = [value for value in classes if issubclass(value, base) and hasattr(value, "loads")]
    if len(own) != 1:
        listed = ", ".join(value.__name__ for value in own) or "none"
        file = vars(load(module))["__file__"]
        text = f"{file}: define exactly one subclass of {base.__name__} with loads, not {listed}"
        raise InputError(f"{text} (docs/add-a-{group.replace('data', 'data-set')}.md)")
    if getattr(own[0], "name", None) != name:
        raise InputError(f"{own[0].__name__} of {module} needs the field name: str = {name!r}, the name of its folder")
    return own[0]
