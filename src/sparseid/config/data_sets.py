"""What data sets say about their own settings; asked by validation and identity."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
from sparseid.config.gtex import GtexConfig
from sparseid.config.latex_ocr import LatexOcrConfig
from sparseid.config.schema import FEATURE_MATRICES

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""

CHECKED = (*FEATURE_MATRICES, AudioMNISTSequenceConfig, LatexOcrConfig)
ASKED = (GtexConfig, *CHECKED)
"""Data sets with a module ``sparseid.data.<name>.settings`` that answers; those of which it says all by itself."""


def faults(data: Any) -> Iterator[Fault]:
    """Yield what makes the settings of a data set impossible, whatever its files hold."""
    if isinstance(data, CHECKED):
        yield from _settings(data).faults(data)


def absent_files(data: Any) -> Iterator[Fault]:
    """Yield which files (or programs) that only the user can place are not there, or cannot be used."""
    if isinstance(data, ASKED):
        yield from _settings(data).absent_files(data)


def placed_files(data: Any) -> dict[str, Path]:
    """Return the files that the user has placed for a data set, under the settings that name them."""
    return _settings(data).placed_files(data) if isinstance(data, ASKED) else {}


def _settings(data: Any) -> Any:
    return importlib.import_module(f"sparseid.data.{data.name}.settings")
