"""Environments of a table: their tree, from a file or by clustering, and the split of their rows (no torch)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from sparseid.data.paths import unusable
from sparseid.data.trees import ROOT, Tree, tree_of_merges
from sparseid.errors import InputError
from sparseid.spelling import did_you_mean
from sparseid.streams import FIXED
from sparseid.text import as_lines, check_once, read_text, table_of

KEYS = ("data.tree",)
PUNCTUATION = "(),:;"
TOKEN = re.compile(r"'(?:[^']|'')*'|[(),;:]|[^()\[\]',;:]+")
"""A quoted name, a sign, or a name or length."""
SPACE = re.compile(r"(?:\s|\[[^\]]*\])+")
"""Spaces and comments, which are in brackets."""
ANYTHING = ("", "children", "name", "length")
BEFORE: dict[str, tuple[str, ...]] = {
    "(": ("",),
    "name": ("", "children"),
    ":": ("", "children", "name"),
    "length": (":",),
    **dict.fromkeys(",);", ANYTHING),
}
"""Token -> what its node may have before it."""
LISTED = 5
"""Maximum number of names in a message, and of environments in the name of an unnamed node."""


class Nodes(NamedTuple):
    """Nodes of a tree as they are in a file.

    Attributes
    ----------
    names
        Name of each node; empty for one without a name.
    parents
        Number of the parent of each node, -1 for the root.
    supports
        Inner nodes that a Newick file labels with a number without quotes: programs write the support of a branch
        there, which is no name and may occur twice.
    """

    names: list[str]
    parents: list[int]
    supports: tuple[int, ...] = ()


class NamedTree(NamedTuple):
    """A tree whose observed nodes are the environments of a table, in their order.

    Attributes
    ----------
    tree
        The tree.
    arcs
        (arcs,) name of the lower node of each arc, all different; of an unnamed one the environments below it, ``a+b``.
    """

    tree: Tree
    arcs: NDArray[np.str_]


def read_nodes(path: Path) -> Nodes:
    """Return the nodes of a tree in a Newick file, or in a csv file with the columns child and parent.

    Raises
    ------
    InputError
        If the file cannot be read or is no tree.
    """
    if reason := unusable(path):
        raise InputError(f"the tree {path} {reason}: name a file, or set data.tree=cluster", KEYS)
    text = read_text(path, KEYS)
    try:
        return parse_newick(text) if text.lstrip().startswith(("(", "[")) else parse_arcs(text)
    except ValueError as error:
        raise InputError(f"the tree {path}: {error}", KEYS) from error


def is_newick(text: str) -> bool:
    """Return whether a text, and not the path of a file, is a tree in Newick format: a parenthesis, behind comments.

    Examples
    --------
    >>> [is_newick(text) for text in ("(a,b);", " [&R] [two] ((a,b),c);", "[old] tree.nwk", "trees/(a).nwk")]
    [True, True, False, False]
    """
    start = SPACE.match(text)
    return text.startswith("(", start.end() if start else 0)


def parse_newick(text: str) -> Nodes:
    """Return the nodes of a tree in Newick format; lengths and comments are ignored.

    Raises
    ------
    ValueError
        If it is not one tree in this format; with the place.

    Examples
    --------
    >>> parse_newick("((a:1,'b c')ab,d);")
    Nodes(names=['', 'ab', 'a', 'b c', 'd'], parents=[-1, 0, 1, 1, 0], supports=())
    >>> parse_newick("((a,b)95,c);").supports
    (1,)
    """
    names, parents, node = [""], [ROOT], 0
    supports: list[int] = []
    before = ""  # what the present node has so far: nothing, its children, its name, the colon or the length after it
    for place, token in _tokens(text):
        if before == ";":
            raise ValueError(f"character {place}: {token!r} follows the tree, which ends with a semicolon: remove it")
        if token in ",)" and node == 0:
            what = "a comma outside of parentheses" if token == "," else "a parenthesis is closed that was not opened"
            raise ValueError(f"character {place}: {what}")
        kind = token if token in PUNCTUATION else "length" if before == ":" else "name"
        if before not in BEFORE[kind] or (kind == "length" and not _is_number(token)):
            wanted = "a length" if before == ":" else "a comma, a parenthesis or a semicolon"
            raise ValueError(f"character {place}: {token!r} where {wanted} is expected")
        if token == ";":
            if node:
                raise ValueError(f"character {place}: a parenthesis is not closed")
            before = ";"
            continue
        if token in "(,":
            parents.append(node if token == "(" else parents[node])
            node = len(names)
            names.append("")
        elif token == ")":
            node = parents[node]
        elif kind == "name":
            names[node] = token[1:-1].replace("''", "'") if token[0] == "'" else token
            if before == "children" and all(map(_is_number, token.split("/"))):  # several supports: 95/0.99
                supports.append(node)
        before = {"(": "", ",": "", ")": "children"}.get(token, kind)
    if before != ";":
        raise ValueError(f"character {len(text) + 1}: a tree in Newick format ends with a semicolon")
    return Nodes(names, parents, tuple(supports))


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place, from 1, and the text of each token of a tree in Newick format."""
    position = 0
    while position < len(text):
        if found := SPACE.match(text, position):
            position = found.end()
        elif found := TOKEN.match(text, position):
            yield position + 1, found[0].strip()
            position = found.end()
        else:
            what = {"'": "a quote is not closed", "[": "a comment is not closed"}.get(text[position])
            raise ValueError(f"character {position + 1}: {what or 'a comment is closed that was not opened'}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_arcs(text: str) -> Nodes:
    r"""Return the nodes of a csv table of child and parent, whose first line names the columns.

    Raises
    ------
    ValueError
        If a line lacks one of them, a child has two lines, there is not exactly one root, or arcs form a circle.

    Examples
    --------
    >>> parse_arcs("child,parent\na,ab\nb,ab\n")
    Nodes(names=['a', 'ab', 'b'], parents=[1, -1, 1], supports=())
    """
    records = table_of(as_lines(text), ",")
    first, header = next(records, (1, []))
    columns = [name.strip().casefold() for name in header]
    if "child" not in columns or "parent" not in columns:
        raise ValueError("a Newick file begins with a parenthesis, a csv file with the names child,parent")
    check_once(columns, ("child", "parent"), first)
    parent_of: dict[str, str] = {}
    for line, fields in records:
        child, parent = (fields[columns.index(name)].strip() for name in ("child", "parent"))
        if not child:
            raise ValueError(f"line {line}: the child is missing")
        if child in parent_of:
            above = parent_of[child]
            raise ValueError(f"line {line}: {child!r} already {f'has a parent, {above!r}' if above else 'is the root'}")
        parent_of[child] = parent
    parent_of = {child: parent for child, parent in parent_of.items() if parent}
    names = list(dict.fromkeys(name for pair in parent_of.items() for name in pair))
    if circle := _circle(parent_of):
        text = " -> ".join(circle if len(circle) <= LISTED + 1 else (*circle[:LISTED], "...", circle[-1]))
        raise ValueError(f"the parents form a circle, {text}: one of these nodes has another parent, or none")
    if len(roots := [name for name in names if name not in parent_of]) != 1:
        raise ValueError(f"a tree has one node without a parent, not {len(roots)} ({', '.join(roots[:LISTED])})")
    return Nodes(names, [names.index(parent_of[name]) if name in parent_of else ROOT for name in names])


def _circle(parent_of: Mapping[str, str]) -> list[str]:
    """Return the nodes of a circle, from one to its parent and on to itself again; empty if there is none."""
    free: set[str] = set()  # of circles
    for start in parent_of:
        path: dict[str, None] = {}
        node = start
        while node in parent_of and node not in free:
            if node in path:
                return [*list(path)[list(path).index(node) :], node]
            path[node] = None
            node = parent_of[node]
        free.update(path)
    return []


def tree_of_nodes(nodes: Nodes, environments: list[str]) -> NamedTree:
    """Return the part of a tree above the environments, without nodes that only pass an arc on.

    Raises
    ------
    InputError
        If an environment is not a node, or a name occurs twice; supports are no names unless an environment has them.
    """
    unnamed = {node for node in nodes.supports if nodes.names[node] not in environments}
    nodes = nodes._replace(names=["" if node in unnamed else name for node, name in enumerate(nodes.names)])
    if missing := [name for name in environments if name not in nodes.names]:
        near = did_you_mean(missing[0], [name for name in nodes.names if name])
        known = ", ".join([name for name in nodes.names if name][:LISTED])
        raise InputError(f"the tree has no node {missing[0]!r}; {near or f'its nodes: {known}'}", KEYS)
    if twice := [name for name, nodes_of_name in Counter(filter(None, nodes.names)).items() if nodes_of_name > 1]:
        raise InputError(f"the tree has several nodes {twice[0]!r}: make names unique", KEYS)
    places = [nodes.names.index(name) for name in environments]
    parents = _thinned(dict(enumerate(nodes.parents)), set(places))
    kept = {node: number for number, node in enumerate(parents)}
    above = np.array([kept.get(parent, ROOT) for parent in parents.values()])
    tree = Tree(above, np.array([kept[place] for place in places]))
    return _named(tree, [nodes.names[node] for node in parents], environments)


def _thinned(parents: dict[int, int], observed: set[int]) -> dict[int, int]:
    """Return the parents of the nodes that are left without leaves, and nodes with one child, that have no samples."""
    while True:
        children: dict[int, list[int]] = {node: [] for node in parents}
        for node, above in parents.items():
            if above != ROOT:
                children[above].append(node)
        spare = next((node for node in parents if node not in observed and len(children[node]) < 2), None)
        if spare is None:
            return parents
        above = parents.pop(spare)
        for child in children[spare]:
            parents[child] = above


def clustered_tree(features: NDArray[np.floating], numbers: NDArray[np.int64], environments: list[str]) -> NamedTree:
    """Return the tree of a hierarchical clustering of environments by their mean features, with average linkage.

    Parameters
    ----------
    features
        (samples, features) on a common scale.
    numbers
        (samples,) environment of each sample.
    environments
        Names of the environments, at least two.
    """
    means = np.stack([features[numbers == number].mean(axis=0) for number in range(len(environments))])
    tree = tree_of_merges(linkage(means, "average"))
    return _named(tree, environments + [""] * (tree.nodes - len(environments)), environments)


def _named(tree: Tree, names: list[str], environments: list[str]) -> NamedTree:
    """Return a tree with the names of its arcs."""
    below = tree.incidence.T.astype(bool)  # (arcs, environments)
    arcs = []
    for arc, node in enumerate(tree.lower_nodes):
        under = [environments[number] for number in np.flatnonzero(below[arc])]
        joined = "+".join(under[:LISTED]) + (f"+{len(under) - LISTED} more" if len(under) > LISTED else "")
        while joined in names:  # such as those of combined treatments
            joined = f"({joined})"
        arcs.append(names[node] or joined)
    return NamedTree(tree, np.array(arcs, np.str_))


def split_environments(
    environments: NDArray[np.str_], validation: float, held_out: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the training, validation and test rows: fractions of each environment, the same for every seed.

    Raises
    ------
    InputError
        If there are fewer than two environments, or one has too few rows for two in training and one in the others.
    """
    names, counts = np.unique(environments, return_counts=True)
    if len(names) < 2:
        raise InputError(f"the only environment is {str(names[0])!r}: a tree needs two", ("data.environment",))
    parts: tuple[list[NDArray[np.int64]], ...] = ([], [], [])
    for number, (name, count) in enumerate(zip(names, counts, strict=True)):
        test, middle = (max(1, round(count * share)) for share in (held_out, validation))
        if count - test - middle < 2:
            text = f"environment {str(name)!r} has {count} rows, of which {max(0, count - test - middle)} would train"
            keys = ("data.environment", "data.validation", "data.held_out")
            raise InputError(f"{text}, and two are needed: lower data.validation or data.held_out, or drop it", keys)
        order = FIXED.numpy("tree_table/split", number, count).permutation(np.flatnonzero(environments == name))
        for part, rows in zip(parts, np.split(order, [count - test - middle, count - test]), strict=True):
            part.append(rows)
    train, middle_rows, test_rows = (np.sort(np.concatenate(part)) for part in parts)
    return train, middle_rows, test_rows
