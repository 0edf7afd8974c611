"""MAGIC: gene expression smoothed over the graph of similar cells (van Dijk et al., Cell 2018).

Each cell's expression is replaced by the mean over the cells that a random walk of `t` steps from it reaches. The graph
links each cell to its nearest ones, with an affinity that decreases with distance relative to the cell's own
neighbourhood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.neighbors import NearestNeighbors

SMALLEST_AFFINITY = 1e-4
"""Affinities below this are dropped."""


def magic(
    expression: NDArray[np.floating] | sparse.csr_matrix,
    genes: Sequence[int] | NDArray[np.integer],
    knn: int = 5,
    decay: float = 1.0,
    t: int = 3,
    components: int = 100,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the smoothed expression of some genes; all genes determine the similarity of cells.

    Parameters
    ----------
    expression
        (cells, genes), scaled by library size and log- or root-transformed; dense or sparse.
    genes
        Columns to return.
    knn, decay
        As in :func:`diffusion_operator`.
    t
        Number of steps of the random walk; 0 returns the expression unchanged.
    components
        Number of principal components for distances; all genes if 0, or if not below the numbers of cells and genes.
    seed
        Seed of the randomised decomposition.

    Returns
    -------
    NDArray
        (cells, chosen genes): every value is between the gene's smallest and largest one.
    """
    chosen = expression[:, np.asarray(genes)]
    smoothed = dense(chosen).astype(np.float64)
    if t == 0:
        return smoothed
    operator = diffusion_operator(principal_components(expression, components, seed), knn, decay)
    for _ in range(t):
        smoothed = operator @ smoothed
    return smoothed


def diffusion_operator(points: NDArray[np.floating], knn: int = 5, decay: float = 1.0) -> sparse.csr_matrix:
    """Return the matrix of the random walk between similar cells; its rows sum to 1.

    Parameters
    ----------
    points
        (cells, dimensions), compared by Euclidean distance.
    knn
        A cell's bandwidth s is the distance to its knn-th nearest other cell; it is linked to 3 x knn of them.
    decay
        The affinity at distance d is exp(-(d / s)^decay), then averaged over the two directions.

    Raises
    ------
    ValueError
        If there are at most `knn` cells.
    """
    cells = len(points)
    if cells <= knn:
        raise ValueError(f"MAGIC with {knn} neighbours needs more than {knn} cells, got {cells}")
    linked = min(3 * knn, cells - 1)
    distances, neighbours = NearestNeighbors(n_neighbors=linked).fit(points).kneighbors()  # without the cell itself
    bandwidth = np.maximum(distances[:, [knn - 1]], np.finfo(np.float64).tiny)  # 0 among identical cells
    affinity = np.exp(-((distances / bandwidth) ** decay))
    kept = affinity >= SMALLEST_AFFINITY
    rows = np.broadcast_to(np.arange(cells)[:, None], kept.shape)[kept]
    links = sparse.csr_matrix((affinity[kept], (rows, neighbours[kept])), shape=(cells, cells))
    links = links + sparse.identity(cells)
    links = (links + links.T) / 2
    return sparse.csr_matrix(sparse.diags(1 / np.asarray(links.sum(axis=1)).ravel()) @ links)


def principal_components(expression: Any, components: int, seed: int) -> NDArray[np.floating]:
    """Return the components (cells, components); all genes if 0 or not below the numbers of cells and genes.

    A sparse matrix is decomposed without centring, which would fill it, as in the reference implementation.
    """
    if not 0 < components < min(expression.shape):
        return dense(expression)
    if sparse.issparse(expression):
        return TruncatedSVD(components, random_state=seed).fit_transform(expression)
    return PCA(components, svd_solver="randomized", random_state=seed).fit_transform(expression)


def dense(values: Any) -> NDArray[np.floating]:
    """Return a dense or sparse matrix as an array."""
    return values.toarray() if sparse.issparse(values) else np.asarray(values)
