"""Settings of type text keep the text that was written: ``data.label=1.10`` is no number, which would become 1.1."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import cache
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import create_functions
from hydra.core.override_parser.overrides_visitor import HydraOverrideVisitor
from hydra.core.override_parser.types import Key, ParsedElementType
from hydra.grammar.gen.OverrideLexer import (  # type: ignore[attr-defined]
    CommonTokenStream,
    InputStream,
    OverrideLexer,
)
from hydra.grammar.gen.OverrideParser import OverrideParser

from sparseid.config.choices import PICKED_GROUPS, settable_types
from sparseid.extensions import Extension, packages

SWEPT = "hydra.sweeper.params."
"""Prefix of swept keys in a preset, whose values become overrides."""
NUMBERS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float"))
"""Tags of YAML's plain scalars that are not read as they are written."""
TEXT = "tag:yaml.org,2002:str"
OF_VALUES = ("choice", "shuffle", "sort", "tag", "str")
"""Functions of Hydra's grammar whose arguments are values of the setting, or are made text."""


def is_text(key: str) -> bool:
    """Return whether a dotted key is a setting of type text, or a list of texts, in any data set or method.

    Where another has a number of that key, OmegaConf reads it from its text.
    """
    return key.removeprefix(SWEPT) in _text_keys(packages())


@cache
def _text_keys(extensions: tuple[Extension, ...]) -> frozenset[str]:
    return frozenset(key for key, kind in settable_types() if _of_text(kind)) - frozenset(PICKED_GROUPS)


def _of_text(kind: Any) -> bool:
    return kind is str or any(map(_of_text, typing.get_args(kind)))


def quoted(override: str) -> str:
    """Return a valid override with quotes around what Hydra would read as another text for a setting of type text.

    Examples
    --------
    >>> quoted("data.label=1.10,1e3"), quoted("data.ignore=[1_000,a,NaN]"), quoted("seed=007")
    ('data.label="1.10","1e3"', 'data.ignore=["1_000",a,"NaN"]', 'seed=007')
    """
    key = override.partition("=")[0].lstrip("+~")
    if not is_text(key) and "{" not in override:
        return override
    visitor = _Visitor()
    visitor.visit(OverrideParser(CommonTokenStream(OverrideLexer(InputStream(override)))).override())
    if not visitor.changes:
        return override
    for start, stop in reversed(visitor.places):
        override = f'{override[:start]}"{override[start:stop].strip()}"{override[stop:]}'
    return override


class _Visitor(HydraOverrideVisitor):
    """Collects numbers and truths among the values of settings of type text.

    Attributes
    ----------
    places
        Start and stop of each.
    changes
        Whether one of them would be read as another text than it is written.
    """

    def __init__(self) -> None:
        super().__init__(create_functions())
        self.places: list[tuple[int, int]] = []
        self.changes = False
        self._key = ""

    def visitKey(self, ctx: OverrideParser.KeyContext) -> Key:
        """Remember the key of an override."""
        key = super().visitKey(ctx)
        self._key = key.key_or_group
        return key

    def visitDictKeyValuePair(self, ctx: OverrideParser.DictKeyValuePairContext) -> tuple[str, ParsedElementType]:
        """Visit a value under the key of its own."""
        return self._under(f"{self._key}.{ctx.getChild(0).getText().strip()}", super().visitDictKeyValuePair, ctx)

    def visitFunction(self, ctx: OverrideParser.FunctionContext) -> Any:
        """Visit arguments; those of functions like ``range`` are numbers."""
        name = ctx.getChild(0).getText()
        return self._under(self._key if name in OF_VALUES else "", super().visitFunction, ctx)

    def visitPrimitive(self, ctx: OverrideParser.PrimitiveContext) -> Any:
        """Note the place of a number or truth."""
        value = super().visitPrimitive(ctx)
        if isinstance(value, int | float) and is_text(self._key):
            start, text = ctx.start.start, ctx.getText()
            self.places.append((start, start + len(text)))
            self.changes |= str(value) != text.strip()
        return value

    def _under(self, key: str, visit: Callable[[Any], Any], ctx: Any) -> Any:
        outer, self._key = self._key, key
        value = visit(ctx)
        self._key = outer
        return value


def keep_texts(node: yaml.Node | None, key: str = "") -> None:
    """Let plain numbers and truths in YAML be text where they are values of settings of type text.

    Parameters
    ----------
    node
        A document, or a value in it; changed.
    key
        Dotted key of the value.
    """
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            keep_texts(value, f"{key}.{name.value}".lstrip("."))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            keep_texts(value, key)
    elif isinstance(node, yaml.ScalarNode) and node.tag in NUMBERS and is_text(key):
        node.tag = TEXT
