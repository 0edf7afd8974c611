"""How keys and metrics are written in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping

from sparseid.measurements import Key

_WRITTEN = {
    "digitcircle": "DigitCircle",
    "latex_ocr": "LaTeX-OCR",
    "audiomnist": "AudioMNIST",
    "test_speakers": "test speakers",
    "sparling": "Sparling",
    "sparling_mt": "Sparling MT",
    "sparling_st": "Sparling ST",
    "fpe": "FPE",
    "fne": "FNE",
    "ce": "CE",
    "e2ee": "E2EE",
    "exact_accuracy": "exact match",
    "e2e_accuracy": "E2E accuracy",
    "density_over_minimum": "density / lowest possible",
}
_NUMBERED = {"steps_above": "{} cuts above final"}
"""Keys whose value is a number that means nothing alone."""

EXPLAINED = {
    "fpe": "false positive error",
    "fne": "false negative error",
    "ce": "confusion error",
    "e2ee": "end-to-end error",
}


def written(name: Key) -> str:
    """Return a key's value or a metric's name as readers write it."""
    return _WRITTEN.get(str(name), str(name).replace("_", " "))


def written_cell(keys: Mapping[str, Key]) -> str:
    """Return the names of a cell in one line.

    Examples
    --------
    >>> written_cell({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _NUMBERED.get(key, key + " {}").format(value) if isinstance(value, int | float) else written(value)
        for key, value in keys.items()
    )
