"""Suggestions of the closest valid name for a misspelled one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rapidfuzz.distance import OSA


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Return the candidates nearest to a misspelled `name`: several if equally near, an empty list if none is near.

    Distance is the number of single-character edits (insert, delete, replace, swap neighbours), up to a third of the
    name. A correct last part costs one edit on its own (``lr`` finds ``method.optimizer.lr``), 1.5 under a wrong
    parent.

    Parameters
    ----------
    name
        The misspelled name, for example ``trainer.max_sample``.
    candidates
        Valid names.
    limit
        Maximum number of candidates.

    Examples
    --------
    >>> nearest("trainer.max_sample", ["trainer.max_samples", "trainer.batch_size"])
    ['trainer.max_samples']
    >>> nearest("lr", ["method.optimizer.lr", "seed"])
    ['method.optimizer.lr']
    >>> nearest("zebra", ["seed"])
    []
    """
    last = name.rpartition(".")[2]
    distances = {}
    for candidate in candidates:
        whole = OSA.distance(name, candidate)
        part = OSA.distance(last, candidate.rpartition(".")[2])
        near = [float(whole)] if whole <= max(1, len(name) // 3) else []
        if part <= len(last) // 4:
            near.append((1.5 if "." in name else 1.0) + part)
        if near:
            distances[candidate] = min(near)
    # Names farther away than the nearest only distract.
    return sorted(candidate for candidate, distance in distances.items() if distance == min(distances.values()))[:limit]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return ``did you mean: ...``, or an empty string if no candidate is near."""
    found = nearest(name, candidates)
    return f"did you mean: {', '.join(found)}" if found else ""


def unlisted(key: str, value: object, allowed: Collection[object]) -> str:
    """Return the error text for a setting whose value is not allowed; empty for an allowed value.

    Examples
    --------
    >>> unlisted("data.source", "orginal", ("sample", "original"))
    'data.source must be sample or original; did you mean: original'
    >>> unlisted("data.source", "netflix", ("sample", "original"))
    'data.source must be sample or original'
    >>> unlisted("data.source", "sample", ("sample", "original"))
    ''
    """
    if value in allowed:
        return ""
    names = [str(one) for one in allowed]
    found = nearest(str(value), names)
    hint = f"; did you mean: {', '.join(found)}" if len(found) < len(names) and found else ""
    return f"{key} must be {' or '.join(names)}{hint}"
