"""The help page of one data set or method, generated from the metadata of its settings (``--help data=zeisel``)."""

from __future__ import annotations

import dataclasses
import textwrap
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from sparseid.config.components import FOLDERS, settings_class
from sparseid.config.search_path import config_file
from sparseid.settings import MISSING, range_text
from sparseid.text import read_text

TYPES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def component_pages(words: Sequence[str], folders: Sequence[Path], width: int = 120) -> str:
    """Return the pages of the data sets and methods that `words` pick (``data=zeisel``); empty if they pick none.

    Raises
    ------
    InputError
        If a data set or method is unknown.
    """
    picked = [word.split("=", 1) for word in words if "=" in word]
    return "\n".join(_page(group, name, folders, width) for group, name in picked if group in FOLDERS)


def _page(group: str, name: str, folders: Sequence[Path], width: int) -> str:
    settings = settings_class(group, name)
    file = config_file(f"{group}/{name}", folders)
    values = yaml.safe_load(read_text(file)) if file else {}
    source = f"  Values that differ from the defaults come from {group}/{file.name}." if file else ""
    lines = [textwrap.fill(f"{group}={name}: {settings.__doc__}", width), source, ""]
    for key, kind, field, default in _fields(settings, f"{group}.", values):
        lines.append(f"  {key}={default}" if default != MISSING else f"  {key}  (required)")
        text = "\n".join(filter(None, [field.metadata["text"], _allowed(kind, field)]))
        lines += [
            textwrap.fill(part, width, initial_indent=" " * 6, subsequent_indent=" " * 6) for part in text.split("\n")
        ]
    return "\n".join(line for line in lines if line is not None) + "\n"


def _fields(settings: type, prefix: str, values: Any) -> Iterator[tuple[str, Any, dataclasses.Field[Any], Any]]:
    """Yield the dotted key, type, field and value of every documented field, those of nested settings included."""
    hints = typing.get_type_hints(settings)
    for field in dataclasses.fields(settings):
        value = values.get(field.name, MISSING) if isinstance(values, dict) else MISSING
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            yield from _fields(typing.cast(type, kind), f"{prefix}{field.name}.", value)
        elif "text" in field.metadata:
            if value == MISSING:
                factory = field.default_factory
                value = field.default if factory is dataclasses.MISSING else factory()
            yield f"{prefix}{field.name}", kind, field, _command_text(value)


def _command_text(value: Any) -> str:
    """Return a value in the syntax of the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _allowed(kind: Any, field: dataclasses.Field[Any]) -> str:
    """Return the choices or the type and range of a field."""
    if choices := field.metadata["choices"]:
        return f"[{', '.join(map(str, choices))}]"
    words = [TYPES.get(kind, ""), range_text(field.metadata["bounds"])]
    return f"[{', '.join(filter(None, words))}]" if any(words) else ""
