"""Hydra plugin that adds the ``configs/`` folders of extensions to the search path of every composition."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class ExtensionsSearchPath(SearchPathPlugin):
    """Append the ``configs/`` folder of each extension, after ours."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders; called by Hydra."""
        from sparseid.extensions import packages

        for extension in packages()[1:]:
            if extension.configs.is_dir():
                search_path.append(extension.package, f"file://{extension.configs}")
