"""Rooted trees whose nodes are environments, with the arcs from the root to each observed environment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROOT = -1
"""Parent of the root."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree and its observed nodes, those with data.

    Every node but the root has one arc to its parent. Arcs are numbered like their lower nodes, without the root.

    Parameters
    ----------
    parents
        (nodes,) int64: the parent of each node, -1 for the root.
    observed
        (environments,) int64: the node of each observed environment.

    Raises
    ------
    ValueError
        If there is not exactly one root, a parent or an observed node does not exist, or the arcs form a cycle.

    Examples
    --------
    >>> tree = perfect_binary_tree(2)  # 0 is the root, 1 and 2 its children, 3 to 6 the leaves
    >>> tree.leaves.tolist()
    [3, 4, 5, 6]
    >>> tree.incidence[3].tolist()  # environment 3 is node 4: its path has the arcs of nodes 1 and 4
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """

    parents: NDArray[np.int64]
    observed: NDArray[np.int64]

    def __post_init__(self) -> None:
        nodes = len(self.parents)
        if np.count_nonzero(self.parents == ROOT) != 1:
            raise ValueError("a rooted tree has exactly one node without a parent (-1)")
        if self.parents.min() < ROOT or self.parents.max() >= nodes:
            raise ValueError(f"parents are nodes from 0 to {nodes - 1}, or -1 for the root")
        if len(self.observed) and not (self.observed.min() >= 0 and self.observed.max() < nodes):
            raise ValueError(f"observed environments are nodes from 0 to {nodes - 1}")
        self._ancestors()  # raises if the arcs form a cycle

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @property
    def arcs(self) -> int:
        """Number of arcs: one per node but the root."""
        return self.nodes - 1

    @property
    def root(self) -> int:
        """The node without a parent."""
        return int(np.flatnonzero(self.parents == ROOT)[0])

    @property
    def leaves(self) -> NDArray[np.int64]:
        """Nodes without children, ascending."""
        return np.setdiff1d(np.arange(self.nodes), self.parents)

    @property
    def lower_nodes(self) -> NDArray[np.int64]:
        """Lower node of each arc, (arcs,)."""
        return np.flatnonzero(self.parents != ROOT)

    @property
    def incidence(self) -> NDArray[np.float32]:
        """Incidence matrix (environments, arcs): 1 for arcs on the path from the root to the environment, else 0.

        With root weights w_0 and arc deltas D the weights of the environments are ``w_0 + incidence @ D`` (TBR, Eq. 2).
        """
        return self._ancestors()[np.ix_(self.observed, self.lower_nodes)].astype(np.float32)

    @property
    def observed_arcs(self) -> NDArray[np.int64]:
        """Arcs between observed environments, (arcs, 2): environment numbers of the upper and the lower end."""
        number = np.full(self.nodes + 1, -1)  # one more entry: the root's parent -1 is not an environment
        number[self.observed] = np.arange(len(self.observed))
        ends = np.stack([number[self.parents[self.observed]], np.arange(len(self.observed))], axis=1)
        return ends[ends[:, 0] >= 0]

    def _ancestors(self) -> NDArray[np.bool_]:
        """Return (nodes, nodes) bool: the second node is on the path from the first to the root, both included."""
        above = np.zeros((self.nodes, self.nodes), bool)
        below, node = np.arange(self.nodes), np.arange(self.nodes)
        while len(node):
            if above[below, node].any():
                raise ValueError("the arcs form a cycle")
            above[below, node] = True
            goes_on = self.parents[node] != ROOT
            below, node = below[goes_on], self.parents[node[goes_on]]
        return above


def perfect_binary_tree(depth: int, leaves_only: bool = False) -> Tree:
    """Return a perfect binary tree: root 0, children of node i at 2i + 1 and 2i + 2.

    Parameters
    ----------
    depth
        Number of arcs between the root and a leaf, at least 1: ``2**depth`` leaves.
    leaves_only
        Observe only the leaves instead of every node but the root.

    Raises
    ------
    ValueError
        If `depth` is below 1.
    """
    if depth < 1:
        raise ValueError(f"a tree with arcs has depth 1 or more, got {depth}")
    nodes = 2 ** (depth + 1) - 1
    parents = (np.arange(nodes) - 1) // 2
    first = 2**depth - 1 if leaves_only else 1
    return Tree(parents, np.arange(first, nodes))


def tree_of_merges(linkage: NDArray[np.floating]) -> Tree:
    """Return the tree of a hierarchical clustering; its leaves are the observed environments, in their order.

    Parameters
    ----------
    linkage
        (groups - 1, 4) in the format of SciPy: row i merges two nodes into node ``groups + i``. Heights are not used.

    Raises
    ------
    ValueError
        If the rows do not merge every group into one.
    """
    groups = len(linkage) + 1
    parents = np.full(2 * groups - 1, ROOT)
    for row, merged in enumerate(linkage[:, :2].astype(np.int64)):
        parents[merged] = groups + row
    return Tree(parents, np.arange(groups))


def without_environment(tree: Tree, environment: int, contract: bool = False) -> tuple[Tree, NDArray[np.int64]]:
    """Return the tree without an observed leaf and without the arc to it.

    Parameters
    ----------
    tree
        The full tree.
    environment
        Number of the observed environment to remove; its node must be a leaf.
    contract
        Also remove its parent, which then has one child: its two arcs become one, or the remaining child
        becomes the root if the parent was the root.

    Returns
    -------
    Tree
        The other environments keep their order.
    NDArray
        (nodes of the new tree,) node numbers in the full tree.

    Raises
    ------
    ValueError
        If the environment is not at a leaf, or its parent is observed and `contract` is True.
    """
    leaf = tree.observed[environment]
    parent = tree.parents[leaf]
    if leaf not in tree.leaves or parent == ROOT:
        raise ValueError(f"environment {environment} is not at a leaf below another node")
    parents, removed = tree.parents.copy(), [leaf]
    siblings = np.setdiff1d(np.flatnonzero(parents == parent), leaf)
    if contract and len(siblings) == 1:
        if parent in tree.observed:
            raise ValueError(f"node {parent} has data and cannot be contracted")
        parents[siblings[0]] = parents[parent]
        removed.append(parent)
    kept = np.setdiff1d(np.arange(tree.nodes), removed)
    renumber = np.full(tree.nodes + 1, ROOT)  # the last entry maps the root's parent -1 to itself
    renumber[kept] = np.arange(len(kept))
    observed = np.delete(tree.observed, environment)
    return Tree(renumber[parents[kept]], renumber[observed]), kept
