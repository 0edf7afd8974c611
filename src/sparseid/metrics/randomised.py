"""Motif maps whose channels are randomised in place: the chance level of motif errors at the same activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 64
"""Items that are made dense at once."""


class ActiveEntries(NamedTuple):
    """Active (non-zero) entries of maps (items, channels, positions).

    Attributes
    ----------
    item, channel, position : (E,) int64
        Place of each entry.
    value : (E,) float
        Its value.
    shape
        Items, channels, positions.
    """

    item: NDArray[np.int64]
    channel: NDArray[np.int64]
    position: NDArray[np.int64]
    value: NDArray[np.floating]
    shape: tuple[int, int, int]


def active_entries(maps: NDArray[np.floating]) -> ActiveEntries:
    """Return the active entries of maps (items, channels, positions).

    Examples
    --------
    >>> maps = np.zeros((2, 1, 4))
    >>> maps[1, 0, 2] = 0.5
    >>> [part.tolist() for part in active_entries(maps)[:4]]
    [[1], [0], [2], [0.5]]
    """
    item, channel, position = np.nonzero(maps)
    items, channels, positions = maps.shape
    return ActiveEntries(item, channel, position, maps[item, channel, position], (items, channels, positions))


def joined(parts: Sequence[ActiveEntries]) -> ActiveEntries:
    """Return the entries of all parts, whose items follow each other."""
    first = np.cumsum([0, *(part.shape[0] for part in parts)])
    items = np.concatenate([part.item + start for part, start in zip(parts, first, strict=False)])
    channel, position, value = (np.concatenate(of) for of in list(zip(*parts, strict=True))[1:4])
    return ActiveEntries(items, channel, position, value, (int(first[-1]), *parts[0].shape[1:]))


def randomised(entries: ActiveEntries, rng: np.random.Generator) -> ActiveEntries:
    """Return the entries at random places of their channel: its values are shuffled over all items and positions."""
    items, channels, positions = entries.shape
    item, position = np.empty_like(entries.item), np.empty_like(entries.position)
    for channel in range(channels):
        own = np.flatnonzero(entries.channel == channel)
        places = rng.choice(items * positions, len(own), replace=False)
        item[own], position[own] = np.divmod(places, positions)
    return entries._replace(item=item, position=position)


def dense_blocks(entries: ActiveEntries) -> Iterator[tuple[slice, NDArray[np.floating]]]:
    """Yield the maps, some items at a time: the items, and their maps (items, channels, positions)."""
    items, channels, positions = entries.shape
    order = np.argsort(entries.item, kind="stable")
    bounds = np.searchsorted(entries.item[order], np.arange(0, items + BLOCK, BLOCK))
    for number, start in enumerate(range(0, items, BLOCK)):
        part = order[bounds[number] : bounds[number + 1]]
        block = slice(start, min(start + BLOCK, items))
        maps = np.zeros((block.stop - start, channels, positions), entries.value.dtype)
        maps[entries.item[part] - start, entries.channel[part], entries.position[part]] = entries.value[part]
        yield block, maps
