"""Bases of what every data set and every method says about itself: fields, ranges, rules, files and row keys.

A component has one dataclass in ``settings.py`` of its folder. Nothing here needs torch, Hydra or OmegaConf.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from sparseid.spelling import unlisted

MISSING: Any = "???"
"""Default of a field that has none: a configuration file has to set it (OmegaConf's mark)."""

Keys = dict[str, str | int | float]
"""Key columns of a run's rows."""


class SettingsError(NamedTuple):
    """Something that cannot be run.

    Attributes
    ----------
    keys
        Dotted keys of the settings at fault: ``("data.margin", "data.jitter")``.
    text
        The reason, and what to do.
    """

    keys: tuple[str, ...]
    text: str


class Run(Protocol):
    """The parts of a run's configuration that rules of a component may look at."""

    method: Any
    data: Any
    trainer: TrainerSettings
    seed: int
    seeds: list[int]


@dataclass(frozen=True)
class RunNumbers:
    """Numbers of a run that data modules and methods are built with.

    Attributes
    ----------
    seed
        Seed of the run.
    seeds
        Seeds of the members of its stack; of a run without a stack the one seed.
    batch_size
        Training samples of a member per step, summed over processes.
    steps
        Optimiser steps.
    check_every, check_items
        Training samples between two validations, and validation items of each, for methods that ask for them.
    """

    seed: int
    seeds: list[int]
    batch_size: int
    steps: int
    check_every: int = 0
    check_items: int = 0


def setting(
    text: str,
    *,
    default: Any = MISSING,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    choices: tuple[Any, ...] = (),
    because: str = "",
    file: bool = False,
    spatial: bool = False,
    semantic: bool = False,
) -> Any:
    """Return a dataclass field that documents and checks itself.

    Parameters
    ----------
    text
        Documentation, with units and sources.
    default
        The default. Each instance gets its own copy of a list, and its own instance of a class.
    at_least, above, at_most, below
        Bounds; NaN and infinite values are outside any.
    choices
        Allowed values.
    because
        Reason for the range, for the message.
    file
        The field may name a file: a run's identity counts the file's content, not its path.
    spatial
        The size of inputs with motifs depends on the field.
    semantic
        A field of the trainer that changes the numbers of a run and so belongs to its identity.
    """
    bounds = {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    flags = {"file": file, "spatial": spatial, "semantic": semantic}
    metadata: dict[str, Any] = {
        "text": text,
        "bounds": {name: bound for name, bound in bounds.items() if bound is not None},
        "choices": choices,
        "because": because,
    } | {name: True for name, flag in flags.items() if flag}
    if isinstance(default, type):
        return dataclasses.field(default_factory=default, metadata=metadata)
    if isinstance(default, list):
        return dataclasses.field(default_factory=lambda: copy.copy(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def field_errors(settings: Any, prefix: str = "", nested: bool = True) -> Iterator[SettingsError]:
    """Yield the fields of a dataclass whose value is not among the choices or outside the range.

    Parameters
    ----------
    settings
        An instance.
    prefix
        Of its keys, for example ``data.``.
    nested
        Check the dataclasses among its fields, too.
    """
    for field in dataclasses.fields(settings):
        value, key = getattr(settings, field.name), prefix + field.name
        if dataclasses.is_dataclass(value):
            if nested:
                yield from field_errors(value, f"{key}.")
        elif text := _refusal(key, value, field.metadata):
            yield SettingsError((key,), text)


def settings_errors(settings: Settings, prefix: str, run: Run | None) -> list[SettingsError]:
    """Return the field errors of a component's settings; where there are none, those of its rules."""
    return list(field_errors(settings, prefix)) or list(settings.errors(run))  # type: ignore[arg-type]


def range_text(bounds: Mapping[str, float]) -> str:
    """Return a range in words; empty without bounds.

    Examples
    --------
    >>> range_text({"at_least": 0, "below": 1})
    'at least 0 and below 1'
    >>> range_text({"at_least": 0, "at_most": 1}), range_text({"above": 0, "below": 1})
    ('between 0 and 1', 'strictly between 0 and 1')
    """
    if set(bounds) == {"at_least", "at_most"}:
        return f"between {bounds['at_least']} and {bounds['at_most']}"
    if set(bounds) == {"above", "below"}:
        return f"strictly between {bounds['above']} and {bounds['below']}"
    ordered = [name for name in ("at_least", "above", "at_most", "below") if name in bounds]
    return " and ".join(f"{name.replace('_', ' ')} {bounds[name]}" for name in ordered)


def _refusal(key: str, value: Any, metadata: Mapping[str, Any]) -> str:
    if choices := metadata.get("choices"):
        return unlisted(key, value, choices)
    bounds = metadata.get("bounds")
    if not bounds or _within(value, **bounds):
        return ""
    reason = metadata["because"]
    return f"{key} must be {range_text(bounds)}{reason and f': {reason}'}"


def _within(
    value: float,
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
) -> bool:
    return math.isfinite(value) and at_least <= value <= at_most and above < value < below


@dataclass
class Settings:
    """Settings of a component."""

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield combinations of settings that cannot work; asked only where every field is in its range."""
        yield from ()


@dataclass
class TrainerSettings(Settings):
    """How one run is trained: everything that is neither method nor data."""

    max_samples: int = setting(
        "Training samples after which training ends even if the method has not finished.", at_least=1, semantic=True
    )
    batch_size: int = setting("Samples per optimiser step, summed over devices.", at_least=1, semantic=True)
    precision: str = setting(
        "Lightning's precision flag of the whole module.", default="32", choices=("32", "bf16-mixed"), semantic=True
    )
    accelerator: str = setting("Device type.", default="auto", choices=("auto", "cpu", "gpu"))
    devices: int = setting("Processes, one per device.", default=1, at_least=1)
    strategy: str = setting("Lightning's strategy.", default="auto", choices=("auto", "ddp"))
    threads: int = setting("CPU threads of one process; 0 leaves torch's choice.", default=0, at_least=0)
    deterministic: bool = setting("Ask torch for deterministic kernels where it has them.", default=True)
    save_every_s: float = setting(
        "Seconds between checkpoints between two validations; what an interruption can cost.", default=60.0, at_least=0
    )
    stop_before_s: float = setting(
        "Seconds before the end of a SLURM job at which a run saves and stops (at most half of the time it has).",
        default=60.0,
        at_least=0,
    )

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield batches that the samples or the devices cannot make."""
        if self.max_samples < self.batch_size:
            text = "not even one batch would be trained: raise trainer.max_samples or lower trainer.batch_size"
            yield SettingsError(("trainer.max_samples", "trainer.batch_size"), text)
        if self.batch_size % self.devices:
            text = "the batch cannot be split evenly: make trainer.batch_size a multiple of trainer.devices"
            yield SettingsError(("trainer.batch_size", "trainer.devices"), text)


@dataclass
class DataSettings(Settings):
    """Settings of a data set; every subclass has a field ``name`` with the name of its folder."""

    name: str = MISSING

    loads: ClassVar[str]
    """Its LightningDataModule, ``package.module:Class``; built by ``Class.from_settings(settings, numbers)``."""
    interface: ClassVar[str]
    """Its batches: motifs, environments, contrastive, feature_matrix or mixture; see `MethodSettings.interfaces`."""
    obtained_by: ClassVar[str] = ""
    """Function that downloads or checks the user's files, ``package.module:function``, called by ``make data``.

    It yields lines to print; its name is the data set's name there, its docstring the help.
    """

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield files (or programs) that the user has to provide and that are not there or cannot be used."""
        yield from ()

    def user_files(self) -> dict[str, Path]:
        """Return the user-provided files that can be read, by the setting that names them; they count by content."""
        return {}

    def row_keys(self) -> Keys:
        """Return the key columns of rows; the first one stands before those of the method."""
        return {"domain": self.name.replace("_", "")}


@dataclass
class MotifSettings(DataSettings):
    """Settings of a data set of inputs with motifs."""

    interface: ClassVar[str] = "motifs"

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of inputs in pixels, or frames and 1."""
        raise NotImplementedError


@dataclass
class FeatureMatrixSettings(DataSettings):
    """Settings of a data set that is a matrix of samples by features."""

    interface: ClassVar[str] = "feature_matrix"
    likelihood: ClassVar[str] = "gaussian"
    """Of a feature: gaussian, or multinomial for counts."""
    negative: ClassVar[bool] = False
    """Whether features can be negative."""


@dataclass
class MethodSettings(Settings):
    """Settings of a method; every subclass has a field ``name`` with the name of its folder."""

    name: str = MISSING

    loads: ClassVar[str]
    """Its LightningModule, ``package.module:Class``; built by ``Class.from_settings(settings, data, numbers)``."""
    interfaces: ClassVar[tuple[str, ...]]
    """Interfaces of the data sets that it can be trained on."""
    stacked: ClassVar[bool] = True
    """Whether several seeds are trained as one stack."""

    def validation(self) -> tuple[int, int]:
        """Return training samples between two validations and validation items; 0, 0 leaves both to the data."""
        return 0, 0

    def parent_run(self, run: Run) -> dict[str, Any]:
        """Return the settings, by dotted key, in which the run whose weights this one starts from differs from it.

        Empty for a run that starts from scratch.
        """
        return {}

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the key columns that tell runs of this method on `data` apart."""
        return {"method": self.name}
