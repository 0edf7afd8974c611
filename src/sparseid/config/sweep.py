"""Runs of one command: a single one, or every combination of swept values for each variant."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig

from sparseid.config.choices import SINGLE_GROUPS
from sparseid.config.compose import load, to_run_config
from sparseid.config.identity import run_directory
from sparseid.config.messages import Origins, parse, text_of
from sparseid.config.parents import parent_run
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS
from sparseid.config.trials import Template, compose_all
from sparseid.errors import ConfigError


@dataclass(frozen=True)
class Trial:
    """One run of a plan.

    Attributes
    ----------
    overrides
        Overrides that compose it, for a Hydra launcher: ``("experiment=sparling/fig3", "seed=0")``.
    run
        Validated configuration.
    variants
        Variants that the run belongs to; empty without variants.
    """

    overrides: tuple[str, ...]
    run: RunConfig
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Runs of one command.

    Attributes
    ----------
    trials
        Runs in order, all composed and validated. A parent run precedes the runs that start from its weights, and is
        added if the command does not contain it.
    swept
        Swept keys, beginning with ``variants`` if there are any; empty for a single run without a sweep.
    tree
        Composition without swept values, from which Hydra's launchers read their settings.
    """

    trials: tuple[Trial, ...]
    swept: tuple[str, ...]
    tree: DictConfig


def plan(overrides: Sequence[str], configs: Path = CONFIGS) -> Plan:
    """Return the runs of a command.

    A comma (``seed=0,1,2``) or ``range`` requests a sweep, as does a preset with ``hydra.mode: MULTIRUN`` over its
    ``hydra.sweeper.params``. Values on the command line replace the preset's; ``hydra.mode=RUN`` requests one run. Each
    text of ``variants`` is a separate sweep whose values replace the swept ones.

    Raises
    ------
    ConfigError
        If any of the runs is invalid, or if the sweep is over a group that determines the available settings.
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
        alone = Trial(texts, replace(to_run_config(tree, origins), variants=[]))
        with_source = with_parents([alone])
        return Plan(with_source, () if len(with_source) == 1 else ("method.training",), tree)

    axes: dict[str, list[str]] = {}
    for override in [*preset, *typed]:
        if not override.is_hydra_override():
            axes[override.key_or_group] = _texts(override)
    # Values that the command line replaced are not the preset's.
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
    fixed = tuple(text_of(override) for override in typed if override not in swept and not override.is_hydra_override())
    runs = compose_all(list(wanted), origins_of, _template(tree.copy(), origins, fixed))
    trials = [
        Trial(texts, replace(run, variants=[]), tuple(names))  # a run of a variant has no variants of its own
        for (texts, names), run in zip(wanted.items(), runs, strict=True)
    ]
    keys = dict.fromkeys(override.key_or_group for override in [*preset, *swept])
    return Plan(with_parents(trials), (*(["variants"] if variants else []), *keys), tree)


def _template(tree: DictConfig, origins: Origins, texts: tuple[str, ...]) -> Template | None:
    """Return the composition without swept values as a template; None if it is no valid run."""
    try:
        return Template(tree, to_run_config(tree, origins), texts)
    except ConfigError:
        return None


def with_parents(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return the runs, each preceded by its parent run, which is added if it is missing."""
    sources = [parent_run(trial.run) for trial in trials]
    if not any(sources):
        return tuple(trials)
    asked = {run_directory(trial.run): trial for trial in trials}
    ordered: dict[Path, Trial] = {}
    for trial, source in zip(trials, sources, strict=True):
        if source is not None:
            changes = tuple(f"{key}={value}" for key, value in trial.run.method.parent_run(trial.run).items())
            folder = run_directory(source)
            added = Trial((*trial.overrides, *changes), source, trial.variants)
            ordered.setdefault(folder, asked.get(folder, added))
        ordered.setdefault(run_directory(trial.run), trial)
    return tuple(ordered.values())


def _variants(tree: DictConfig, typed: list[Override], origins: Origins) -> dict[str, dict[str, list[str]]]:
    """Return the axes that each text of ``variants`` adds or replaces: key -> single-valued overrides.

    Raises
    ------
    ConfigError
        If a variant is unreadable, or sets a key that all runs of a command share or that is also typed.
    """
    keys_typed = {override.key_or_group: text_of(override) for override in typed}
    found: dict[str, dict[str, list[str]]] = {}
    for text in tree.variants:
        if not isinstance(text, str):
            hint = 'list overrides as they are typed, "" for no change: ["", "data.canvas=48 seed=1"]'
            raise ConfigError(f"variants: {text} is not a text", source=origins.of("variants"), hint=hint)
        words = text.split()
        of_variant = Origins(words, origins.configs, varied=words)
        axes = found.setdefault(" ".join(words), {})
        for override in parse(words, of_variant):
            key = override.key_or_group
            if override.is_hydra_override() or key in (*SINGLE_GROUPS, "paired", "variants"):
                problem, hint = f"all runs of a command share {key}", "remove it from the variants"
                raise ConfigError(problem, source=of_variant.describe(text_of(override)), hint=hint)
            _refuse_sweep(override, of_variant)
            if key in keys_typed:
                raise ConfigError(
                    f"{key} is also set by the variant {' '.join(words)!r}",
                    source=origins.describe(keys_typed[key]),
                    hint="remove one of them; variants=[] removes all variants",
                )
            axes[key] = _texts(override)
    return found


def _combinations(axes: dict[str, list[str]], pairs: list[list[str]]) -> list[tuple[str, ...]]:
    """Return the overrides of every run: the product of the axes, with paired keys as one axis."""
    leader = {key: pair for pair in pairs for key in pair}
    columns = []
    for key, texts in axes.items():
        pair = leader.get(key, [key])
        if pair[0] == key:  # the other keys of a pair are added with its first one
            columns.append(
                [*zip(*(axes[other] for other in pair), strict=True)] if len(pair) > 1 else [(t,) for t in texts]
            )
    combinations = (tuple(itertools.chain.from_iterable(parts)) for parts in itertools.product(*columns))
    return list(dict.fromkeys(combinations))  # seed=0,0 is one run


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
            problem, hint = f"{', '.join(unswept)} is not swept", f"give it values ({unswept[0]}=a,b) or remove it"
        elif len(set(lengths.values())) > 1:
            counts = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            problem, hint = f"paired keys need the same number of values: {counts}", "add or remove values"
        elif len(group) < 2 or any(named.count(key) > 1 for key in group):
            problem, hint = f"{group} is not a pair", "name two keys or more, each in one group: paired=[[a,b],[c,d]]"
        else:
            continue
        raise ConfigError(f"paired: {problem}", source=origins.of("paired"), hint=hint)
    return [[key for key in axes if key in group] for group in groups]


def _sweeps(tree: DictConfig, typed: list[Override], swept: list[Override], origins: Origins) -> bool:
    """Return whether the preset, a value or variants request a sweep; refuse one if ``hydra.mode=RUN`` was typed."""
    if tree.hydra.mode == RunMode.MULTIRUN:
        return True
    one_run = any(override.key_or_group == "hydra.mode" for override in typed)
    asked = [*swept, *(override for override in typed if override.key_or_group == "variants" and tree.variants)]
    if asked and one_run:
        text = text_of(asked[0])
        hint = "remove one of them"
        raise ConfigError(f"{text} requests several runs, hydra.mode=RUN one", source=origins.describe(text), hint=hint)
    return bool(asked or tree.variants) and not one_run


def _preset_sweep(tree: DictConfig, configs: Path) -> list[Override]:
    """Return the axes of ``hydra.sweeper.params``."""
    texts = [f"{key}={values}" for key, values in (tree.hydra.sweeper.params or {}).items()]
    origins = Origins(texts, configs, texts)
    parsed = parse(texts, origins)
    for override in parsed:
        _refuse_sweep(override, origins)
    return parsed


def _texts(override: Override) -> list[str]:
    """Return the single-valued overrides that an override expands to."""
    if not override.is_sweep_override():
        return [text_of(override)]
    prefix = text_of(override)[: text_of(override).index(override.key_or_group)]  # + or ++
    return [f"{prefix}{override.get_key_element().lstrip('+')}={value}" for value in override.sweep_string_iterator()]


def _refuse_sweep(override: Override, origins: Origins) -> None:
    """Refuse sweeps that Hydra would misinterpret, and suggest commands to use instead."""
    if not override.is_sweep_override():
        return
    key, text = override.key_or_group, text_of(override)
    if not override.is_discrete_sweep():
        hint = f"list the values: {key}=a,b,c"
        raise ConfigError(f"{text} has no finite list of values", source=origins.describe(text), hint=hint)
    if override.is_hydra_override():
        hint = "sweep over the key itself, for example seed=0,1,2"
        raise ConfigError(f"{text} sweeps over a setting of Hydra", source=origins.describe(text), hint=hint)
    if key in SINGLE_GROUPS:
        others = [other for other in origins.overrides if other != text]
        commands = [" ".join(["python run.py", single, *others]) for single in _texts(override)]
        raise ConfigError(
            f"a command has one {key}: each choice has its own settings",
            source=origins.describe(text),
            hint="\n".join(["run the commands one after the other:", *(f"  {command}" for command in commands)]),
        )
