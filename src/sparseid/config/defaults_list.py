"""Mistakes in the defaults list of a YAML file, found when it is read: Hydra overlooks them, or blames other files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sparseid.config.choices import PICKED_GROUPS
from sparseid.config.components import FOLDERS
from sparseid.spelling import did_you_mean

KEY, SELF = "defaults", "_self_"

KEYWORDS = ("override", "optional")
"""Words before a group in a defaults list."""

ENTRIES = f"an entry is - override /group: choice, - /group/file or - {SELF}"
"""Remedy for an entry of another form."""

FILE = re.compile(r"(optional\s+)?(?:[\w/.-]|\$\{[^}]*\})+(?:@\S+)?")
"""An entry that names a file."""

UNSEPARATED = re.compile(r"((?:\w+\s+)*)(/?[\w/]+(?:@\w+)?)\s*[:=\s]\s*([^\s:=/][^\s:=]*)")
"""An entry without ``: `` between group and choice: words before the group, group, choice."""


class DefaultsListError(ValueError):
    """A mistake in the defaults list of a file.

    Parameters
    ----------
    path, line
        The file, and the number of its line.
    problem, hint
        Description and remedy.
    """

    def __init__(self, path: Path, line: int, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.path, self.line, self.problem, self.hint = path, line, problem, hint


def check_defaults_list(path: Path, group: str, content: Any, text: str) -> None:
    """Refuse a misspelt key, ``_self_`` or keyword, entries that Hydra takes for others, and a second override.

    Parameters
    ----------
    path
        The file.
    group
        Folder of the file below that of all YAML files, to which entries without a slash are relative; may be empty.
    content
        Its values, without resolved interpolations.
    text
        Its text.

    Raises
    ------
    DefaultsListError
        For the first mistake.
    """
    if not isinstance(content, Mapping):
        return
    if KEY not in content:
        for key, value in content.items():
            if isinstance(value, list) and (hint := did_you_mean(str(key).lower(), [KEY])):
                raise DefaultsListError(path, _lines(text, key)[0], f"unknown key {key}", hint)
        return
    entries = content[KEY]
    if not isinstance(entries, list):
        if entries is not None:
            hint = "begin every entry with a hyphen: - override /method: tbr"
            raise DefaultsListError(path, _lines(text, KEY)[0], "the defaults list is not a list", hint)
        return
    selected: dict[str, tuple[int, str]] = {}
    for number, entry in enumerate(entries):
        problem, hint = _mistake(entry, path, group)
        if not problem and isinstance(entry, Mapping):
            ((key, _),) = entry.items()
            name = str(key).split()[-1].lstrip("/")  # with its package, if it has one: group@package
            if name in selected:
                lines = _lines(text, KEY)[1:]
                (first, one), other = selected[name], _shown(entry)
                problem = (
                    f"{name} is selected twice in the defaults list: {one} (line {lines[first]}), "
                    f"{other} (line {lines[number]})"
                )
                hint = "keep one of these lines"
            selected[name] = number, _shown(entry)
        if problem:
            raise DefaultsListError(path, _lines(text, KEY)[1 + number], problem, hint)


def _mistake(entry: Any, path: Path, group: str) -> tuple[str, str]:
    """Return problem and remedy of an entry; empty texts if there is none."""
    if isinstance(entry, str):
        return _mistake_in_text(entry)
    if not isinstance(entry, Mapping):
        return f"the defaults list has - {entry}", ENTRIES
    if len(entry) != 1:
        return f"the defaults list has {_shown(entry)} in one entry", "begin each with a hyphen, on a line of its own"
    ((key, choice),) = entry.items()
    *words, name = str(key).split()
    problem, keywords = f"the defaults list has {_shown(entry)}", " ".join(words)
    for word in words:
        if word not in KEYWORDS:
            hint = did_you_mean(word, KEYWORDS) or f"before a group there can be: {', '.join(KEYWORDS)}"
            return f"unknown word {word!r} in the defaults list: {_shown(entry)}", hint
    first, _, rest = name.partition("/")
    if first in KEYWORDS:
        return problem, f"write - {first} /{rest}: {choice}"
    if isinstance(choice, list) and name.strip("/") in FOLDERS:
        group = name.strip("/")
        return problem, f"choose one {group}; {group}={','.join(map(str, choice))} on the command line is a sweep"
    if choice is None and name.strip("/") in FOLDERS:
        return problem, f"write the name of a {name.strip('/')} after the colon, or remove the line"
    if group and first in (*PICKED_GROUPS, "hydra") and not (path.parent / name.partition("@")[0]).is_dir():
        needed = keywords if "override" in words else f"override {keywords}".rstrip()
        return (
            f"{problem}, without a slash: of the folder {group}/{name.partition('@')[0]}",
            f"write - {needed} /{name}: {choice}",
        )
    return "", ""


def _mistake_in_text(entry: str) -> tuple[str, str]:
    """Return problem and remedy of an entry without a group."""
    problem = f"the defaults list has - {entry}"
    if entry.strip("_").lower() == "self" and entry != SELF:
        return problem, f"write - {SELF}"
    if FILE.fullmatch(entry):
        return "", ""
    found = UNSEPARATED.fullmatch(entry)
    if found and all(word in KEYWORDS for word in found[1].split()):
        return problem, f"write - {found[1]}{found[2]}: {found[3]}, with a colon and a space before the choice"
    return problem, ENTRIES


def _shown(entry: Mapping[Any, Any]) -> str:
    return "; ".join(f"- {key}: {'' if choice is None else choice}".rstrip() for key, choice in entry.items())


def _lines(text: str, key: Any) -> list[int]:
    """Return the number of the line with a key of a YAML text, and of those in which the entries of its list begin."""
    tree = yaml.compose(text, Loader=yaml.SafeLoader)
    for node, values in tree.value if isinstance(tree, yaml.MappingNode) else []:
        if node.value == str(key):
            entries = values.value if isinstance(values, yaml.SequenceNode) else []
            return [node.start_mark.line + 1, *(entry.start_mark.line + 1 for entry in entries)]
    raise KeyError(key)
