"""Simulated phenotypes: labels linear in the expression of a few genes, with weights that change along the tree.

TBR, section 4.1: the simulation of section 4 with measured expression instead of simulated latents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparseid.data.trees import Tree
from sparseid.streams import Streams


@dataclass(frozen=True, eq=False)
class Phenotype:
    """Weights of one simulated phenotype.

    Attributes
    ----------
    root_weights
        Weights w_0 of the root, (latents,).
    deltas
        Change along each arc of the full tree, (arcs, latents).
    weights
        Weights w_e of the environments, (environments, latents).
    """

    root_weights: NDArray[np.float64]
    deltas: NDArray[np.float64]
    weights: NDArray[np.float64]


def draw_phenotype(
    tree: Tree, latents: int, sparsity: int, delta_std: float, streams: Streams, choice: int = 0
) -> Phenotype:
    """Draw the weights of a phenotype.

    Phenotypes of a seed that differ only in the sparsity have the same root weights and values of changes, and the
    weights that change at S also change at S + 1, so that points of a curve against S are comparable.

    Parameters
    ----------
    tree
        Tree of environments.
    latents
        Number of weights of an environment; w_0 is standard normal.
    sparsity
        S, the number of weights that change along each arc, uniform over all choices.
    delta_std
        Standard deviation of a change.
    streams, choice
        The random streams of the seed, and the number of the choice of latents.
    """
    rng = streams.numpy("gtex/weights", choice)
    root_weights = rng.standard_normal(latents)
    values = delta_std * rng.standard_normal((tree.arcs, latents))
    deltas = values * sparse_rows(tree.arcs, latents, sparsity, rng)
    return Phenotype(root_weights, deltas, root_weights + tree.incidence @ deltas)


def unseen_weights(nearest: NDArray[np.floating], delta_std: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the weights of an unseen environment: those of the closest one with one weight changed."""
    changed = sparse_rows(1, len(nearest), 1, rng)[0]
    return nearest + delta_std * rng.standard_normal(len(nearest)) * changed


def sparse_rows(rows: int, columns: int, ones: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return (rows, columns) with exactly `ones` true entries in each row, uniform over all choices."""
    return rng.random((rows, columns)).argsort(axis=1).argsort(axis=1) < ones
