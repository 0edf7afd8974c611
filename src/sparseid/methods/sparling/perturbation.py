"""Perturbation test of the decoder: exchange a motif of a map; the decoded label should follow (section 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sparseid.data.batch import MotifBatch
from sparseid.metrics.confusion import join_channels
from sparseid.metrics.edit_distance import without_padding

RADIUS = 5
"""Radius in input positions within which an entry that is moved must be the largest (authors' code)."""
PICTURED = 6
"""Maximum number of items of a figure."""
LEAST_SHARE = 0.75
"""Fraction of a kind's sites that a column of the confusion matrix must hold to identify it (authors' code)."""


class Exchanges(Protocol):
    """Exchangeable motifs of a data set, and the label after an exchange."""

    exchangeable: dict[int, int]
    """Token of each motif kind that may replace another."""

    def exchanged(self, label: list[int], old: int, new: int) -> list[int] | None:
        """Return the label with `old` replaced by the token `new`; None if no item can have this label."""


class Perturbed(NamedTuple):
    """Exchanged maps (M, C, H, W), their expected labels, and items in the batch."""

    maps: Tensor
    labels: list[list[int]]
    items: list[int]


class Examples(NamedTuple):
    """Items for a figure: inputs (m, ...), maps before and after (m, C, H, W), and tokens, see `exchange_arrays`."""

    inputs: Tensor
    before: Tensor
    after: Tensor
    labels: list[list[int]]
    expected: list[list[int]]
    decoded: list[list[int]]


def identified_kinds(matrix: NDArray[np.integer]) -> dict[int, list[int]]:
    """Return the channels of each reliably marked kind: those of the column in which most of its sites are.

    Columns are those of figure 8: a channel each, or on LaTeX-OCR the channels of a kind together.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of pairs of true kind and predicted channel (`metrics.motifs.MotifCounts`).
    """
    joined, channels = join_channels(matrix)
    found = {}
    for kind, row in enumerate(joined[:-1]):
        column = int(row[:-1].argmax())
        if row[column] > LEAST_SHARE * row.sum():
            found[kind] = list(channels[column])
    return found


def radius_in_cells(stride: int) -> int:
    """Return :data:`RADIUS` in positions of a map with this stride, rounded down: further ones are not within it."""
    return RADIUS // stride


def are_marks(maps: Tensor, radius: int) -> Tensor:
    """Return which entries of maps (N, C, H, W) are active and the largest of all channels within `radius`; bool."""
    largest = functional.max_pool2d(maps.amax(1, keepdim=True), 2 * radius + 1, stride=1, padding=radius)
    return (maps == largest) & (maps > 0)


def moved(entries: Tensor, marks: Tensor, old: list[int], new: int) -> Tensor:
    """Return one item's map (C, H, W) with the marks of the channels `old` in channel `new`; all else stays.

    Parameters
    ----------
    entries
        The map.
    marks
        (C, H, W) bool: entries that may be moved.
    old, new
        Channels of the old kind, and the channel of the new one. A moved value replaces what is in its new place.
    """
    leave = torch.zeros_like(marks)
    leave[old] = marks[old]
    result = entries.masked_fill(leave, 0)
    arriving = entries.where(leave, 0).amax(0)
    result[new] = torch.where(leave.any(0), arriving, result[new])
    return result


def perturb(
    batch: MotifBatch,
    maps: Tensor,
    decoded: list[list[int]],
    channels: dict[int, list[int]],
    exchanges: Exchanges,
    radius: int,
    rng: np.random.Generator,
) -> Perturbed:
    """Exchange one kind of motif in the map of every correctly decoded item.

    The old kind is drawn uniformly among those present, the new one among the possible replacements. Items without a
    possible exchange are skipped.

    Parameters
    ----------
    batch, maps, decoded
        Items, their motif maps (N, C, H, W) and the decoded labels.
    channels
        Channels of each reliably marked kind (`identified_kinds`); a new kind is put in its first channel.
    exchanges
        Exchangeable motifs.
    radius
        As in `are_marks`.
    rng
        Random generator.
    """
    kinds = [kind for kind in exchanges.exchangeable if kind in channels]
    token = exchanges.exchangeable
    new_maps, new_labels, items = [], [], []
    marks = are_marks(maps, radius)
    for item, label in enumerate(without_padding(batch.labels.cpu().numpy())):
        present = [kind for kind in kinds if token[kind] in label]
        if decoded[item] != label or not present:
            continue
        old = present[rng.integers(len(present))]
        results = {
            new: result
            for new in kinds
            if new != old and (result := exchanges.exchanged(label, token[old], token[new])) is not None
        }
        if not results:
            continue
        new = list(results)[rng.integers(len(results))]
        new_maps.append(moved(maps[item], marks[item], channels[old], channels[new][0]))
        new_labels.append(results[new])
        items.append(item)
    return Perturbed(torch.stack(new_maps) if new_maps else maps[:0], new_labels, items)


def perturbation_accuracy(
    batches: Iterable[MotifBatch],
    encode: Callable[[Tensor], Tensor],
    decode: Callable[[Tensor], list[list[int]]],
    change: Callable[[MotifBatch, Tensor, list[list[int]]], Perturbed],
    most: int,
) -> tuple[float, int, Examples | None]:
    """Return the fraction of exchanged maps that are decoded to the expected label, their number, and examples.

    Parameters
    ----------
    batches
        Items, until `most` have been exchanged.
    encode, decode
        Functions from inputs to motif maps, and from motif maps to labels.
    change
        `perturb` of a batch, its maps and its decoded labels.
    most
        Maximum number of exchanged items.
    """
    right = number = 0
    examples = None
    for batch in batches:
        maps = encode(batch.inputs)
        perturbed = change(batch, maps, decode(maps))
        wanted = perturbed.labels[: most - number]
        if wanted:
            decoded = decode(perturbed.maps[: len(wanted)])
            right += sum(_equal(decoded, wanted))
            number += len(wanted)
            examples = examples or _examples(batch, maps, perturbed, decoded[:PICTURED])
        if number == most:
            break
    return (right / number if number else float("nan")), number, examples


def _examples(batch: MotifBatch, maps: Tensor, perturbed: Perturbed, decoded: list[list[int]]) -> Examples:
    items = perturbed.items[: len(decoded)]
    before = without_padding(batch.labels[items].cpu().numpy())
    both = maps[items], perturbed.maps[: len(items)]
    return Examples(batch.inputs[items], *both, before, perturbed.labels[: len(items)], decoded)


def _equal(first: list[list[int]], second: list[list[int]]) -> Iterator[bool]:
    return (one == other for one, other in zip(first, second, strict=True))


def exchange_arrays(
    images: NDArray[np.floating],
    before: NDArray[np.floating],
    after: NDArray[np.floating],
    labels: Sequence[Sequence[int]],
    expected: Sequence[Sequence[int]],
    decoded: Sequence[Sequence[int]],
) -> dict[str, np.ndarray]:
    """Return the arrays ``perturbed_*`` of a run, for the figures of `papers.sparling`.

    Parameters
    ----------
    images : (m, H, W)
        Pictures of the items; (m, bands, frames) for sounds.
    before, after : (m, C, h, w)
        Motif maps before and after the exchange: an entry keeps its position and may change its channel.
    labels, expected, decoded
        Tokens of each item: its label, the expected label, and the label decoded from the map after the exchange.

    Returns
    -------
    dict
        ``perturbed_images``; ``perturbed_cells`` (2,): h and w; ``perturbed_entries`` (E, 5) int: item, row, column,
        channel before and after (-1 for none); ``perturbed_labels``, ``perturbed_expected`` and
        ``perturbed_predictions`` (m, L) padded with -1.
    """
    items, channels, rows, columns = np.nonzero(after)
    there = before[items, :, rows, columns]
    came_from = np.where((there > 0).any(axis=1), there.argmax(axis=1), -1)
    kept = there[np.arange(len(items)), channels] == after[items, channels, rows, columns]
    return {
        "perturbed_images": images,
        "perturbed_cells": np.array(after.shape[2:]),
        "perturbed_entries": np.stack([items, rows, columns, np.where(kept, channels, came_from), channels], axis=1),
        "perturbed_labels": _padded(labels),
        "perturbed_expected": _padded(expected),
        "perturbed_predictions": _padded(decoded),
    }


def _padded(tokens: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    longest = max(map(len, tokens), default=0)
    padded = [[*of_item, *[-1] * (longest - len(of_item))] for of_item in tokens]
    return np.array(padded, np.int64).reshape(len(padded), longest)
