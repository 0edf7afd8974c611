"""Claims of Diverse Dictionary Learning about masks alone, computed without any run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from sparseid.data.mlp_mixture.masks import FAMILIES, circulant
from sparseid.methods.ddl.structure import (
    Mask,
    as_mask,
    atomic_regions,
    keeps_support,
    separated_by,
    structurally_sparse,
    sufficiently_diverse,
)
from sparseid.papers.claims import ClaimCheck, Finding, claim

MASKS = 2080
"""Number of random masks to compare closed form and definition."""
LARGEST = 5, 4
"""Maximal numbers of their observations and latents."""
PAIRS = 200
"""Number of random masks and matrices T to test rule (R)."""
DIMS = (3, 4, 5)
DIVERSE = {
    "identity": True,
    "circulant": True,
    "lower_triangular": True,
    "ones_minus_identity": True,
    "dense": False,
    "dense_minus_edge": False,
}
"""Family of masks -> whether it is Sufficiently Diverse."""
COUNTER_EXAMPLE = ("1100", "1110", "1101", "1000", "0100")
"""Distinct columns of a mask of five latents without Sufficient Diversity."""
VENN = as_mask([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
"""Three sets of latents with one in each of the seven regions of their diagram."""


def by_definition(mask: Mask) -> bool:
    """Return whether every latent has a set of observations with one of the three clauses (Assumption 2)."""
    read = [set(np.flatnonzero(row).tolist()) for row in mask]
    numbers = range(len(read))
    sets = [chosen for size in range(1, len(read) + 1) for chosen in combinations(numbers, size)]
    found = {frozenset(latents) for chosen in sets for latents in _singled_out([read[k] for k in chosen])}
    return all(frozenset([latent]) in found for latent in range(mask.shape[1]))


def _singled_out(sets: list[set[int]]) -> Iterator[set[int]]:
    """Yield the sets of latents that the clauses single out, from the latents of each observation of a set A."""
    yield set.intersection(*sets)
    for place, one in enumerate(sets):
        others = [*sets[:place], *sets[place + 1 :]]
        yield one.difference(*others)
        if others:
            yield set.intersection(*others) - one


def family(name: str, n: int) -> Mask:
    """Return the n x n mask of a family; a circulant one has two latents per row."""
    return circulant(n, 2) if name == "circulant" else FAMILIES[name](n)


def _exact(right: int, total: int, what: str) -> Finding:
    return Finding("holds" if right == total else "fails", f"{right:,} of {total:,} {what}", float(right))


def without_runs(compute: Callable[[], Finding]) -> ClaimCheck:
    """Return a check without rows, computed once."""
    once = cache(compute)

    def check(rows: pd.DataFrame) -> Finding:
        return once()

    return check


@claim("ddl-theory-checker")
@without_runs
def checker() -> Finding:
    generator = np.random.default_rng(0)
    most, latents = LARGEST
    shapes = [(generator.integers(1, most + 1), generator.integers(1, latents + 1)) for _ in range(MASKS)]
    masks = [generator.random(shape) < 0.5 for shape in shapes]
    agree = sum(sufficiently_diverse(mask) == by_definition(mask) for mask in masks)
    return _exact(agree, MASKS, "random masks give the same answer")


@claim("ddl-theory-families")
@without_runs
def families() -> Finding:
    right = [sufficiently_diverse(family(name, n)) == diverse for name, diverse in DIVERSE.items() for n in DIMS]
    right += [not structurally_sparse(family("lower_triangular", n)) for n in DIMS]
    return _exact(sum(right), len(right), "statements about families of masks are true")


@claim("ddl-theory-columns-not-enough")
@without_runs
def columns_not_enough() -> Finding:
    mask = as_mask([[int(entry) for entry in column] for column in COUNTER_EXAMPLE]).T
    right = [len(set(COUNTER_EXAMPLE)) == mask.shape[1], not sufficiently_diverse(mask)]
    return _exact(sum(right), len(right), "statements about the counter-example are true")


@claim("ddl-theory-rule-r")
@without_runs
def rule_r() -> Finding:
    generator = np.random.default_rng(0)
    right = total = 0
    while total < PAIRS:
        mask = generator.random((5, 4)) < 0.6
        allowed = keeps_support(mask)
        forbidden = np.argwhere(~allowed)
        if not mask.any(axis=0).all() or not len(forbidden):
            continue
        jacobian, values = mask * generator.normal(size=mask.shape), generator.normal(size=allowed.shape)
        unchanged = jacobian @ (values * allowed) != 0
        violating = allowed.copy()
        violating[tuple(forbidden[generator.integers(len(forbidden))])] = True
        grown = jacobian @ (values * violating) != 0
        right += bool((unchanged == mask).all()) and bool((grown & ~mask).any())
        total += 1
    return _exact(right, total, "random Jacobians keep their support with T, and grow with a forbidden entry")


@claim("ddl-theory-venn")
@without_runs
def venn() -> Finding:
    regions = atomic_regions(VENN)
    separated = 0
    for (latent,) in regions:
        others = {other for (other,) in regions} - {latent}
        choices = [_separated(latent, one, two) for one, two in combinations(_choices(), 2)]
        separated += any(others <= latents for latents in choices)
    return _exact(separated, len(regions), "regions of three sets are separated from the rest by two choices")


def _choices() -> list[tuple[list[int], list[int]]]:
    """Return the pairs of sets of observations to compare."""
    groups = [list(chosen) for size in (1, 2) for chosen in combinations(range(len(VENN)), size)]
    return list(combinations(groups, 2))


def _separated(latent: int, *choices: tuple[list[int], list[int]]) -> set[int]:
    """Return the latents that some choices of two sets of observations separate from one."""
    found = np.zeros(VENN.shape[1], dtype=bool)
    for first, second in choices:
        for pairs in separated_by(VENN, first, second).values():
            found |= pairs[latent]
    return set(np.flatnonzero(found).tolist())
