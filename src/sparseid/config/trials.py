"""Composition of all runs of a sweep, with a fast path for runs that differ only in values.

Hydra needs a tenth of a second per composition; a table has thousands of runs that differ in a few numbers. Therefore
only the first run of each set of keys is composed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf

from sparseid.config.compose import load, to_run_config
from sparseid.config.messages import COMPOSITION_ERRORS, Origins, parse_override
from sparseid.config.schema import RunConfig
from sparseid.config.validate import problems

Value = tuple[tuple[str, ...], Any]
"""Path of a value in a configuration, and the value."""


def compose_all(
    combinations: Sequence[tuple[str, ...]],
    origins_of: Callable[[Sequence[str]], Origins],
    first: Template | None = None,
) -> list[RunConfig]:
    """Return the checked configuration of every combination of overrides.

    Parameters
    ----------
    combinations
        Overrides of each run; keys that only some runs set come last.
    origins_of
        Returns the origins of a combination, for error messages.
    first
        A composed configuration; by default that of the first combination.

    Raises
    ------
    ConfigError
        For the first invalid combination, exactly as if it had been composed alone.
    """
    runs: list[RunConfig] = []
    templates: dict[frozenset[str], Template] = {}  # the last composed run of each set of keys
    for texts in combinations:
        keys = frozenset(text.partition("=")[0] for text in texts)
        run = next(filter(None, (template.fill(texts) for template in (templates.get(keys), first) if template)), None)
        if run is None:
            origins = origins_of(texts)
            tree = load(origins)
            run = to_run_config(tree, origins)
            templates[keys] = Template(tree, run, texts)
            first = first or templates[keys]
        runs.append(run)
    return runs


class Template:
    """Configuration of a composed run, into which the values of other runs are filled.

    The result equals a composition because no value of a configuration is computed from another one. If one is (an
    interpolation), or if an override selects a group or adds a key, nothing is filled.

    Parameters
    ----------
    tree
        The composition; changed by `fill`.
    run
        The same, typed and valid.
    texts
        Overrides that composed it.
    """

    def __init__(self, tree: DictConfig, run: RunConfig, texts: tuple[str, ...]):
        self.tree, self.run = tree, run
        self.values: dict[str, Value | None] = {}
        self.texts = dict.fromkeys(texts)
        OmegaConf.set_struct(self.tree, True)

    @cached_property
    def fits(self) -> bool:
        """True if no value is computed from another one."""
        return not _interpolates(self.tree)

    def fill(self, texts: tuple[str, ...]) -> RunConfig | None:
        """Return the run with other values; None if they cannot be filled in or the result is invalid."""
        if not self.fits:
            return None
        own = set(texts)
        left_out = [self._cached(text) for text in self.texts if text not in own]
        values = [self._cached(text) for text in texts if text not in self.texts]
        keys = {value[0] for value in values if value is not None}
        # a key that only the composed run sets has a default that only a composition knows
        if None in values or not all(value is not None and value[0] in keys for value in left_out):
            return None
        run = copy.deepcopy(self.run)
        for value in values:
            assert value is not None
            *parents, name = value[0]
            node: Any = run
            for parent in parents:
                node = getattr(node, parent)
            setattr(node, name, copy.deepcopy(value[1]))
        return None if problems(run) else run

    def _cached(self, text: str) -> Value | None:
        if text not in self.values:
            self.values[text] = self._value(text)
        return self.values[text]

    def _value(self, text: str) -> Value | None:
        """Return the path and the value of an override, converted by the schema; None unless it sets a plain value."""
        override = parse_override(text)
        key, value = override.key_or_group, override.value()
        if override.type != OverrideType.CHANGE or isinstance(value, dict) or override.package is not None:
            return None
        path = tuple(key.split("."))
        node: Any = self.run
        for name in path:
            if not hasattr(node, name):
                return None
            node = getattr(node, name)
        if hasattr(node, "__dataclass_fields__"):  # a group, or a whole branch
            return None
        try:
            OmegaConf.update(self.tree, key, value)
            return path, _read(self.tree, key)
        except COMPOSITION_ERRORS:
            return None


def _read(tree: DictConfig, key: str) -> Any:
    value = OmegaConf.select(tree, key)
    return OmegaConf.to_object(value) if OmegaConf.is_config(value) else value


def _interpolates(tree: DictConfig) -> bool:
    """Return whether any value is computed from others, except the experiment's name and variants (never swept)."""
    values = OmegaConf.to_container(tree, resolve=False)
    assert isinstance(values, dict)
    return any(
        "${" in text
        for name, value in values.items()
        if name not in ("hydra", "experiment", "variants")
        for text in _texts(value)
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []
