"""Data module of a user-provided table of environments, the same for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.data.environments import EnvironmentData, EnvironmentSplit
from sparseid.data.tables import Scale, Table, single_precision
from sparseid.data.tree_table.environments import (
    Nodes,
    clustered_tree,
    read_nodes,
    split_environments,
    tree_of_nodes,
)
from sparseid.data.tree_table.settings import CLUSTER

if TYPE_CHECKING:
    from sparseid.data.tree_table.settings import TreeTableSettings
    from sparseid.settings import RunNumbers


class TreeTableData(EnvironmentData):
    """Training, validation and test rows of each environment; members differ only in initialisation and batches.

    Parameters
    ----------
    table
        Features, and columns of environments and labels, from a file or from arrays in memory.
    seeds
        One per member.
    batch_size
        Training rows of a member per step.
    environment, label
        Names of these columns.
    validation, held_out
        Fractions of the rows of each environment for validation and test.
    nodes
        The tree; None to cluster the environments.
    standardise
        Scale features and label to the mean and spread of the training rows.

    Attributes
    ----------
    label_scale
        Scale of the training rows by which labels were standardised; None if they were not.

    Raises
    ------
    InputError
        If an environment is too small or not in the tree, or a label is no number.
    """

    has_baselines = True

    def __init__(
        self,
        table: Table,
        seeds: Sequence[int],
        batch_size: int,
        environment: str,
        label: str,
        validation: float,
        held_out: float,
        nodes: Nodes | None = None,
        standardise: bool = True,
    ) -> None:
        of_rows = table.classes(environment)
        names, numbers = np.unique(of_rows, return_inverse=True)
        named = tree_of_nodes(nodes, names.tolist()) if nodes else None
        self._parts = split_environments(of_rows, validation, held_out)
        train, _, test = self._parts
        labels = table.numbers(label)[:, None]
        scale = Scale.of(table.values, train)
        self.input_scale = scale if standardise else None
        self.label_scale = Scale.of(labels, train) if standardise else None
        named = named or clustered_tree(scale.apply(table.values[train]), numbers[train], names.tolist())
        super().__init__(named.tree, list(seeds), batch_size, len(test))
        self._numbers = torch.from_numpy(numbers.astype(np.int64))
        self._inputs = table.singles(self.input_scale)
        self._labels = single_precision("values", labels, [label], table.where, self.label_scale)[:, 0]
        self.features, self.latents = len(table.names), 0
        self.names = {
            "feature_names": table.names,
            "environment_names": names,
            "arc_names": named.arcs,
            "row_ids": table.ids[test],
        }
        self.remarks += [
            *table.remarks,
            f"{len(table.ids)} rows of {len(names)} environments, {len(train)} of them for training; "
            f"{self.features} features; a tree of {named.tree.nodes} nodes",
        ]

    @classmethod
    def from_settings(cls, settings: TreeTableSettings, run: RunNumbers) -> Self:  # type: ignore[override]
        """Return the data module of a run, which reads the files."""
        tree = None if settings.tree == CLUSTER else Path(settings.tree)
        made = cls(
            settings.table(),
            run.seeds,
            run.batch_size,
            settings.environment,
            settings.label,
            settings.validation,
            settings.held_out,
            read_nodes(tree) if tree else None,
            settings.standardise,
        )
        made.record_files([Path(settings.path), *([tree] if tree else [])])
        return made

    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Return the training, validation and test rows, once per member."""
        train, validation, test = (self._split(part) for part in self._parts)
        return train, validation, test

    def _split(self, rows: NDArray[np.int64]) -> EnvironmentSplit:
        members = len(self.seeds)
        inputs, labels = (torch.from_numpy(values[rows]) for values in (self._inputs, self._labels))
        return EnvironmentSplit(inputs.repeat(members, 1, 1), labels.repeat(members, 1), self._numbers[rows])
