"""Settings of a user-provided table of environments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.table_settings import TableSettings
from sparseid.settings import Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.tables import Table

CLUSTER = "cluster"


@dataclass
class TreeTableSettings(TableSettings):
    """User-provided samples of environments on a tree: a row per sample, with its environment and its label."""

    name: str = "tree_table"
    environment: str = setting("Column with the environment of each row.", default="environment")
    label: str = setting("Column with the number to predict.", default="label")
    tree: str = setting(
        "File of the tree whose nodes are the environments: Newick, or a csv file of child and parent; or cluster: "
        "hierarchical clustering (average linkage) of the mean features of the environments' training rows.",
        default=CLUSTER,
        file=True,
    )
    validation: float = setting(
        "Fraction of the rows of each environment for validation; `held_out` is that for the test.", above=0, below=1
    )
    standardise: bool = setting(
        "Scale features and label to the mean and spread of the training rows: errors are then fractions of the "
        "label's variance.",
        default=True,
    )

    loads = "sparseid.data.tree_table.datamodule:TreeTableData"
    interface = "environments"

    def columns(self) -> list[str]:
        """Return the columns left out, and those of environment and label."""
        return [*super().columns(), self.environment, self.label]

    def table_errors(self, table: Table, run: Run) -> Iterator[SettingsError]:
        """Yield environments that are too small or missing from the tree, labels that are no numbers, large batches."""
        from sparseid.data.tree_table.environments import read_nodes, split_environments, tree_of_nodes  # NumPy

        table.numbers(self.label)
        environments = table.classes(self.environment)
        if self.tree != CLUSTER:  # first: a misspelled environment is a small one, too
            tree_of_nodes(read_nodes(Path(self.tree)), sorted(set(environments.tolist())))
        train, _, _ = split_environments(environments, self.validation, self.held_out)
        if len(train) < run.trainer.batch_size:
            text = f"{len(train)} training rows do not fill a batch: lower trainer.batch_size"
            yield SettingsError(("trainer.batch_size", "data.path"), text)
