"""YAML files as Hydra reads them, with or without a byte order mark, named in every error."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TextIO

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigLoadError, ConfigResult
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf._utils import get_yaml_loader  # the numbers of OmegaConf are not those of YAML

from sparseid.config.defaults_list import check_defaults_list
from sparseid.config.texts import keep_texts
from sparseid.errors import ConfigError
from sparseid.homes import expanded
from sparseid.text import read_text

SPACES = str.maketrans("\x85\u2028\u2029", "   ")
"""PyYAML ends lines, and so comments, at these characters, unlike editors: the rest would become a setting."""


class TextFileSource(FileConfigSource):
    """Hydra's source of a folder of YAML files; it reads them as we read all text.

    Hydra's own takes a byte order mark for the beginning of the first line, and so overlooks ``# @package _global_``.
    """

    def __init__(self, provider: str, path: str) -> None:
        super().__init__(provider, path)
        self.path = expanded(self.path)

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the content of a file.

        Raises
        ------
        InputError
            If it is not UTF-8, or nested too deeply.
        DefaultsListError
            If its defaults list has a mistake.
        """
        path = Path(self.path, self._normalize_file_name(config_path)).resolve()
        if not path.is_file():
            raise ConfigLoadError(f"Config not found : {path}")
        text = read_text(path).translate(SPACES)
        stream = io.StringIO(text)
        stream.name = str(path)  # for PyYAML's messages
        group = config_path.rpartition("/")[0]
        header = self._get_header_dict(text[:512])
        package = (header.get("package") or "_group_").replace("_group_", group.replace("/", "."))
        try:
            config = _load(stream, package.removeprefix("_global_"))
        except RecursionError as error:
            raise ConfigError("its brackets or lists are nested too deeply", source=str(path)) from error
        check_defaults_list(path, group, OmegaConf.to_container(config, resolve=False), text)
        return ConfigResult(
            provider=self.provider,
            path=self.full_path(),
            config=config,
            header=header,
        )


def _load(stream: TextIO, package: str) -> DictConfig | ListConfig:
    """Return what `OmegaConf.load` does, except that settings of type text keep the text of their values."""
    loader = get_yaml_loader()(stream)
    try:
        node = loader.get_single_node()
        keep_texts(node, package)
        return OmegaConf.create(loader.construct_document(node) if node else {})
    finally:
        loader.dispose()


def use_text_files() -> None:
    """Let Hydra read the files of every folder with `TextFileSource`; it has no other way to choose its source."""
    Plugins.instance()  # registers Hydra's own first
    SourcesRegistry.instance().types[FileConfigSource.scheme()] = TextFileSource
