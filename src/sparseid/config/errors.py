"""The answer to a wrong configuration: one message that names the setting, where it came from and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import OSA

from sparseid.errors import InputError


class ConfigError(InputError):
    """A configuration that cannot be run; ``str(error)`` is ready to print.

    Parameters
    ----------
    problem
        What is wrong, naming the setting.
    source
        The file or the command-line override the setting came from.
    hint
        What to do: the nearest valid name, the command to use instead.
    """

    def __init__(self, problem: str, *, source: str = "", hint: str = "") -> None:
        self.problem, self.source, self.hint = problem, source, hint
        lines = [problem, source and f"from: {source}", *hint.splitlines()]
        super().__init__("\n  ".join(line for line in lines if line))


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """Return the candidates nearest to a mistyped `name`: several where equally near, none where none is near.

    Nearest is the fewest single-character edits (insert, delete, replace, swap neighbours), up to a third of the name.
    The right last part counts as one edit alone (``lr`` finds ``method.optimizer.lr``), as 1.5 under a wrong parent.

    Parameters
    ----------
    name
        What was written, for example ``trainer.max_sample``.
    candidates
        Valid names.
    limit
        Longest answer.

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
    # Names farther off than the nearest only distract.
    return sorted(candidate for candidate, distance in distances.items() if distance == min(distances.values()))[:limit]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return ``did you mean: ...`` or, where nothing is near, an empty string."""
    found = nearest(name, candidates)
    return f"did you mean: {', '.join(found)}" if found else ""
