"""Base classes of the settings of data sets and methods: fields, ranges, rules, files and row keys.

Each component has one dataclass, in the ``settings.py`` of its folder. This module needs no torch, Hydra or OmegaConf.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from sparseid.homes import expanded
from sparseid.spelling import unlisted

MISSING: Any = "???"
"""Marks a field without a default, which a configuration file has to set (OmegaConf's mark)."""

Keys = dict[str, str | int | float]
"""Key columns of a run's rows."""


class SettingsError(NamedTuple):
    """An invalid setting, or an invalid combination of settings.

    Attributes
    ----------
    keys
        Dotted keys of the invalid settings: ``("data.margin", "data.jitter")``.
    text
        Reason and remedy.
    """

    keys: tuple[str, ...]
    text: str


class Run(Protocol):
    """Parts of a run's configuration that the rules of a component may read."""

    method: Any
    data: Any
    trainer: TrainerSettings
    seed: int
    seeds: list[int]


@dataclass(frozen=True)
class RunNumbers:
    """Numbers of a run that data modules and methods are constructed with.

    Attributes
    ----------
    seed
        Seed of the run.
    seeds
        Seeds of the members of its stack; a single seed without a stack.
    batch_size
        Training samples of a member per step, summed over processes.
    steps
        Optimiser steps.
    check_every, check_items
        Training samples between two validations, and items of each validation; 0 leaves them to the data module.
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
    path: bool = False,
    spatial: bool = False,
    semantic: bool = False,
) -> Any:
    """Return a dataclass field that documents and checks itself.

    Parameters
    ----------
    text
        Documentation, with units and sources.
    default
        Default value. Each instance gets its own copy of a list, or its own instance of a class.
    at_least, above, at_most, below
        Bounds; NaN and infinite values violate any bound.
    choices
        Allowed values.
    because
        Reason for the range, shown in the error message.
    file
        The field may name a file; the hash of a run then depends on the file's content, not on its path.
    path
        The field may name a file or folder: a leading ``~`` is the home folder, as it is with `file`.
    spatial
        The size of the inputs depends on the field (data sets with motifs).
    semantic
        The field of the trainer affects the results of a run and is therefore part of its hash.
    """
    bounds = {"at_least": at_least, "above": above, "at_most": at_most, "below": below}
    flags = {"file": file, "path": path or file, "spatial": spatial, "semantic": semantic}
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
    """Yield an error for each field whose value is not among its choices or is out of range.

    Parameters
    ----------
    settings
        Instance of a dataclass.
    prefix
        Prefix of the keys, for example ``data.``.
    nested
        Also check fields that are dataclasses.
    """
    for field in dataclasses.fields(settings):
        value, key = getattr(settings, field.name), prefix + field.name
        if dataclasses.is_dataclass(value):
            if nested:
                yield from field_errors(value, f"{key}.")
        elif text := _refusal(key, value, field.metadata):
            yield SettingsError((key,), text)


def settings_errors(settings: Settings, prefix: str, run: Run | None) -> list[SettingsError]:
    """Return the field errors of a component's settings; without any, the errors of its rules."""
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
class Paths:
    """Base of settings that name files or folders: shells leave the ``~`` of ``data.path=~/x`` to us."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.metadata.get("path"):
                setattr(self, field.name, expanded(getattr(self, field.name)))


@dataclass
class Settings(Paths):
    """Settings of a component."""

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield invalid combinations of settings; called only if every field is valid by itself."""
        yield from ()


@dataclass
class EarlyStopSettings:
    """Early stop by the error on validation samples: the best weights of each seed are tested, not its last ones."""

    patience: int = setting(
        "Validations without improvement after which the training of a seed ends; 0 for none: the last weights are "
        "tested.",
        default=0,
        at_least=0,
    )
    validations: int = setting("Validations of a whole training, evenly spaced.", default=50, at_least=1)
    held_out: float = setting(
        "Fraction of the training samples that only the early stop sees, the same for all seeds; unless the data have "
        "validation samples.",
        default=0.1,
        above=0,
        below=1,
    )


@dataclass
class TrainerSettings(Settings):
    """Settings of the training of a run that belong to neither method nor data."""

    max_samples: int = setting(
        "Maximum number of training samples; a method may finish earlier.", at_least=1, semantic=True
    )
    batch_size: int = setting("Samples per optimiser step, summed over devices.", at_least=1, semantic=True)
    precision: str = setting("Lightning's precision flag.", default="32", choices=("32", "bf16-mixed"), semantic=True)
    early_stop: EarlyStopSettings = setting("Early stop.", default=EarlyStopSettings, semantic=True)
    accelerator: str = setting(
        "Device type; auto: an NVIDIA or AMD GPU if there is one, else the CPU.",
        default="auto",
        choices=("auto", "cpu", "gpu"),
    )
    devices: int = setting("Number of processes, one per device.", default=1, at_least=1)
    strategy: str = setting("Lightning's distributed strategy.", default="auto", choices=("auto", "ddp"))
    threads: int = setting("CPU threads per process; 0 leaves the choice to torch.", default=0, at_least=0)
    deterministic: bool = setting("Use deterministic kernels where torch has them.", default=True)
    save_every_s: float = setting(
        "Seconds between two checkpoints within a validation period: the most that an interruption can lose.",
        default=60.0,
        at_least=0,
    )
    stop_before_s: float = setting(
        "Seconds before the end of a SLURM job at which a run saves and stops (at most half of the remaining time).",
        default=60.0,
        at_least=0,
    )

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors for batches larger than the training set or not divisible among the devices."""
        if self.max_samples < self.batch_size:
            text = "not even one batch would be trained: raise trainer.max_samples or lower trainer.batch_size"
            yield SettingsError(("trainer.max_samples", "trainer.batch_size"), text)
        if self.batch_size % self.devices:
            text = "the batch cannot be divided equally: set trainer.batch_size to a multiple of trainer.devices"
            yield SettingsError(("trainer.batch_size", "trainer.devices"), text)
        if self.early_stop.patience and not run.method.stops_early:
            text = f"{run.method.name} has no early stop: set trainer.early_stop.patience=0"
            yield SettingsError(("trainer.early_stop.patience", "method.name"), text)


@dataclass
class DataSettings(Settings):
    """Settings of a data set; each subclass has a field ``name`` equal to the name of its folder."""

    name: str = MISSING

    loads: ClassVar[str]
    """LightningDataModule, as ``package.module:Class``; constructed by ``Class.from_settings(settings, numbers)``."""
    interface: ClassVar[str]
    """Type of batch: motifs, position_labels, environments, contrastive, feature_matrix, mixture, factor_images,
    images or mlp_activations; methods name theirs in `MethodSettings.interfaces`."""
    obtained_by: ClassVar[str] = ""
    """Function that downloads or checks user-provided files, as ``package.module:function``; ``make data`` calls it.

    It yields lines to print. Its name is the data set's name on that command line, its docstring the help text.
    """

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error for each file (or program) that the user has to provide and that is missing or unusable."""
        yield from ()

    def user_files(self) -> dict[str, Path]:
        """Return the readable user-provided files, by the setting that names them; the run hash covers them."""
        return {}

    def row_keys(self) -> Keys:
        """Return the key columns of rows; the first one precedes those of the method."""
        return {"domain": self.name.replace("_", "")}


@dataclass
class MotifSettings(DataSettings):
    """Settings of a data set whose inputs contain motifs."""

    interface: ClassVar[str] = "motifs"
    single_motifs: ClassVar[bool] = True
    """True if there are sets of single motifs (`draw_single` of the data module)."""

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of inputs in pixels, or frames and 1."""
        raise NotImplementedError

    @property
    def mean_label(self) -> float:
        """Mean number of tokens of a label; 0 if it is not known before items are drawn."""
        return 0.0

    def longest_label(self) -> tuple[int, str]:
        """Return the number of tokens of the longest label, and the name of its item; 0 if settings tell it."""
        return 0, ""


@dataclass
class FeatureMatrixSettings(DataSettings):
    """Settings of a data set that is a matrix (samples, features)."""

    interface: ClassVar[str] = "feature_matrix"
    likelihood: ClassVar[str] = "gaussian"
    """Likelihood of the features: gaussian, or multinomial for counts."""
    negative: ClassVar[bool] = False
    """True if features can be negative."""


@dataclass
class MethodSettings(Settings):
    """Settings of a method; each subclass has a field ``name`` equal to the name of its folder."""

    name: str = MISSING

    loads: ClassVar[str]
    """LightningModule, as ``package.module:Class``; constructed by ``Class.from_settings(settings, data, numbers)``."""
    interfaces: ClassVar[tuple[str, ...]]
    """Interfaces of the data sets that the method can be trained on."""
    stacked: ClassVar[bool] = True
    """True if several seeds are trained as one stack."""
    stops_early: ClassVar[bool] = False
    """True if its module sets `validation_errors`, by which ``trainer.early_stop`` ends the training of a seed."""

    def validation(self) -> tuple[int, int]:
        """Return training samples between two validations and validation items; 0, 0 leaves both to the data."""
        return 0, 0

    def parent_run(self, run: Run) -> dict[str, Any]:
        """Return the settings, by dotted key, in which the parent run (the source of its weights) differs.

        Empty for a run that is trained from scratch.
        """
        return {}

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the key columns that distinguish runs of this method on `data`."""
        return {"method": self.name}
