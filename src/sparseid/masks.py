"""Masks: the 0/1 matrix of which observation reads which latent, read from files and checked (NumPy only).

A mask has a row per observation and a column per latent; entry (k, i) says that observation k reads latent i. This
module holds the part that data sets need as well, since they must not import methods; the theory of a mask is in
`methods.ddl.structure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparseid.errors import InputError
from sparseid.text import as_lines, read_text, records_of

Mask = NDArray[np.bool_]

LAYOUT = "one line per observation, an entry per latent with commas between them: 1 where it reads the latent, else 0"


class Evidence(NamedTuple):
    """Clause of Sufficient Diversity that separates a latent from all others (Assumption 2).

    Attributes
    ----------
    clause
        1: the latent is the only one that `special` reads and the other observations of A do not; 2: the only one that
        all others read and `special` does not; 3: the only one that all of A read (structural sparsity).
    special
        The observation X_k of clauses 1 and 2; None for clause 3.
    others
        The other observations of A.
    """

    clause: int
    special: int | None
    others: tuple[int, ...]


def as_mask(values: ArrayLike) -> Mask:
    """Convert a matrix of 0 and 1 to (observations, latents) bool.

    Raises
    ------
    InputError
        If it is not a matrix, is empty, or holds anything but 0 and 1.

    Examples
    --------
    >>> as_mask([[1, 0], [1, 1]]).tolist()
    [[True, False], [True, True]]
    """
    matrix = np.asarray(values)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"a mask is a matrix, observations by latents, with at least one of each; got {matrix.shape}")
    if not np.isin(matrix, (0, 1)).all():
        raise InputError("a mask holds only 0 and 1")
    return matrix.astype(bool)


def read_mask(path: Path) -> Mask:
    r"""Return the (observations, latents) mask in a file of comma-separated 0 and 1; empty lines are skipped.

    Raises
    ------
    InputError
        If the file is missing, empty or not text, a line holds names or other numbers, or lines differ in length.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _, _ = file.write("1,0\n1,1\n"), file.flush()
    ...     read_mask(Path(file.name)).tolist()
    [[True, False], [True, True]]
    """
    try:
        records = list(records_of(as_lines(read_text(path)), ","))
    except ValueError as error:
        raise InputError(f"{path}, {error}. A mask is a csv file, {LAYOUT}") from error
    except InputError as error:
        raise InputError(f"{error}. A mask is a csv file, {LAYOUT}") from error
    rows = [(number, [entry.strip() for entry in entries]) for number, entries in records]
    if not rows:
        raise InputError(f"{path} is empty: a mask has {LAYOUT}")
    for place, (number, entries) in enumerate(rows):
        if wrong := [entry for entry in entries if entry not in ("0", "1")]:
            header = place == 0 and len(rows) > 1 and set(rows[1][1]) <= {"0", "1"} and not {"0", "1"} & set(entries)
            names = any(letter.isalpha() for letter in "".join(entries))  # otherwise another separator, or 1.0 for 1
            hint = "a mask has no line of names: delete it" if header and names else f"write {LAYOUT}"
            raise InputError(f"{path}, line {number}: {wrong[0]!r} is neither 0 nor 1; {hint}")
        if len(entries) != len(rows[0][1]):
            text = f"{len(entries)} entries where line {rows[0][0]} has {len(rows[0][1])}"
            raise InputError(f"{path}, line {number}: {text}; every observation needs an entry for every latent")
    return as_mask([[int(entry) for entry in entries] for _, entries in rows])


def perfect_matching(mask: Mask) -> NDArray[np.intp] | None:
    """Return a distinct observation (latents,) for each latent, one that reads it; None if this is impossible.

    Without a perfect matching g cannot be injective: everywhere its Jacobian has fewer independent columns than
    latents.

    Examples
    --------
    >>> perfect_matching(as_mask([[1, 1], [1, 0]])).tolist()
    [1, 0]
    """
    found, _ = _match(mask)
    return found


def crowd(mask: Mask) -> list[int]:
    """Return a set of latents that violates Hall's condition (more latents than observations), or an empty list.

    Examples
    --------
    >>> crowd(as_mask([[1, 1, 0], [0, 0, 1], [0, 0, 1]]))
    [0, 1]
    """
    _, crowded = _match(mask)
    return crowded


def _match(mask: Mask) -> tuple[NDArray[np.intp] | None, list[int]]:
    """Return a perfect matching, or None and a set of latents that violates Hall's condition."""
    owner: dict[int, int] = {}
    observation: dict[int, int] = {}
    for latent in range(mask.shape[1]):
        if crowded := _augment(mask, latent, owner, observation):
            return None, sorted(crowded)
    return np.array([observation[latent] for latent in range(mask.shape[1])]), []


def _augment(mask: Mask, latent: int, owner: dict[int, int], observation: dict[int, int]) -> list[int]:
    """Match a latent, moving others if necessary (augmenting path); return all latents tried if it is impossible."""
    reached_from: dict[int, int] = {}
    queue = [latent]
    for current in queue:  # grows during the loop
        for place in np.flatnonzero(mask[:, current]).tolist():
            if place in reached_from:
                continue
            reached_from[place] = current
            if place in owner:
                queue.append(owner[place])
                continue
            while True:  # back along the path: each latent moves one further
                mover = reached_from[place]
                before = observation.get(mover)
                owner[place], observation[mover] = mover, place
                if mover == latent:
                    return []
                assert before is not None
                place = before
    return queue


def evidence(mask: Mask) -> list[list[Evidence]]:
    """Return for each latent the clauses of Sufficient Diversity that hold for it, the strongest (3) first.

    Closed form of Assumption 2: with ch(i) the observations that read i and I_k the latents that observation k reads,

    * clause 3: the intersection of I_k over ch(i) is {i};
    * clause 1: for a k in ch(i), I_k without the union of I_j over all j outside ch(i) is {i};
    * clause 2: for a k outside ch(i), the intersection of I_j over ch(i), without I_k, is {i}.

    These use the largest set A that each clause allows; the evidence names only the observations needed.

    Examples
    --------
    >>> lower_triangular = as_mask([[1, 0], [1, 1]])
    >>> [[one.clause for one in found] for found in evidence(lower_triangular)]
    [[3, 1], [1, 2]]
    """
    return [list(_evidence_of(mask, latent)) for latent in range(mask.shape[1])]


def _evidence_of(mask: Mask, latent: int) -> Iterator[Evidence]:
    reads = mask[:, latent]
    readers, strangers = np.flatnonzero(reads).tolist(), np.flatnonzero(~reads).tolist()
    if not readers:
        return
    rivals = ~np.eye(mask.shape[1], dtype=bool)[latent]
    # each observation of A removes rivals: the latents it does not read (intersection) or those it reads (difference)
    if not (rivals & mask[readers].all(axis=0)).any():
        yield Evidence(3, None, _needed(rivals, readers, ~mask) or (readers[0],))
    for special in readers:
        left = rivals & mask[special]
        if not (left & ~mask[strangers].any(axis=0)).any():
            yield Evidence(1, special, _needed(left, strangers, mask))
            break
    for special in strangers:
        left = rivals & ~mask[special]
        if not (left & mask[readers].all(axis=0)).any():
            yield Evidence(2, special, _needed(left, readers, ~mask) or (readers[0],))
            break


def _needed(rivals: Mask, observations: Iterable[int], removes: Mask) -> tuple[int, ...]:
    """Return a few observations that together remove all rivals, greedily: always the one that removes most."""
    left, chosen, candidates = rivals.copy(), [], list(observations)
    while left.any():
        best = max(candidates, key=lambda place: int((left & removes[place]).sum()))
        chosen.append(best)
        left &= ~removes[best]
    return tuple(sorted(chosen))


def sufficiently_diverse(mask: Mask) -> bool:
    """Return whether Sufficient Diversity holds: for every latent, one of its clauses does (Assumption 2).

    Examples
    --------
    >>> from sparseid.masks import as_mask
    >>> sufficiently_diverse(as_mask([[1, 0], [1, 1]])), sufficiently_diverse(as_mask([[1, 1], [1, 1]]))
    (True, False)
    """
    return all(evidence(mask))


def regions(mask: Mask) -> list[list[int]]:
    """Return the atomic regions, sets of latents read by the same observations, in the order of their first latents.

    Latents that no observation reads belong to no region.

    Examples
    --------
    >>> regions(as_mask([[1, 1, 0, 0], [1, 1, 1, 0]]))
    [[0, 1], [2]]
    """
    found: dict[bytes, list[int]] = {}
    for latent in np.flatnonzero(mask.any(axis=0)).tolist():
        found.setdefault(mask[:, latent].tobytes(), []).append(latent)
    return list(found.values())


def why_not_injective(mask: Mask) -> Iterator[str]:
    """Yield the reasons, as text, why no g with this dependency structure can be injective.

    Examples
    --------
    >>> list(why_not_injective(as_mask([[1, 1, 0]])))
    ['no observation reads z3', 'z1 and z2 are read only by x1: 2 latents need at least 2 observations']
    """
    unread = np.flatnonzero(~mask.any(axis=0)).tolist()
    if unread:
        yield f"no observation reads {latent_names(unread)}"
    yield from why_too_few(mask)


def why_too_few(mask: Mask) -> Iterator[str]:
    """Yield the reason, if any, why no g can be injective in the latents that are read: too few observations of some.

    Examples
    --------
    >>> list(why_too_few(as_mask([[0, 1, 1, 0]])))
    ['z2 and z3 are read only by x1: 2 latents need at least 2 observations']
    """
    read = np.flatnonzero(mask.any(axis=0))
    crowded = read[crowd(mask[:, read])].tolist()
    if crowded:
        few = np.flatnonzero(mask[:, crowded].any(axis=1)).tolist()
        verb = f"{latent_names(crowded)} are read only by {observation_names(few)}"
        yield f"{verb}: {len(crowded)} latents need at least {len(crowded)} observations"


def latent_names(numbers: Iterable[int]) -> str:
    """Return latents, numbered from 0, in their printed form (from 1): ``z1, z2 and z4``."""
    return _listed([f"z{number + 1}" for number in numbers])


def observation_names(numbers: Iterable[int]) -> str:
    """Return observations, numbered from 0, in their printed form (from 1): ``x1 and x3``."""
    return _listed([f"x{number + 1}" for number in numbers])


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
