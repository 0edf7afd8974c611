"""Hydra's search path: the folders of YAML files, in the order in which Hydra searches them.

These are ours, those of extensions, ``--config-dir`` and ``hydra.searchpath``. If several folders have a file, the
first one is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from sparseid.errors import ConfigError
from sparseid.extensions import packages
from sparseid.homes import expanded
from sparseid.project import CONFIGS

KEY = "hydra.searchpath"


def config_folders(configs: Path = CONFIGS, overrides: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the folders that are searched for YAML files.

    Parameters
    ----------
    configs
        The first folder: ours, or a copy of it.
    overrides
        Overrides of the command line, which may set ``hydra.searchpath``.

    Raises
    ------
    InputError
        If a folder of ``hydra.searchpath`` does not exist or an extension cannot be used.
    """
    of_extensions = [extension.configs for extension in packages()[1:] if extension.configs.is_dir()]
    return (configs, *of_extensions, *map(_folder, _searched(overrides)))


def config_file(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the file that Hydra loads for a name such as ``experiment/digitcircle``, or None."""
    return next((path for folder in folders if (path := folder / f"{name}.yaml").is_file()), None)


def yaml_files(folder: Path) -> list[Path]:
    """Return the YAML files of a folder and of those below it, sorted, without hidden files and folders."""
    found = ((path, path.relative_to(folder).parts) for path in folder.rglob("*.yaml"))
    return sorted(path for path, parts in found if not any(part.startswith(".") for part in parts))


def with_config_dir(overrides: Sequence[str], folder: str) -> list[str]:
    """Return the overrides with `folder` prepended to their ``hydra.searchpath``, like Hydra's ``--config-dir``.

    Raises
    ------
    ConfigError
        If the folder does not exist or contains none of the groups of configurations.
    """
    path, source = Path(expanded(folder)).resolve(), f"command line: --config-dir {folder}"
    if not path.is_dir():
        raise ConfigError(f"{folder} is not a folder", source=source)
    _require_groups(path, source)
    quoted = [repr(element) for element in (f"file://{path}", *_searched(overrides))]
    return [f"{KEY}=[{','.join(quoted)}]", *(text for text in overrides if not sets_search_path(text))]


def sets_search_path(override: str) -> bool:
    """Return whether an override sets ``hydra.searchpath``."""
    return override.lstrip("+").partition("=")[0] == KEY


def _searched(overrides: Sequence[str]) -> list[str]:
    """Return the elements of the first ``hydra.searchpath``, the only one that Hydra reads."""
    text = next(filter(sets_search_path, overrides), None)
    if text is None:
        return []
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    try:
        value = OverridesParser.create().parse_override(text).value()
    except OverrideParseException:
        value = None
    if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
        raise ConfigError(
            f"{KEY} must be a list of folders and packages",
            source=f"command line: {text}",
            hint=f"for example '{KEY}=[file:///home/me/presets,pkg://my_package.configs]'",
        )
    return value


def _require_groups(folder: Path, source: str) -> None:
    """Refuse a folder of the search path that Hydra would find nothing in, such as one of a group's files."""
    groups = sorted(path.name for path in CONFIGS.iterdir() if path.is_dir())
    if not any((folder / group).is_dir() for group in groups):
        hint = f"name the folder above them: {folder.parent}" if folder.name in groups else ""
        raise ConfigError(f"{folder} contains none of the folders {', '.join(groups)}", source=source, hint=hint)


def _folder(element: str) -> Path:
    """Return the folder of an element of the search path: a path, ``file://<path>`` or ``pkg://<package>``.

    Raises
    ------
    ConfigError
        If the folder or package does not exist, or contains none of the groups of configurations.
    """
    scheme, _, rest = element.rpartition("://")
    problem = "is not a folder"
    if scheme in ("", "file") and (path := Path(expanded(rest))).is_dir():
        _require_groups(path.resolve(), f"command line: {KEY}")
        return path.resolve()
    if scheme == "pkg":
        problem = "is not a package with an __init__.py"  # Hydra requires one
        try:
            spec = find_spec(rest.replace("/", ".").rstrip("."))
        except (ImportError, ValueError) as error:
            spec, problem = None, f"cannot be imported: {error}"
        if spec is not None and spec.origin and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0])
    raise ConfigError(f"{element} {problem}", source=f"command line: {KEY}")
