"""Messages about errors of a composition: the origin of a setting, and what Hydra or OmegaConf object to."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path

import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException, ValidationError

from sparseid.config.choices import PICKED_GROUPS, choices, dotted_keys, scales, settable_keys
from sparseid.config.components import FOLDERS
from sparseid.config.defaults_list import DefaultsListError
from sparseid.config.search_path import config_file, config_folders, yaml_files
from sparseid.config.texts import quoted
from sparseid.errors import ConfigError
from sparseid.extensions import unset_hint
from sparseid.spelling import did_you_mean
from sparseid.text import read_text

COMPOSITION_ERRORS = (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError)
"""Errors of a composition that the configuration causes (Hydra refuses some overrides with a bare ValueError)."""


ENTRY = re.compile(r"^\s*-\s+((?:\w+\s+)*)(/?[\w/]+)(?:@\S+)?:[ \t]+([^\s#]+)", re.MULTILINE)
"""An entry of a defaults list that selects a file of a group: words before it, group, choice."""


@cache  # a sweep repeats the same overrides
def parse_override(text: str) -> Override:
    """Parse an override with Hydra's grammar, or raise OverrideParseException; settings of type text keep theirs."""
    parser = OverridesParser.create()
    try:
        parsed = parser.parse_overrides([text])[0]
        as_text = quoted(text)
        return parsed if as_text == text else parser.parse_overrides([as_text])[0]
    except RecursionError as error:
        raise OverrideParseException(text, "its brackets are nested too deeply") from error


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
            if inner is not None and _has(yaml.safe_load(read_text(path, western=True)), inner.split(".")):
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


def _has(values: typing.Any, keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True


def diagnose(error: Exception, origins: Origins) -> ConfigError:
    """Return the message for an error raised by a composition.

    Parameters
    ----------
    error
        One of `COMPOSITION_ERRORS`.
    origins
        Origins of the composition's settings.
    """
    cause = _omegaconf_cause(error)
    text = str(error)
    if isinstance(error, DefaultsListError):
        return ConfigError(error.problem, source=f"{origins.shown(error.path)}, line {error.line}", hint=error.hint)
    if isinstance(error, OverrideParseException):
        return _unreadable(error.override, origins)
    if isinstance(error, MissingConfigException):
        return _missing_file(str(error.missing_cfg_file), origins)
    if isinstance(error, yaml.YAMLError):
        return ConfigError(f"a YAML file cannot be read: {text}")
    if isinstance(cause, ValidationError):
        return _wrong_type(cause, _source(text, cause.full_key or "", origins))
    if twice := re.search(r"Multiple values for (\S+)\. To override a value use 'override \S+: (.+)'", text):
        return _selected_twice(twice[1], twice[2], origins)
    if behind := re.search(r"In (\S+): Override '.+?' is defined before '(.+?)'", text):
        return _behind_an_override(behind[1], behind[2], origins)
    if appended := re.search(r"Could not append to config. An item is already at '(.+?)'", text):
        key = appended[1]
        return ConfigError(f"{key} already exists", source=origins.override(key), hint=f"write {key}=... without +")
    if unknown := re.search(r"Could not override '(.+?)'", text):
        # Either a group or a key does not exist: Hydra does not distinguish the two, and the user need not either.
        key = cause.full_key if cause is not None and cause.full_key else unknown[1]
        source = _source(text, unknown[1], origins)
        if package := re.fullmatch(r"([\w/]+)@(\w+)\.\1", key):
            problem = f"{package[1]} is selected for {package[2]}, not for the run"
            return ConfigError(problem, source=source, hint="begin the file with the line # @package _global_")
        return _misfit(key, source, origins) or _unknown_key(key, source, cause)
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key:
        source = _source(text, cause.full_key, origins)
        return _misfit(cause.full_key, source, origins) or _unknown_key(cause.full_key, source, cause)
    key = str(cause.full_key or "") if cause is not None else ""
    return ConfigError(
        f"{key}: {text.splitlines()[0]}".removeprefix(": "),
        source=_source(text, key, origins) or (key and origins.file(key)),
    )


def _behind_an_override(name: str, entry: str, origins: Origins) -> ConfigError:
    """Return the error for a plain entry behind an override in the defaults list of a file of Hydra's name."""
    path = config_file(name, origins.folders)
    found = _entries(path) if path else ()
    lines = [f"line {line}" for line, words, *what in found if ": ".join(what) == entry and "override" not in words]
    return ConfigError(
        f"the defaults list has {entry} behind an override",
        source=", ".join([origins.named(name), *lines[:1]]),
        hint=f"write - override /{entry}, or move the entry before the overrides",
    )


def _entries(path: Path) -> Iterator[tuple[int, list[str], str, str]]:
    """Yield line, words before the group, group and choice of the entries of a file's defaults list that have these."""
    text = read_text(path, western=True) + "\n"
    if listed := re.search(r"^defaults:.*\n((?:[ \t-].*\n|\n|#.*\n)*)", text, re.MULTILINE):
        for entry in ENTRY.finditer(text, *listed.span(1)):
            yield text.count("\n", 0, entry.end()) + 1, entry[1].split(), entry[2].lstrip("/"), entry[3]


def _selected_twice(group: str, choice: str, origins: Origins) -> ConfigError:
    """Return the message for a second choice of a group that is not marked as an override, in the file that has it."""
    for path in (path for folder in origins.folders for path in yaml_files(folder)):
        for line, words, entry, entry_choice in _entries(path):
            if (entry, entry_choice) == (group, choice) and "override" not in words:
                source, hint = f"{origins.shown(path)}, line {line}", f"write - override /{group}: {choice}"
                return ConfigError(f"{group} is selected already", source=source, hint=hint)
    return ConfigError(f"{group} is selected twice", hint=f"write - override /{group}: {choice} in a defaults list")


def _misfit(key: str, source: str, origins: Origins) -> ConfigError | None:
    """Return the message for a method or data set of the command line that lacks a key which the preset's file sets."""
    group, experiment = key.partition(".")[0], _experiment(origins)
    chosen = origins.override(group) if group in FOLDERS else ""
    if not chosen or (f"experiment/at/{experiment}." not in source and f"experiment/{experiment}." not in source):
        return None
    name = str(parse_override(chosen.partition(": ")[2]).value())
    fitting = [preset for preset in choices("experiment", origins.folders) if (group, name) in _picks(preset, origins)]
    return ConfigError(
        f"{group}={name} does not fit experiment={experiment}, which sets {key}: {name} has no such key",
        source=f"{chosen}; {source}",
        hint=f"experiments with {group}={name}: {', '.join(fitting)}"
        if fitting
        else f"no experiment has {group}={name}",
    )


def _experiment(origins: Origins) -> str:
    """Return the selected experiment: that of the command line, else the default of the root file."""
    if chosen := origins.override("experiment"):
        return str(parse_override(chosen.partition(": ")[2]).value())
    root = _entries(origins.configs / "config.yaml")
    return next((choice for _, _, group, choice in root if group == "experiment"), "")


def _picks(preset: str, origins: Origins) -> set[tuple[str, str]]:
    """Return the groups and choices in a preset's defaults list."""
    path = config_file(f"experiment/{preset}", origins.folders)
    return {(group, choice) for _, _, group, choice in _entries(path)} if path else set()


def unknown_key(key: str, source: str) -> ConfigError:
    """Return the message for a key outside every schema."""
    return _unknown_key(key, source, None)


def _omegaconf_cause(error: BaseException | None) -> OmegaConfBaseException | None:
    while error is not None and not isinstance(error, OmegaConfBaseException):
        error = error.__cause__ or error.__context__  # Hydra does not always chain errors
    return error


def _source(text: str, key: str, origins: Origins) -> str:
    """Return the file or the override that Hydra's message names, or else the override of `key`; may be empty."""
    if found := re.search(r"In '([^']+)'", text):
        return origins.named(found[1])
    if found := re.search(r"Error merging override (.+)", text):
        return origins.describe(found[1])
    return origins.override(key) if key else ""


def _unknown_key(key: str, source: str, cause: OmegaConfBaseException | None) -> ConfigError:
    known = {*settable_keys(), *PICKED_GROUPS, "hydra/launcher"}
    typed = source.partition("=")[0].rpartition(" ")[2].lstrip("+")
    if name := next((name for name in (typed, key) if name in known), ""):
        # method.optimizer.lr does not exist in a method that has method.lr, whose unknown key is method.optimizer
        hint = f"{name} belongs to another method or data set; append --cfg job to list the keys of this one"
    else:
        if cause is not None and dataclasses.is_dataclass(cause.object_type) and (parent := key.rpartition(".")[0]):
            # Its fields are all that there is below `parent`; keys of other data sets and methods are of no help
            foreign = tuple(f"{group}." for group in (*FOLDERS, parent))
            known = {name for name in known if not name.startswith(foreign)}
            known |= set(dotted_keys(cause.object_type, f"{parent}."))
        hint = did_you_mean(key, known) or "python run.py --cfg job lists every key"
    return ConfigError(f"unknown key {key}", source=source, hint=hint)


def _wrong_type(cause: ValidationError, source: str) -> ConfigError:
    wanted = None
    if dataclasses.is_dataclass(cause.object_type):
        wanted = typing.get_type_hints(cause.object_type).get(str(cause.key))
    if wanted is None or (cause.value is None and cause.child_node is None):
        return ConfigError(f"{cause.full_key}: {str(cause.msg).splitlines()[0]}", source=source)
    return ConfigError(f"{cause.full_key} must be {_type_name(wanted)}, not {cause.value!r}", source=source)


def _type_name(wanted: typing.Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return "a group of settings" if dataclasses.is_dataclass(wanted) else names.get(wanted, str(wanted))


def _unreadable(override: str | None, origins: Origins) -> ConfigError:
    word = override or ""
    found = did_you_mean(word, choices("experiment", origins.folders)) if "=" not in word else ""
    key, _, value = word.partition("=")
    if found:
        hint = found.replace("mean: ", "mean: experiment=")
    elif key == "--config-dir":  # of the command line of run.py alone
        hint = f"here a folder of YAML files is an override: hydra.searchpath=[{value or 'FOLDER'}]"
    elif value and not value.startswith(("'", '"')):  # non-ASCII letters, brackets, spaces ...
        hint = f"for a literal value, quote it for the shell and for the override: '{key}=\"{value}\"'"
    else:
        hint = "write overrides as key=value; quote values that the shell or a comma would split"
    return ConfigError(f"cannot read the override {word!r}", source=origins.describe(word), hint=hint)


def _missing_file(missing: str, origins: Origins) -> ConfigError:
    """Return the message for a missing file of the search path: ``scale/papr``, ``experiment/at/tbr/fig3.huge``."""
    if missing.startswith("experiment/at/"):
        experiment, _, scale = missing.removeprefix("experiment/at/").rpartition(".")
        if experiment.endswith(".yaml"):  # Hydra finds the preset by its file name, too
            hint = f"write experiment={experiment.removesuffix('.yaml')}"
            problem = f"experiment={experiment} is a file, not a name"
            return ConfigError(problem, source=origins.override("experiment"), hint=hint)
        own = (folder for folder in origins.folders if (folder / f"experiment/{experiment}.yaml").is_file())
        folder = next(own, origins.configs)
        file = origins.shown(folder / f"{missing}.yaml")
        return ConfigError(
            f"experiment={experiment} has no values for scale={scale}: {file} is missing",
            source=origins.override("scale") or origins.override("experiment"),
            hint=_misnamed(missing, origins)
            or f"scales of this experiment: {', '.join(scales(experiment, origins.folders)) or 'none'}",
        )
    group = next((name for name in PICKED_GROUPS if missing.startswith(f"{name}/")), missing.rpartition("/")[0])
    choice = missing.removeprefix(f"{group}/")
    available = choices(group, origins.folders) if group in PICKED_GROUPS else _hydra_choices(group, origins)
    available = [name for name in available if not name.endswith("_settings")]  # schemas of the launchers
    listing = f"{group} can be: {', '.join(available)}"
    extension = unset_hint() if group in ("experiment", *FOLDERS) else ""
    misnamed = _misnamed(missing, origins)
    return ConfigError(
        f"{group}={choice} does not exist",
        source=origins.override(group) or _picking_file(group, choice, origins),
        hint="\n".join(filter(None, [misnamed or did_you_mean(choice, available), listing, extension])),
    )


def _misnamed(missing: str, origins: Origins) -> str:
    """Return the remedy for a file that exists with the other ending of YAML, which Hydra does not read."""
    places = (folder / f"{missing.removesuffix('.yml')}.yml" for folder in origins.folders)
    found = next(filter(Path.is_file, places), None)
    return f"presets end in .yaml: rename {origins.shown(found)}" if found else ""


def _hydra_choices(group: str, origins: Origins) -> list[str]:
    with initialize_config_dir(str(origins.configs), version_base="1.3"):
        return GlobalHydra.instance().config_loader().get_group_options(group, overrides=origins.overrides)


def _picking_file(group: str, choice: str, origins: Origins) -> str:
    """Return the file whose defaults list selects `choice`; Hydra names the file that is overridden instead."""
    entry = re.compile(rf"^\s*-\s+(override\s+)?/?{re.escape(group)}:\s*{re.escape(choice)}\s*(#.*)?$", re.MULTILINE)
    files = (path for folder in origins.folders for path in yaml_files(folder))
    found = (path for path in files if entry.search(read_text(path, western=True)))
    return ", ".join(origins.shown(path) for path in found)


def parse(overrides: list[str], origins: Origins) -> list[Override]:
    """Parse overrides with Hydra's grammar; raise `ConfigError` for the first invalid one."""
    try:
        return [parse_override(text) for text in overrides]
    except OverrideParseException as error:
        raise diagnose(error, origins) from error


def text_of(override: Override) -> str:
    """Return an override as it was typed, with quotes of `parse_override`."""
    assert override.input_line is not None  # None only for overrides that Hydra creates itself
    return override.input_line
