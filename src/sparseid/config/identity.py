"""Identity of a run: the settings that determine its results, its hash, its keys in a table and its folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from sparseid.config.schema import RunConfig

HASH_LENGTH = 8
"""Number of hex digits of a run's hash."""

LISTED_SEEDS = 5
"""Maximum number of non-consecutive seeds that are listed in a run's name."""


LONGEST_NAME = 255 - len("..yaml.12345678.tmp")
"""Maximum number of bytes of a run's name: file systems take 255 in a name, and temporary files add the rest."""


def semantic_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return the settings that determine the results of a run, as nested plain values.

    These are ``method``, ``data``, ``seed`` and the semantic trainer fields, but not output folder, logger, preset or
    devices: ``trainer.batch_size`` is the sum over devices, so their type and number change rounding and noise, but not
    the recipe; rows name them. Fields at their schema's default are omitted, so that a later version may add fields
    without changing the hash of every earlier run. The seeds of a stack replace the seed. User-provided files enter
    with their content.
    """
    return recipe_settings(cfg) | ({"seeds": list(cfg.seeds)} if cfg.seeds else {"seed": cfg.seed})


def recipe_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return the semantic settings without the seed: they are equal for all seeds of an entry."""
    marked = {field.name for field in dataclasses.fields(cfg.trainer) if field.metadata.get("semantic")}
    trainer = _beyond_defaults(cfg.trainer)
    return {
        "method": _beyond_defaults(cfg.method) | {"name": cfg.method.name},
        "data": _beyond_defaults(cfg.data) | {"name": cfg.data.name} | _user_files(cfg.data),
        "trainer": {name: value for name, value in trainer.items() if name in marked},
    }


def recipe_hash(cfg: RunConfig) -> str:
    """Return the hash of `recipe_settings`; rows with the same hash differ only in their seed."""
    return settings_hash(recipe_settings(cfg))


def run_hash(cfg: RunConfig) -> str:
    """Return 8 hex digits of the SHA-256 of the semantic settings, independent of how they were written."""
    return settings_hash(semantic_settings(cfg))


def settings_hash(settings: dict[str, Any]) -> str:
    """Return the hash of nested plain values, independent of the order of keys and of int or float for whole numbers.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.
    """
    text = json.dumps(_canonical(settings), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def row_keys(cfg: RunConfig) -> dict[str, str | int | float]:
    """Return the row and column keys of a run's results in the paper's tables.

    The order is the first key of the data set, the keys of the method, the other keys of the data set.
    """
    keys: dict[str, str | int | float] = cfg.data.row_keys()
    first = next(iter(keys))
    return {first: keys[first]} | cfg.method.row_keys(cfg.data) | keys


def run_name(cfg: RunConfig, longest: int = LONGEST_NAME) -> str:
    """Return the readable and unique name of a run, for example ``digitcircle-sparling_mt-seed0-1a2b3c4d``.

    Above `longest` bytes (UTF-8) its readable part is cut; the hash still tells runs apart.
    """
    trial = [value if isinstance(value, str) else f"{key}{value}" for key, value in row_keys(cfg).items()]
    readable = "-".join([*trial, seeds_text(cfg)]).encode()[: longest - HASH_LENGTH - 1]
    return f"{readable.decode(errors='ignore')}-{run_hash(cfg)}"


def member_seeds(cfg: RunConfig) -> list[int]:
    """Return the seeds of a run's rows: those of its stack, or its own."""
    return list(cfg.seeds) or [cfg.seed]


def seeds_text(cfg: RunConfig) -> str:
    """Return a short text for the seeds of a run: ``seed3``, ``seeds0to9``, ``seeds1_4_7`` or ``12seeds``."""
    seeds = cfg.seeds
    if not seeds:
        return f"seed{cfg.seed}"
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"seeds{seeds[0]}to{seeds[-1]}"
    return "seeds" + "_".join(map(str, seeds)) if len(seeds) <= LISTED_SEEDS else f"{len(seeds)}seeds"


def run_directory(cfg: RunConfig) -> Path:
    """Return the folder of a run: ``<outputs>/<scale>/<paper>/<run name>``."""
    return Path(cfg.outputs) / cfg.scale / cfg.paper / run_name(cfg)


def _user_files(data: Any) -> dict[str, str]:
    """Return the digests of the user-provided files of a data set, by the setting that names them."""
    files = data.user_files()
    if not files:
        return {}
    from sparseid.data.cache import digest

    return {name: digest(path) for name, path in files.items()}


def _beyond_defaults(node: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their default, including nested ones."""
    settings = {}
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if field.metadata.get("file") and Path(value).is_file():  # the file's content counts, not its path
            value = hashlib.sha256(Path(value).read_bytes()).hexdigest()
        if dataclasses.is_dataclass(value):
            if inner := _beyond_defaults(value):
                settings[field.name] = inner
            continue
        factory = field.default_factory
        default = field.default if factory is dataclasses.MISSING else factory()
        if value != default:
            settings[field.name] = value
    return settings


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
