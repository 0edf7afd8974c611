"""Saving figures."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 160
KINDS = ("png", "svg")
_OPTIONS: dict[str, dict[str, Any]] = {
    "png": {"dpi": PNG_DPI, "pil_kwargs": {"compress_level": 2}},  # 6, the default, takes three times as long
    "svg": {},
}
_HEAD = 4000
"""Bytes of a file within which its source is named."""


def save_figure(
    figure: Figure, folder: Path, name: str, kinds: Collection[str] = KINDS, source: str | None = None
) -> list[Path]:
    """Save a figure as ``<name>.<kind>`` in `folder` (created if needed) for each of `kinds`, replaced atomically.

    The same figure gives the same bytes: no dates, no random ids.

    Parameters
    ----------
    figure, folder, name, kinds
        The figure and its files.
    source
        Digest of what it was drawn from, kept in the files for :func:`is_saved`.
    """
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    figure.set_dpi(PNG_DPI)
    if engine := figure.get_layout_engine():  # once, here: otherwise each savefig would draw everything twice
        engine.execute(figure)
        figure.set_layout_engine(None)
    paths = {kind: folder / f"{name}.{kind}" for kind in kinds}
    named = {"Source": source} if source else {}
    metadata = {"png": named, "svg": {"Date": None, **named}}
    with rc_context({"svg.hashsalt": "sparseid"}):
        for kind, path in paths.items():
            replace_file(
                path,
                lambda file, kind=kind: figure.savefig(  # type: ignore[misc]
                    file, format=kind, metadata=metadata[kind], **_OPTIONS[kind]
                ),
            )
    return list(paths.values())


def is_saved(folder: Path, name: str, kinds: Collection[str], source: str) -> bool:
    """Return whether the files of a figure are there, drawn from the same source."""
    for kind in kinds:
        try:
            with (folder / f"{name}.{kind}").open("rb") as file:
                if source.encode() not in file.read(_HEAD):
                    return False
        except OSError:
            return False
    return True


def save_changed(
    folder: Path, name: str, kinds: Collection[str], source: str, draw: Callable[[], Figure | None]
) -> bool:
    """Draw and save a figure, unless its files show the same already; return whether there is one.

    Parameters
    ----------
    folder, name, kinds, source
        As of :func:`save_figure`.
    draw
        Draws it; returns None if there is nothing to draw.
    """
    if is_saved(folder, name, kinds, source):
        return True
    if (figure := draw()) is None:
        return False
    save_figure(figure, folder, name, kinds, source)
    return True
