"""Batches by number: an endless training set, and the items of a fixed set in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Batch = TypeVar("Batch")


class BatchStream(Generic[Batch]):
    """Iterable over the training batches up to the end of the current period.

    A batch is a function of its number, so that an interrupted run resumes from its step number alone. A period is the
    time between two validations, one epoch for Lightning; the first period after a resume is the rest of the
    interrupted one.

    Parameters
    ----------
    sample
        Returns batch `index`; a pure function of `index`.
    start
        Returns the number of the next batch, for example ``lambda: self.trainer.global_step``.
    length
        Number of batches per period.

    Raises
    ------
    ValueError
        If `length` is not positive.

    Examples
    --------
    >>> list(BatchStream(sample=lambda index: index, start=lambda: 7, length=5))
    [7, 8, 9]
    """

    def __init__(self, sample: Callable[[int], Batch], start: Callable[[], int], length: int):
        if length < 1:
            raise ValueError(f"a period needs at least one batch, got length={length}")
        self.sample = sample
        self.start = start
        self.length = length

    def __len__(self) -> int:
        """Return the number of batches left in the period; with a length Lightning does not prefetch."""
        return self.length - self.start() % self.length

    def __iter__(self) -> Iterator[Batch]:
        first = self.start()
        for index in range(first, first + self.length - first % self.length):
            yield self.sample(index)


class Chunks(Generic[Batch]):
    """Iterable over the first items of a fixed set in order.

    Parameters
    ----------
    part
        Returns the items of a slice as a batch.
    items
        Number of items (of each member of a stack).
    size
        Number of items of a batch; the last may have fewer.

    Examples
    --------
    >>> list(Chunks("sparsity".__getitem__, items=7, size=3))
    ['spa', 'rsi', 't']
    """

    def __init__(self, part: Callable[[slice], Batch], items: int, size: int) -> None:
        self.part, self.items, self.size = part, items, size

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.items // self.size)

    def __iter__(self) -> Iterator[Batch]:
        for start in range(0, self.items, self.size):
            yield self.part(slice(start, min(start + self.size, self.items)))
