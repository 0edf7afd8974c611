"""The runs one command asks for: one, or every combination of the values it sweeps over, for each of its variants."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig

from sparseid.config.cells import compose_all
from sparseid.config.choices import SINGLE_GROUPS
from sparseid.config.compose import load, to_run_config
from sparseid.config.diagnose import parse, text_of
from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory
from sparseid.config.needs import needed_run, needed_settings
from sparseid.config.origin import Origins
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS


@dataclass(frozen=True)
class Cell:
    """One run of a plan.

    Attributes
    ----------
    overrides
        What composes it, for a Hydra launcher: ``("experiment=sparling/fig3", "seed=0")``.
    run
        Its checked configuration.
    variants
        Those that it belongs to; empty where there are none.
    """

    overrides: tuple[str, ...]
    run: RunConfig
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What one command runs.

    Attributes
    ----------
    cells
        The runs in order, all composed and checked. One that starts from the weights of another stands after it, also
        where nobody has asked for that.
    swept
        The keys they differ in, led by ``variants`` if there are any; empty for a single run that no sweep asked for.
    tree
        The composition without swept values: Hydra's launchers read their settings from it.
    """

    cells: tuple[Cell, ...]
    swept: tuple[str, ...]
    tree: DictConfig


def plan(overrides: Sequence[str], configs: Path = CONFIGS) -> Plan:
    """Return the runs `overrides` ask for.

    A comma (``seed=0,1,2``) or ``range`` sweeps. So does a preset with ``hydra.mode: MULTIRUN`` over its
    ``hydra.sweeper.params``; values on the command line replace the preset's, ``hydra.mode=RUN`` asks for one run. Each
    text of ``variants`` is a sweep of its own: its values take the place of the swept ones.

    Raises
    ------
    ConfigError
        If anything is wrong with any of the runs, or a sweep is over what decides which settings there are.
    """
    origins = Origins(overrides, configs)
    typed = parse(origins.overrides, origins)
    for override in typed:
        _refuse_sweep(override, origins)
    swept = [override for override in typed if override.is_sweep_override()]
    tree = load(Origins([text_of(override) for override in typed if override not in swept], configs))
    sweeps = _sweeps(tree, typed, swept, origins)
    preset = _preset_sweep(tree, configs) if sweeps else []
    variants = _variants(tree, typed, origins) if sweeps else {}
    if not preset and not swept and not variants:
        texts = tuple(text_of(override) for override in typed if not override.is_hydra_override())
        alone = Cell(texts, replace(to_run_config(tree, origins), variants=[]))
        with_source = with_needed([alone])
        return Plan(with_source, () if len(with_source) == 1 else ("method.training",), tree)

    axes: dict[str, list[str]] = {}
    for override in [*preset, *typed]:
        if not override.is_hydra_override():
            axes[override.key_or_group] = _texts(override)
    # Only what no typed value replaced is the preset's.
    replaced = {override.key_or_group for override in typed}
    from_preset = [text for override in preset if override.key_or_group not in replaced for text in _texts(override)]
    from_variants = [text for own in variants.values() for texts in own.values() for text in texts]
    for_hydra = [text_of(override) for override in typed if override.is_hydra_override()]

    def origins_of(combination: Sequence[str]) -> Origins:
        return Origins([*for_hydra, *combination], configs, from_preset, from_variants)

    wanted: dict[tuple[str, ...], list[str]] = {}  # overrides of a run -> variants that share it
    for variant, own in (variants or {"": {}}).items():
        for combination in _combinations(axes | own, _pairs(tree, axes | own, origins)):
            wanted.setdefault(combination, []).extend([variant] if variants else [])
    runs = compose_all(list(wanted), origins_of)
    cells = [
        Cell(texts, replace(run, variants=[]), tuple(names))  # it is one of them, and has none of its own
        for (texts, names), run in zip(wanted.items(), runs, strict=True)
    ]
    keys = dict.fromkeys(override.key_or_group for override in [*preset, *swept])
    return Plan(with_needed(cells), (*(["variants"] if variants else []), *keys), tree)


def with_needed(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells, each after the one whose weights it starts from; that one is added where it is missing."""
    sources = [needed_run(cell.run) for cell in cells]
    if not any(sources):
        return tuple(cells)
    asked = {run_directory(cell.run): cell for cell in cells}
    ordered: dict[Path, Cell] = {}
    for cell, source in zip(cells, sources, strict=True):
        if source is not None:
            changes = tuple(f"{key}={value}" for key, value in needed_settings(cell.run).items())
            folder = run_directory(source)
            added = Cell((*cell.overrides, *changes), source, cell.variants)
            ordered.setdefault(folder, asked.get(folder, added))
        ordered.setdefault(run_directory(cell.run), cell)
    return tuple(ordered.values())


def _variants(tree: DictConfig, typed: list[Override], origins: Origins) -> dict[str, dict[str, list[str]]]:
    """Return each text of ``variants`` with the axes that it adds or replaces: key -> single-valued overrides.

    Raises
    ------
    ConfigError
        If a variant cannot be read, sets what all runs of a command share, or what is typed beside it.
    """
    keys_typed = {override.key_or_group: text_of(override) for override in typed}
    found: dict[str, dict[str, list[str]]] = {}
    for text in tree.variants:
        if not isinstance(text, str):
            hint = 'list overrides as they are typed, "" for none: ["", "data.canvas=48 seed=1"]'
            raise ConfigError(f"variants: {text} is no text", source=origins.of("variants"), hint=hint)
        words = text.split()
        of_variant = Origins(words, origins.configs, varied=words)
        axes = found.setdefault(" ".join(words), {})
        for override in parse(words, of_variant):
            key = override.key_or_group
            if override.is_hydra_override() or key in (*SINGLE_GROUPS, "paired", "variants"):
                problem, hint = f"all runs of a command share {key}", "leave it out of the variants"
                raise ConfigError(problem, source=of_variant.describe(text_of(override)), hint=hint)
            _refuse_sweep(override, of_variant)
            if key in keys_typed:
                raise ConfigError(
                    f"{key} is what the variant {' '.join(words)!r} sets",
                    source=origins.describe(keys_typed[key]),
                    hint="leave one of them out; variants=[] leaves all variants out",
                )
            axes[key] = _texts(override)
    return found


def _combinations(axes: dict[str, list[str]], pairs: list[list[str]]) -> list[tuple[str, ...]]:
    """Return the overrides of every cell: the product of the axes, where the keys of a pair are one axis."""
    leader = {key: pair for pair in pairs for key in pair}
    columns = []
    for key, texts in axes.items():
        pair = leader.get(key, [key])
        if pair[0] == key:  # the others of a pair stand beside its first one
            columns.append(
                [*zip(*(axes[other] for other in pair), strict=True)] if len(pair) > 1 else [(t,) for t in texts]
            )
    combinations = (tuple(itertools.chain.from_iterable(parts)) for parts in itertools.product(*columns))
    return list(dict.fromkeys(combinations))  # seed=0,0 asks for one run


def _pairs(tree: DictConfig, axes: dict[str, list[str]], origins: Origins) -> list[list[str]]:
    """Return ``paired`` with the keys of each group in the order of the axes.

    Raises
    ------
    ConfigError
        If a key is not swept, is in two groups, or has more values than its partners.
    """
    groups = [list(group) for group in tree.paired]
    named = [key for group in groups for key in group]
    for group in groups:
        lengths = {key: len(axes.get(key, [])) for key in group}
        if unswept := [key for key in group if lengths[key] == 0]:
            problem, hint = f"{', '.join(unswept)} is not swept", f"give it values ({unswept[0]}=a,b) or leave it out"
        elif len(set(lengths.values())) > 1:
            counts = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            problem, hint = f"keys that advance together need equally many values: {counts}", "add or remove values"
        elif len(group) < 2 or any(named.count(key) > 1 for key in group):
            problem, hint = f"{group} is no pair", "name two keys or more, each in one group: paired=[[a,b],[c,d]]"
        else:
            continue
        raise ConfigError(f"paired: {problem}", source=origins.of("paired"), hint=hint)
    return [[key for key in axes if key in group] for group in groups]


def _sweeps(tree: DictConfig, typed: list[Override], swept: list[Override], origins: Origins) -> bool:
    """Whether to sweep: the preset, a value or variants say so; refuse to where ``hydra.mode=RUN`` was typed."""
    if tree.hydra.mode == RunMode.MULTIRUN:
        return True
    one_run = any(override.key_or_group == "hydra.mode" for override in typed)
    asked = [*swept, *(override for override in typed if override.key_or_group == "variants" and tree.variants)]
    if asked and one_run:
        text = text_of(asked[0])
        hint = "leave one of them out"
        raise ConfigError(
            f"{text} asks for several runs, hydra.mode=RUN for one", source=origins.describe(text), hint=hint
        )
    return bool(asked or tree.variants) and not one_run


def _preset_sweep(tree: DictConfig, configs: Path) -> list[Override]:
    """The axes of ``hydra.sweeper.params``."""
    texts = [f"{key}={values}" for key, values in (tree.hydra.sweeper.params or {}).items()]
    origins = Origins(texts, configs, texts)
    parsed = parse(texts, origins)
    for override in parsed:
        _refuse_sweep(override, origins)
    return parsed


def _texts(override: Override) -> list[str]:
    """The single-valued overrides an override stands for."""
    if not override.is_sweep_override():
        return [text_of(override)]
    prefix = text_of(override)[: text_of(override).index(override.key_or_group)]  # + or ++
    return [f"{prefix}{override.get_key_element().lstrip('+')}={value}" for value in override.sweep_string_iterator()]


def _refuse_sweep(override: Override, origins: Origins) -> None:
    """Refuse sweeps that Hydra would misread, with the commands to use instead."""
    if not override.is_sweep_override():
        return
    key, text = override.key_or_group, text_of(override)
    if not override.is_discrete_sweep():
        hint = f"list the values: {key}=a,b,c"
        raise ConfigError(f"{text} has no finite list of values", source=origins.describe(text), hint=hint)
    if override.is_hydra_override():
        hint = "write the swept key itself, for example seed=0,1,2"
        raise ConfigError(f"{text} sweeps over a setting of Hydra", source=origins.describe(text), hint=hint)
    if key in SINGLE_GROUPS:
        others = [other for other in origins.overrides if other != text]
        commands = [" ".join(["python run.py", single, *others]) for single in _texts(override)]
        raise ConfigError(
            f"one command has one {key}: each choice brings settings of its own",
            source=origins.describe(text),
            hint="\n".join(["run them one after the other:", *(f"  {command}" for command in commands)]),
        )
