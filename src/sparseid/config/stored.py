"""Reading of stored configurations: the config.yaml of a run folder, and the one of a queued job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from sparseid.config.choices import dotted_keys
from sparseid.config.components import FOLDERS, component_names, settings_class
from sparseid.config.messages import COMPOSITION_ERRORS
from sparseid.config.schema import SCHEMA_VERSION, RunConfig
from sparseid.errors import ConfigError, InputError
from sparseid.spelling import did_you_mean
from sparseid.text import read_text

ASK_AGAIN = "start the run again (the folder's name contains its name); the older folder stays unchanged"


def load_run_config(path: Path) -> RunConfig:
    """Read the config.yaml of a run folder.

    Parameters
    ----------
    path
        The file, or the run folder that contains it.

    Raises
    ------
    ConfigError
        If the file is missing, unreadable or has another schema version; the message names the remedy.
    """
    path = path / "config.yaml" if path.is_dir() else path
    try:
        text = read_text(path)
    except InputError as error:
        raise ConfigError(f"the configuration of a run cannot be read: {error}", source=str(path)) from error
    return parse_run_config(text, str(path))


def parse_run_config(text: str, source: str) -> RunConfig:
    """Parse the YAML of `schema.run_config_text`.

    Parameters
    ----------
    text
        The YAML.
    source
        Source of the text, for error messages.

    Raises
    ------
    ConfigError
        If the text is not a configuration or has another schema version; the message names the remedy.
    """
    values = _read(text, source)
    version = values.get("schema")
    if version != SCHEMA_VERSION:
        raise ConfigError(
            f"the configuration was written with schema version {version}; this code reads version {SCHEMA_VERSION}",
            source=source,
            hint=f"check out the commit in the folder's environment.json to use it, or {ASK_AGAIN}",
        )
    tree = OmegaConf.structured(RunConfig)
    for group in FOLDERS:
        settings = values.get(group)
        name = settings.get("name") if isinstance(settings, dict) else None
        if name not in (names := component_names(group)):
            raise ConfigError(f"{group}.name is {name!r}", source=source, hint=f"{group} can be: {', '.join(names)}")
        tree[group] = OmegaConf.structured(settings_class(group, name))
    _refuse_unknown(values, source)
    try:
        run = OmegaConf.to_object(OmegaConf.merge(tree, values))
    except COMPOSITION_ERRORS as error:
        key = getattr(error, "full_key", None)
        raise ConfigError(f"{key}: {str(error).splitlines()[0]}", source=source, hint=ASK_AGAIN) from error
    assert isinstance(run, RunConfig)
    return run


def _read(text: str, source: str) -> dict[str, Any]:
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"the configuration of a run cannot be read: {error}", source=source) from error
    if not isinstance(values, dict):
        raise ConfigError("the configuration of a run is empty or not a mapping", source=source, hint=ASK_AGAIN)
    return values


def _refuse_unknown(values: dict[str, Any], source: str) -> None:
    known = set(dotted_keys(RunConfig))
    for group in FOLDERS:
        known.update(dotted_keys(settings_class(group, values[group]["name"]), f"{group}."))
    for key in _dotted(values):
        if key not in known:
            raise ConfigError(
                f"unknown key {key}: other code of schema version {values['schema']} wrote the configuration",
                source=source,
                hint="\n".join(filter(None, [did_you_mean(key, known), ASK_AGAIN])),
            )


def _dotted(values: dict[str, Any], prefix: str = "") -> list[str]:
    keys = []
    for key, value in values.items():
        keys.append(f"{prefix}{key}")
        if isinstance(value, dict):
            keys.extend(_dotted(value, f"{prefix}{key}."))
    return keys
