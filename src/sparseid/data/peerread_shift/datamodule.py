"""Data module of shifted word counts: one simulation per member of the stack, the same test for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from sparseid.data.feature_matrix import Matrices
from sparseid.data.peerread.counts import counted
from sparseid.data.peerread.datamodule import WordCounts
from sparseid.data.peerread_shift.generator import draw
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.peerread_shift.settings import PeerreadShiftSettings


class PeerreadShiftData(WordCounts):
    """Training documents with correlated topics, test documents with the topics of the corpus.

    Parameters
    ----------
    config
        Settings of the corpus and the correlation of its topics.
    seeds
        One per member, for its simulation.
    batch_size
        Training documents of a member per step.

    Raises
    ------
    InputError
        If the corpus cannot be used, or its documents are too short for any count.
    """

    def __init__(self, config: PeerreadShiftSettings, seeds: Sequence[int], batch_size: int) -> None:
        counts = counted(config.corpus)
        train, test = draw(config, counts, seeds)
        if not len(test):
            text = "all expected counts are below a half: the documents are too short for so many words"
            raise InputError(text, ("data.corpus.words", "data.corpus.path"))
        self._made = Matrices(torch.from_numpy(train), torch.from_numpy(test)[None])
        super().__init__(config, counts, seeds, batch_size, len(test))
        self.remarks.append(f"{len(test)} of {len(counts.matrix)} documents have an expected count of some word")

    def make(self) -> Matrices:
        """Return the simulated training documents of each member, and the test documents."""
        return self._made
