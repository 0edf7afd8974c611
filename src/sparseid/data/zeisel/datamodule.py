"""Data module of the cells: all are used for training and evaluation, the same for all members of the stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from sparseid.data.feature_matrix import FeatureData, Matrices
from sparseid.data.zeisel.gene_sets import place_of_sets, read_gene_sets
from sparseid.data.zeisel.prepare import prepared
from sparseid.data.zeisel.settings import ORIGINAL

if TYPE_CHECKING:
    from sparseid.data.zeisel.settings import ZeiselSettings

PAPERS_CELLS, PAPERS_CLASSES = 3005, 7
"""Numbers of cells and classes in the laboratory's file, which has no published checksum."""
OTHER_GENES = "the paper's cells with other genes: not the paper's data"


class ZeiselData(FeatureData):
    """All cells, with their classes, without a held-out set, as in the authors' code.

    Parameters
    ----------
    config
        Settings of cells and genes.
    seeds
        One per member, for initialisation and batches.
    batch_size
        Cells of a member per step.

    Raises
    ------
    InputError
        If the file or a setting cannot be used.
    """

    likelihood = "gaussian"

    def __init__(self, config: ZeiselSettings, seeds: Sequence[int], batch_size: int) -> None:
        made = prepared(config)
        super().__init__(seeds, batch_size, len(made.matrix))
        self._matrix, self.features = made.matrix, made.matrix.shape[1]
        self.feature_names, self.labels = made.genes.tolist(), made.classes
        self.has_gene_names = config.source == ORIGINAL
        if config.enrichment:
            self.gene_sets = read_gene_sets(place_of_sets(config))
        cells, classes = len(made.matrix), len(np.unique(made.classes))
        self.note = _note(cells, classes) if self.has_gene_names else OTHER_GENES
        self.record_files(config.user_files().values())
        constant, others = made.left_out
        self.remarks.append(
            f"{cells} cells of {classes} classes, {self.features} genes; genes dropped: {constant} that do not vary, "
            f"{others} that were not chosen"
        )

        if doubled := [name for name, times in Counter(self.feature_names).items() if times > 1]:
            names = ", ".join(doubled[:3]) + (", ..." if len(doubled) > 3 else "")
            told = f"several genes have the same name ({len(doubled)}: {names}): each is a feature of its own"
            self.remarks.append(told)

    def make(self) -> Matrices:
        """Return all cells."""
        return Matrices(torch.from_numpy(self._matrix)[None])


def _note(cells: int, classes: int) -> str:
    """Return the notice for tables of results on a file of cells; empty if its numbers are the paper's."""
    if (cells, classes) == (PAPERS_CELLS, PAPERS_CLASSES):
        return ""
    return f"{cells} cells of {classes} classes, where the paper has {PAPERS_CELLS} of {PAPERS_CLASSES}"
