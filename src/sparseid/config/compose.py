"""Composition of overrides into one typed, complete and valid configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from sparseid.config.choices import PICKED_GROUPS, choices
from sparseid.config.components import BASES, FOLDERS, settings_classes
from sparseid.config.files import use_text_files
from sparseid.config.messages import COMPOSITION_ERRORS, Origins, diagnose, parse, text_of, unknown_key
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS
from sparseid.config.validate import papers, problems
from sparseid.errors import ConfigError
from sparseid.extensions import Extension, packages
from sparseid.spelling import did_you_mean

ROOT = "config"
"""Primary configuration file: ``configs/config.yaml``."""


@cache  # it takes a sixth of a composition
def register_schemas(extensions: tuple[Extension, ...]) -> None:
    """Register the settings classes of all packages with Hydra: ``schema`` (the root), ``schema/<group>/<choice>``."""
    store = ConfigStore.instance()
    store.store("schema", RunConfig)
    for group in FOLDERS:
        for choice, schema in settings_classes(group).items():
            store.store(choice, schema, group=f"schema/{group}")


def compose(overrides: Sequence[str] = (), configs: Path = CONFIGS) -> RunConfig:
    """Compose, type and validate the configuration of one run.

    Parameters
    ----------
    overrides
        Arguments of ``run.py`` without sweeps: ``["experiment=digitcircle", "scale=smoke", "seed=3"]``.
    configs
        The folder of YAML files.

    Returns
    -------
    RunConfig
        Resolved configuration; ``method`` and ``data`` are instances of the selected components' dataclasses.

    Raises
    ------
    ConfigError
        For unknown, mistyped, missing or invalid settings; the message is ready to print.

    Examples
    --------
    >>> cfg = compose(["experiment=digitcircle", "scale=smoke", "seed=3"])
    >>> cfg.method.name, cfg.data.name, cfg.seed
    ('sparling', 'digit_circle', 3)
    """
    origins = Origins(overrides, configs)
    return to_run_config(load(origins), origins)


def load(origins: Origins) -> DictConfig:
    """Compose with Hydra; the result still has Hydra's own node (``hydra``) and missing values.

    Raises
    ------
    ConfigError
        For any error of Hydra.
    """
    overrides = parse(origins.overrides, origins)
    for override in overrides:
        _refuse_override(override, origins)
    if not (origins.configs / f"{ROOT}.yaml").is_file():
        raise ConfigError(f"{origins.configs / ROOT}.yaml does not exist")
    register_schemas(packages())
    use_text_files()
    _ = origins.folders  # raises for missing folders, of which Hydra only warns
    try:
        with initialize_config_dir(str(origins.configs), job_name="sparseid", version_base="1.3"):
            tree = hydra_compose(ROOT, overrides=[*map(text_of, overrides)], return_hydra_config=True)
    except COMPOSITION_ERRORS as error:
        raise diagnose(error, origins) from error
    except RecursionError as error:
        raise ConfigError("the brackets or lists of a setting are nested too deeply") from error
    HydraConfig.instance().set_config(tree)  # read by ${hydra:...}
    return tree


def _refuse_override(override: Override, origins: Origins) -> None:
    """Refuse overrides for which Hydra would compose an invalid run or report an obscure error."""
    key, text = override.key_or_group, text_of(override)
    if override.is_delete() and not override.is_hydra_override():
        problem, hint = f"{text} removes a setting that every run needs", "give it a value instead"
    elif key in PICKED_GROUPS and override.is_add():
        problem, hint = f"{key} is already selected", f"write {key}=... without +"
    elif key in PICKED_GROUPS and not override.is_sweep_override() and not isinstance(override.value(), str):
        problem, hint = f"{text} selects no {key}", f"{key} can be: {', '.join(choices(key, origins.folders))}"
    elif key == "paper" and not override.is_sweep_override() and (value := override.value()) not in papers():
        listing = f"papers: {', '.join(papers())}; a preset of your own may have another name in its file"
        problem, hint = f"{text} is not a paper", "\n".join(filter(None, [did_you_mean(str(value), papers()), listing]))
    else:
        return
    raise ConfigError(problem, source=origins.describe(text), hint=hint)


def to_run_config(tree: DictConfig, origins: Origins) -> RunConfig:
    """Convert a composed tree to the typed configuration and validate it.

    Raises
    ------
    ConfigError
        For keys outside the schema, missing values and invalid combinations.
    """
    tree = tree.copy()
    OmegaConf.set_struct(tree, False)
    tree.pop("hydra", None)
    for group, base in BASES.items():
        node = tree.get(group) if not OmegaConf.is_missing(tree, group) else None
        if not issubclass(OmegaConf.get_type(node) or object, base):
            raise _untyped_group(group, node, origins)
    for key in _keys_outside_schema(tree):
        raise unknown_key(key, origins.of(key))
    try:
        if missing := sorted(OmegaConf.missing_keys(tree)):
            raise _missing_values(missing, origins)
        run = OmegaConf.to_object(tree)
    except COMPOSITION_ERRORS as error:
        raise diagnose(error, origins) from error
    assert isinstance(run, RunConfig)
    found = [
        (problem, [f"{key} = {_value(run, key)}  ({origins.of(key) or 'default'})" for key in problem.keys])
        for problem in problems(run)
    ]
    if found:
        raise ConfigError("\n  ".join("\n    ".join([problem.text, *settings]) for problem, settings in found))
    return run


def _keys_outside_schema(node: Any, prefix: str = "") -> Iterator[str]:
    """Yield keys that ``+key=value`` added to the fields of a dataclass: OmegaConf accepts them silently."""
    if not isinstance(node, DictConfig) or node._is_none():
        return
    schema = OmegaConf.get_type(node)
    fields = {field.name for field in dataclasses.fields(schema)} if dataclasses.is_dataclass(schema) else None
    for key in node:
        name = f"{prefix}{key!s}"
        if fields is not None and key not in fields:
            yield name
        elif not OmegaConf.is_missing(node, key):
            yield from _keys_outside_schema(node._get_node(key), f"{name}.")


def _untyped_group(group: str, node: Any, origins: Origins) -> ConfigError:
    source = origins.of(group)
    if node is None:
        hint = f"write {group}=<name>; python run.py --help lists them"
        return ConfigError(f"no {group} is selected", source=source, hint=hint)
    name = node.get("name") if isinstance(node, DictConfig) else node
    place = f"{FOLDERS[group]}/{name}/settings.py"
    hint = f"begin its defaults list with /schema/{group}/{name}@_here_ and define its settings in {place}"
    return ConfigError(f"{group} {name!r} has no schema", source=source, hint=hint)


def _missing_values(missing: list[str], origins: Origins) -> ConfigError:
    experiment = origins.override("experiment") or "the experiment"
    return ConfigError(
        f"no value for {', '.join(missing)}",
        source=origins.override(missing[0]),
        hint=f"write {missing[0]}=<value>, or set it in the preset of {experiment.removeprefix('command line: ')}",
    )


def _value(run: RunConfig, key: str) -> Any:
    value: Any = run
    for part in key.split("."):
        value = getattr(value, part)
    return value
