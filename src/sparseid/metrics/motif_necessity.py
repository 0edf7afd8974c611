"""Necessity of motifs: alpha of the simplified DigitCircle (Sparling, appendix B.3).

Motifs are at positions 0, 1, ..., no two of them adjacent; their number is uniform over four counts, and so is their
placement given the number. Alpha is the probability mass that can move from placements of k motifs to those of k - 1 by
deleting a motif: the loss of an encoder that finds one motif too few.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Literal

Split = Literal["constant5", "k"]

COUNTS = (3, 4, 5, 6)
"""Motifs per image, as in DigitCircle; equally probable."""
LAST_POSITION = 10
"""Positions 0 to 10: eleven as in the authors' notebook; the paper's text has ten."""


def placements(count: int, last_position: int = LAST_POSITION) -> list[tuple[int, ...]]:
    """List the placements of `count` motifs at positions 0 .. `last_position`, no two of them adjacent.

    Examples
    --------
    >>> [len(placements(count)) for count in COUNTS]
    [84, 70, 21, 1]
    """
    return [
        chosen
        for chosen in combinations(range(last_position + 1), count)
        if all(right - left > 1 for left, right in pairwise(chosen))
    ]


def placement_probability(count: int, last_position: int = LAST_POSITION) -> float:
    """Return the probability of one placement of `count` motifs: 1 / (counts x placements)."""
    return 1 / (len(COUNTS) * len(placements(count, last_position)))


def flow(count: int, split: Split = "constant5", last_position: int = LAST_POSITION) -> float:
    r"""Return the probability that flows from placements of `count` motifs to those of one fewer.

    .. math:: \sum_{s} \min(n_s\, p_{k} / d,\; p_{k-1})

    over the placements s of k - 1 motifs, where n_s placements of k motifs become s by losing one. Each splits its
    probability between its d = k possible successors. The authors' notebook has d = 5 for every k, which gives the
    published 0.465.

    Parameters
    ----------
    count
        k, at least 1.
    split
        ``constant5`` (as published) or ``k`` (each placement gives away exactly its own probability).
    last_position
        Last of the positions 0, 1, ...

    Returns
    -------
    float
        0 if there are no placements of k motifs.

    Raises
    ------
    ValueError
        If the split is unknown.

    Examples
    --------
    >>> [round(flow(count), 3) for count in (4, 5, 6)]
    [0.198, 0.196, 0.071]
    """
    if split not in ("constant5", "k"):
        raise ValueError(f"split={split!r} must be constant5 or k")
    larger = placements(count, last_position)
    if not larger:
        return 0.0
    given = placement_probability(count, last_position) / (5 if split == "constant5" else count)
    taken = placement_probability(count - 1, last_position)
    received = dict.fromkeys(placements(count - 1, last_position), 0.0)
    for placement in larger:
        for lost in range(count):
            received[placement[:lost] + placement[lost + 1 :]] += given
    return sum(min(amount, taken) for amount in received.values())


def alpha(split: Split = "constant5", last_position: int = LAST_POSITION) -> float:
    """Return alpha: the sum of the flows of all counts but the smallest, which has no successors.

    Examples
    --------
    >>> round(alpha(), 3), round(alpha("k"), 3)
    (0.465, 0.494)
    """
    return sum(flow(count, split, last_position) for count in COUNTS[1:])
