"""Labelled items of a user, checked: images or sounds, their sequences of tokens, and motifs where they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.times import RATE, WINDOW, frame_spans, frames_of
from sparseid.data.npz import read_npz
from sparseid.data.tables import single_precision
from sparseid.errors import InputError
from sparseid.spelling import did_you_mean
from sparseid.streams import FIXED

LAYOUT = """\
images      (n, height, width) or (n, height, width, 1 or 3): uint8, bool, or numbers in [0, 1]; or
sounds      (n, samples) int16 at 8,000 Hz
labels      (n,) text: the tokens of each item in order, separated by spaces
names       optional, (n,) text
box_items   optional, (m,) whole numbers: the item of each known motif, from 0
box_tokens  (m,) text: their tokens
boxes       (m, 4) whole numbers: first and last + 1 row, first and last + 1 column; of sounds (m, 2) seconds"""
"""Arrays of an npz file, for messages and documentation."""
BOXES = ("box_items", "box_tokens", "boxes")


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """Images or sounds with sequences of tokens.

    Attributes
    ----------
    values
        Images (n, height, width, channels), uint8 or float32 in [0, 1]; or sounds (n, samples) int16.
    labels
        Tokens of each item, in order; no label is empty.
    names
        (n,) names, all different.
    sites
        (m, 6) int64, ordered by item: item, number of the token, first and last + 1 row, first and last + 1 column, in
        pixels; of sounds frames of the spectrogram in place of rows, and 0, 1. Items without a row have unknown motifs.

    Raises
    ------
    InputError
        If all labels consist of the same token.
    """

    values: NDArray[Any]
    labels: list[list[str]]
    names: NDArray[np.str_]
    sites: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.tokens) < 2:
            raise InputError(f"all labels consist of the token {self.tokens[0]!r}: nothing can be told apart")

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Different tokens of the labels, sorted."""
        return tuple(sorted({token for label in self.labels for token in label}))

    @property
    def sounds(self) -> bool:
        """True for sounds."""
        return self.values.ndim == 2

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width in pixels; of sounds frames of the spectrogram, and 1."""
        return (frames_of(self.values.shape[1]), 1) if self.sounds else self.values.shape[1:3]

    @property
    def longest(self) -> int:
        """Number of the item with the longest label."""
        return max(range(len(self.labels)), key=lambda item: len(self.labels[item]))

    @property
    def mean_length(self) -> float:
        """Mean number of tokens of a label."""
        return float(np.mean([len(label) for label in self.labels]))

    def numbers(self) -> NDArray[np.int64]:
        """Return the labels as numbers of `tokens`, (n, longest), padded by -1."""
        known = {token: number for number, token in enumerate(self.tokens)}
        rows = np.full((len(self.labels), len(self.labels[self.longest])), -1)
        for row, label in zip(rows, self.labels, strict=True):
            row[: len(label)] = [known[token] for token in label]
        return rows


def parts(items: int, validation: float, test: float) -> dict[str, NDArray[np.int64]]:
    """Return the items of ``training``, ``validation`` and ``test``: chosen at random, the same for every seed.

    Examples
    --------
    >>> {name: len(part) for name, part in parts(50, 0.1, 0.2).items()}
    {'training': 35, 'validation': 5, 'test': 10}
    """
    order = FIXED.numpy("labelled_inputs/parts", items).permutation(items)
    tested = round(items * test)
    checked = tested + round(items * validation)
    chosen = {"training": order[checked:], "validation": order[tested:checked], "test": order[:tested]}
    return {name: np.sort(part) for name, part in chosen.items()}


def items_of_file(path: Path) -> LabelledItems:
    """Return the items of an npz file.

    Raises
    ------
    InputError
        If it cannot be read, or its arrays are not as in `LAYOUT`.
    """
    try:
        arrays = read_npz(path)
    except InputError as error:
        raise InputError(f"{path}: {error}\n{LAYOUT}") from error
    try:
        return items_of_arrays(arrays)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def items_of_arrays(arrays: Mapping[str, NDArray[Any]]) -> LabelledItems:
    """Return the items of arrays.

    Raises
    ------
    InputError
        If they are not as in `LAYOUT`.
    """
    kinds = [name for name in ("images", "sounds") if name in arrays]
    if len(kinds) != 1 or "labels" not in arrays:
        found = ", ".join(arrays) or "none"
        raise InputError(f"it needs labels, and either images or sounds (its arrays: {found})\n{LAYOUT}")
    [kind] = kinds
    values = checked_values(kind, arrays[kind])
    names = arrays.get("names", np.arange(len(values)).astype(np.str_))
    for name, array in (("labels", arrays["labels"]), ("names", names)):
        if array.shape != (len(values),) or array.dtype.kind != "U":
            text = f"{name} is {array.dtype} {array.shape}, where a text for each of {len(values)} items is needed"
            raise InputError(f"{text}\n{LAYOUT}")
    labels = [text.split() for text in arrays["labels"].tolist()]
    for item, label in enumerate(labels):
        if not label:
            raise InputError(f"item {item} ({str(names[item])!r}) has an empty label: add its tokens, or leave it out")
    if len(set(names.tolist())) < len(names):
        twice = next(name for at, name in enumerate(names.tolist()) if name in names[:at])
        raise InputError(f"two items are named {twice!r}: make names unique")
    items = LabelledItems(values, labels, names, np.empty((0, 6), np.int64))
    return replace(items, sites=_sites(arrays, items)) if set(BOXES) & set(arrays) else items


def checked_values(kind: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return ``images`` or ``sounds`` in the form of `LabelledItems.values`.

    Raises
    ------
    InputError
        If they are not as in `LAYOUT`.
    """
    return _images(values) if kind == "images" else _sounds(values)


def _images(images: NDArray[Any]) -> NDArray[Any]:
    if images.ndim not in (3, 4) or images.size == 0 or (images.ndim == 4 and images.shape[3] not in (1, 3)):
        text = f"images is of shape {images.shape}, not (n, height, width) or (n, height, width, 1 or 3)"
        raise InputError(f"{text}, with n > 0")
    images = images.reshape(*images.shape[:3], -1)
    if images.dtype == bool:
        return images.astype(np.uint8) * np.uint8(255)
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind not in "fiu":
        raise InputError(f"images is {images.dtype}, neither bytes (uint8) nor numbers in [0, 1]")
    within = (images >= 0) & (images <= 1)
    if not within.all():
        item, *place = np.argwhere(~within)[0].tolist()
        text = f"images, item {item}: the pixel at row {place[0]}, column {place[1]} is {images[item, *place]:g}"
        if not np.isfinite(images[item, *place]):
            raise InputError(f"{text}, no number: replace it, or leave the item out")
        text = f"{text}, and numbers ({images.dtype}) must be in [0, 1]"
        raise InputError(f"{text}: save bytes (uint8), or divide by the largest possible value")
    return single_precision("images", images.reshape(-1, 1), ["values"]).reshape(images.shape)


def _sounds(sounds: NDArray[Any]) -> NDArray[np.int16]:
    if sounds.ndim != 2 or sounds.dtype != np.int16 or not len(sounds):
        raise InputError(f"sounds is {sounds.dtype} {sounds.shape}, not (n, samples) int16 with n > 0")
    if sounds.shape[1] <= WINDOW:
        seconds = [f"{samples / RATE:.3g} s" for samples in (sounds.shape[1], WINDOW)]
        raise InputError(f"the longest sound lasts {seconds[0]}: it must last more than {seconds[1]}, a window")
    return sounds


def _sites(arrays: Mapping[str, NDArray[Any]], items: LabelledItems) -> NDArray[np.int64]:
    """Return the sites of boxes, ordered by item."""
    if missing := [name for name in BOXES if name not in arrays]:
        raise InputError(f"it has known motifs, but no array {missing[0]}\n{LAYOUT}")
    of, tokens, boxes = (arrays[name] for name in BOXES)
    extent = 2 if items.sounds else 4
    numeric = of.dtype.kind in "iu" and boxes.dtype.kind in ("iuf" if items.sounds else "iu")
    if of.ndim != 1 or tokens.shape != of.shape or boxes.shape != (len(of), extent) or not numeric:
        shapes = ", ".join(f"{name} {arrays[name].dtype} {arrays[name].shape}" for name in BOXES)
        raise InputError(f"the arrays of known motifs do not match: {shapes}\n{LAYOUT}")
    known = {token: number for number, token in enumerate(items.tokens)}
    for row in range(len(of)):
        if fault := _box_fault(items, int(of[row]), str(tokens[row]), boxes[row]):
            raise InputError(f"row {row} of box_items, box_tokens and boxes: {fault}")
    if items.sounds:
        samples = np.rint(boxes * RATE).astype(np.int64)
        spans = frame_spans(samples[:, 0], samples[:, 1] - samples[:, 0], items.values.shape[1])
        boxes = np.column_stack([spans[:, 0], np.maximum(spans[:, 1], spans[:, 0] + 1), 0 * spans[:, 0], 0 * of + 1])
    sites = np.column_stack([of, [known[str(token)] for token in tokens], boxes]).astype(np.int64).reshape(-1, 6)
    return sites[np.argsort(sites[:, 0], kind="stable")]


def _box_fault(items: LabelledItems, item: int, token: str, box: NDArray[Any]) -> str:
    """Return why a box cannot be used; empty if it can."""
    if not 0 <= item < len(items.labels):
        return f"there is no item {item}: there are {len(items.labels)}"
    if token not in items.tokens:
        hint = did_you_mean(token, items.tokens) or f"tokens: {', '.join(items.tokens[:10])}"
        return f"no label has the token {token!r}; {hint}"
    limits = [items.values.shape[1] / RATE] if items.sounds else list(items.values.shape[1:3])
    for (start, stop), limit in zip(box.reshape(-1, 2).tolist(), limits, strict=True):
        if not 0 <= start < stop <= limit:
            what, unit = ("sound", " s") if items.sounds else ("image", " pixels")
            return f"its extent from {start:g} to {stop:g} is empty or beyond the {what} of {limit:g}{unit}"
    return ""


def arrays_of(kind: str, values: NDArray[Any], labels: Sequence[str], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file of items without known motifs."""
    return {kind: values, "labels": np.array(labels, np.str_), "names": np.array(names, np.str_)}
