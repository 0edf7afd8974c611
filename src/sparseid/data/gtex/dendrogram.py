"""The tree of cell types: hierarchical clustering of their mean expression, as by scanpy's ``tl.dendrogram``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, leaves_list, linkage
from scipy.sparse import issparse
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.decomposition import PCA

from sparseid.data.trees import Tree, tree_of_merges

COMPONENTS = 50
"""Number of principal components for the comparison of types; scanpy's default."""


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """A clustering of types.

    Attributes
    ----------
    merges
        SciPy's linkage (types - 1, 4); leaves have the numbers of the types, not of the plot.
    correlation
        Correlation (types, types) of the types' means.
    """

    merges: NDArray[np.float64]
    correlation: NDArray[np.float64]

    @property
    def tree(self) -> Tree:
        """The rooted binary tree whose leaves are the types."""
        return tree_of_merges(self.merges)

    @property
    def plot_order(self) -> NDArray[np.int64]:
        """Types in the order of a plot, from left to right, (types,)."""
        return leaves_list(self.merges).astype(np.int64)

    def closest(self, leaf: int) -> int:
        """Return the type that merges with `leaf` at the lowest height; of several the most correlated one."""
        heights = squareform(cophenet(self.merges))[leaf]
        others = np.delete(np.arange(len(heights)), leaf)
        return int(others[np.lexsort((-self.correlation[leaf, others], heights[others]))[0]])


def centred_components(expression: Any) -> NDArray[np.floating]:
    """Return the components (cells, components) in which scanpy compares types if a file stores none.

    These are the 50 principal components of the centred expression, or all but one if there are fewer; up to 50 genes
    are used directly. A sparse matrix (cells, genes) stays sparse: it is centred in the products.
    """
    if expression.shape[1] <= COMPONENTS:
        return expression.toarray() if issparse(expression) else np.asarray(expression)
    components = min(COMPONENTS, *(size - 1 for size in expression.shape))
    return PCA(components, svd_solver="arpack", random_state=0).fit_transform(expression)


def dendrogram(
    points: NDArray[np.floating],
    types: NDArray[np.integer],
    correlation: Literal["pearson", "spearman"] = "pearson",
    method: Literal["complete", "average"] = "complete",
) -> Dendrogram:
    """Cluster types by the correlation distance 1 - r of their means.

    Parameters
    ----------
    points
        (cells, dimensions), for example principal components.
    types
        (cells,) the type of each cell; every number from 0 to the largest occurs.
    correlation, method
        Scanpy's ``cor_method`` and ``linkage_method``, with its defaults.

    Raises
    ------
    ValueError
        If there are fewer than two types or dimensions, or the means of a type are the same in all dimensions; if
        `correlation` or `method` is another one.
    """
    if correlation not in ("pearson", "spearman"):
        raise ValueError(f"correlation must be pearson or spearman, got {correlation!r}")
    if method not in ("complete", "average"):
        raise ValueError(f"method must be complete or average, got {method!r}")
    counts = np.bincount(types)
    if len(counts) < 2 or points.shape[1] < 2:
        raise ValueError(f"a tree needs two types in two dimensions, got {len(counts)} in {points.shape[1]}")
    means = np.zeros((len(counts), points.shape[1]))
    np.add.at(means, types, points)
    means /= counts[:, None]
    if correlation == "spearman":
        means = rankdata(means, axis=1)
    if (flat := means.std(axis=1) == 0).any():
        raise ValueError(
            f"type {int(np.argmax(flat))} has the same mean in all dimensions: its correlations are undefined"
        )
    r = np.clip(np.corrcoef(means), -1, 1)
    distances = squareform(1 - r, checks=False)  # the diagonal is 0 up to rounding
    return Dendrogram(linkage(distances, method), r)
