"""Over-representation of known gene sets among chosen genes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from scipy.stats import false_discovery_control, hypergeom

LEVEL = 0.05
"""False discovery rate."""


def enriched_sets(
    chosen: Sequence[Collection[str]], background: Collection[str], gene_sets: Mapping[str, Collection[str]]
) -> list[list[str]]:
    """Return the gene sets over-represented in each choice of genes.

    A choice of n genes of which k belong to a set (m of the N background genes) has the one-sided hypergeometric p
    value P(at least k). The p values of all choices and sets are adjusted together by Benjamini and Hochberg; sets with
    at most 0.05 count as enriched.

    Parameters
    ----------
    chosen
        Genes of each choice, all of them in the background.
    background
        Genes that could have been chosen.
    gene_sets
        Name -> genes. Genes outside the background are ignored; sets without any inside are not tested.

    Returns
    -------
    list of list of str
        Names of the enriched sets of each choice, lowest p value first.

    Examples
    --------
    >>> genes = [f"g{number}" for number in range(40)]
    >>> enriched_sets([genes[:5]], genes, {"first": genes[:5], "others": genes[5:20]})
    [['first']]
    """
    known = frozenset(background)
    inside = {name: known & frozenset(genes) for name, genes in gene_sets.items()}
    names = [name for name, genes in inside.items() if genes]
    if not names or not chosen:
        return [[] for _ in chosen]
    choices = [frozenset(genes) for genes in chosen]
    hits = np.array([[len(genes & inside[name]) for name in names] for genes in choices])
    sizes = np.array([len(inside[name]) for name in names])
    drawn = np.array([[len(genes)] for genes in choices])
    p = hypergeom.sf(hits - 1, len(known), sizes, drawn)
    adjusted = false_discovery_control(p, axis=None).reshape(p.shape)
    return [
        [names[column] for column in np.argsort(p[row], kind="stable") if adjusted[row, column] <= LEVEL]
        for row in range(len(choices))
    ]
