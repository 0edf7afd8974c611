"""Origin of a setting: the command-line override or the file that set it last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode

from sparseid.config.search_path import config_file, config_folders


@cache  # a sweep repeats the same overrides
def parse_override(text: str) -> Override:
    """Parse an override with Hydra's grammar, or raise OverrideParseException."""
    return OverridesParser.create().parse_overrides([text])[0]


class Origins:
    """Origins of the settings of one composition, looked up only when an error has to name them.

    Parameters
    ----------
    overrides
        Overrides of the composition, in order.
    configs
        Our folder of YAML files.
    swept, varied
        Those of `overrides` that a preset's own sweep or a variant added.
    """

    def __init__(
        self, overrides: Sequence[str], configs: Path, swept: Sequence[str] = (), varied: Sequence[str] = ()
    ) -> None:
        self.overrides, self.configs = list(overrides), configs
        self.swept, self.varied = set(swept), set(varied)

    def of(self, key: str) -> str:
        """Return the source that set `key` last, for example ``command line: seed=3`` or ``configs/data/gtex.yaml``."""
        return self.override(key) or self.file(key)

    def override(self, key: str) -> str:
        """Return the last override of `key`, or an empty string."""
        for text in reversed(self.overrides):
            parsed = parse_override(text)
            # An override may set several values, as in method.encoder={width: 3}; trainer=ddp only selects a file
            several = isinstance(parsed.value(), dict) and key.startswith(f"{parsed.key_or_group}.")
            if several or parsed.key_or_group == key:
                return self.describe(text)
        return ""

    def describe(self, text: str) -> str:
        """Return the override `text` with its source: the command line, a variant or a preset's sweep."""
        if text in self.varied:
            return f"variants: {text}"
        return f"hydra.sweeper.params of the preset: {text}" if text in self.swept else f"command line: {text}"

    def file(self, key: str) -> str:
        """Return the file that sets `key` last, or an empty string."""
        for path, package in reversed(self._files):
            inner = key if not package else key.removeprefix(f"{package}.") if key.startswith(f"{package}.") else None
            if inner is not None and _has(yaml.safe_load(path.read_text()), inner.split(".")):
                return self.shown(path)
        return ""

    def shown(self, path: Path) -> str:
        """Return `path` as messages show it: ``configs/experiment/digitcircle.yaml``, elsewhere the whole path."""
        if path.is_relative_to(self.configs):
            path = Path(self.configs.name) / path.relative_to(self.configs)
        return path.as_posix()

    def named(self, name: str) -> str:
        """Return the file of one of Hydra's names (``experiment/digitcircle``) as messages show it."""
        return self.shown(config_file(name, self.folders) or self.configs / f"{name}.yaml")

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """Search path of the composition."""
        return config_folders(self.configs, self.overrides)

    @cached_property
    def _files(self) -> list[tuple[Path, str]]:
        """Merged files in order, each with the package that its keys are relative to."""
        with initialize_config_dir(str(self.configs), version_base="1.3"):
            loader = GlobalHydra.instance().config_loader()
            merged = loader.compute_defaults_list("config", self.overrides, RunMode.RUN).defaults
        files = [(config_file(entry.config_path or "", self.folders), entry.package or "") for entry in merged]
        return [(path, "" if package == "_global_" else package) for path, package in files if path is not None]


def _has(values: Any, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
