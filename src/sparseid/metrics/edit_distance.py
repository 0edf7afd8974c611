"""End-to-end error of predicted token sequences (Sparling, section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Tokens = Sequence[int]


def edit_distances(targets: Sequence[Tokens], predictions: Sequence[Tokens]) -> NDArray[np.float64]:
    """Return the normalised edit distance of every pair, Levenshtein(y, p) / max(|y|, |p|).

    Parameters
    ----------
    targets, predictions
        One sequence of non-negative token ids per item, without padding, start or end tokens.

    Returns
    -------
    distances : (n,) float64
        In [0, 1]; two empty sequences have distance 0. The mean is the end-to-end error (a fraction, not in percent).

    Raises
    ------
    ValueError
        If the numbers of predictions and targets differ.

    Examples
    --------
    >>> edit_distances([[1, 2, 3, 4], []], [[1, 2, 4], []])
    array([0.25, 0.  ])
    """
    pairs = zip(_lists(targets), _lists(predictions), strict=True)
    return np.array([Levenshtein.normalized_distance(target, prediction) for target, prediction in pairs], float)


def exact_match(targets: Sequence[Tokens], predictions: Sequence[Tokens]) -> float:
    """Return the fraction of items predicted without any error; NaN without items.

    Parameters and errors are those of :func:`edit_distances`.
    """
    right = [target == prediction for target, prediction in zip(_lists(targets), _lists(predictions), strict=True)]
    return float(np.mean(right)) if right else float("nan")


def cut_at_end(tokens: NDArray[np.integer], end: int) -> list[list[int]]:
    """Cut every row of greedily decoded tokens before its first end token.

    Parameters
    ----------
    tokens : (n, steps) int
        Decoded token ids without the start token. A row without an end token is not cut.
    end
        ID of the end token.

    Returns
    -------
    list of n lists

    Examples
    --------
    >>> cut_at_end(np.array([[5, 6, 9, 5], [9, 1, 1, 1], [1, 2, 3, 4]]), end=9)
    [[5, 6], [], [1, 2, 3, 4]]
    """
    tokens = np.asarray(tokens)
    ended = tokens == end
    lengths = np.where(ended.any(axis=1), ended.argmax(axis=1), tokens.shape[1]) if tokens.size else [0] * len(tokens)
    return [row[:length].tolist() for row, length in zip(tokens, lengths, strict=True)]


def without_padding(tokens: NDArray[np.integer], padding: int = -1) -> list[list[int]]:
    """Turn padded rows (n, steps) into lists: each row up to its first `padding`."""
    return cut_at_end(tokens, padding)


def _lists(sequences: Sequence[Tokens]) -> list[list[int]]:
    return [np.asarray(sequence).tolist() for sequence in sequences]
