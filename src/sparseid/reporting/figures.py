"""Saving figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 160
KINDS = ("png", "svg")
_OPTIONS: dict[str, dict[str, Any]] = {
    "png": {"dpi": PNG_DPI, "pil_kwargs": {"compress_level": 2}},  # 6, the default, takes three times as long
    "svg": {"metadata": {"Date": None}},
}


def save_figure(figure: Figure, folder: Path, name: str, kinds: Collection[str] = KINDS) -> list[Path]:
    """Save a figure as ``<name>.<kind>`` in `folder` (created if needed) for each of `kinds`, replaced atomically.

    The same figure gives the same bytes: no dates, no random ids.
    """
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    figure.set_dpi(PNG_DPI)
    if engine := figure.get_layout_engine():  # once, here: otherwise each savefig would draw everything twice
        engine.execute(figure)
        figure.set_layout_engine(None)
    paths = {kind: folder / f"{name}.{kind}" for kind in kinds}
    with rc_context({"svg.hashsalt": "sparseid"}):
        for kind, path in paths.items():
            replace_file(path, lambda file, kind=kind: figure.savefig(file, format=kind, **_OPTIONS[kind]))  # type: ignore[misc]
    return list(paths.values())
