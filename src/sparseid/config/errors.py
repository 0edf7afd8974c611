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
    """Return the candidates a mistyped `name` may have meant, nearest first.

    The distance is the number of single-character edits (insert, delete, replace, swap neighbours); a third of the name
    may be wrong. Behind names that are near as a whole come those whose last part is: ``lr`` finds ``optimizer.lr``.

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
    scored = []
    for candidate in candidates:
        whole = OSA.distance(name, candidate)
        if whole <= max(1, len(name) // 3):
            scored.append((whole, candidate))
            continue
        last, candidate_last = name.rpartition(".")[2], candidate.rpartition(".")[2]
        part = OSA.distance(last, candidate_last)
        if part <= len(last) // 4:
            # Right name under a wrong parent: behind every near miss of the whole name.
            scored.append((len(name) + part, candidate))
    scored.sort()
    # Names much farther off than the best only distract.
    return [candidate for distance, candidate in scored if distance <= scored[0][0] + 1][:limit]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return ``did you mean: ...`` or, where nothing is near, an empty string."""
    found = nearest(name, candidates)
    return f"did you mean: {', '.join(found)}" if found else ""
