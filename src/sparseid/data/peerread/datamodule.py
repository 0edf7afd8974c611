"""Data modules of word counts: one matrix for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from sparseid.data.cache import digest
from sparseid.data.feature_matrix import FeatureData, Matrices
from sparseid.data.folds import split
from sparseid.data.peerread.corpus import PAPERS_SECTIONS, place_of
from sparseid.data.peerread.counts import Counts, counted
from sparseid.data.peerread.settings import FOLDER
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.peerread.settings import CorpusSettings, PeerreadSettings
    from sparseid.data.peerread_shift.settings import PeerreadShiftSettings


class WordCounts(FeatureData):
    """Base of the data sets of word counts, which describes their corpus.

    Parameters
    ----------
    config
        Settings of the corpus.
    counts
        Its word counts.
    seeds, batch_size, test_items
        As for every feature matrix.
    """

    likelihood = "multinomial"
    row_normalised = True

    def __init__(
        self,
        config: PeerreadSettings | PeerreadShiftSettings,
        counts: Counts,
        seeds: Sequence[int],
        batch_size: int,
        test_items: int,
    ) -> None:
        super().__init__(seeds, batch_size, test_items)
        self.features, self.feature_names = len(counts.words), counts.words.tolist()
        self.note = corpus_note(config.corpus)
        self.files = {str(path): digest(path) for path in config.user_files().values()}
        place, sections = place_of(config.corpus), ", ".join(config.corpus.sections)
        self.remarks = [
            f"read {place}, sections {sections} (SHA-256 of the abstracts {content[:16]})"
            for content in self.files.values()
        ]
        self.remarks.append(_size(counts, config.corpus.min_count))


class PeerreadData(WordCounts):
    """Training and held-out documents; members differ only in initialisation and batches.

    Parameters
    ----------
    config
        Settings of the corpus and the fold.
    seeds
        One per member.
    batch_size
        Training documents of a member per step.

    Raises
    ------
    InputError
        If the corpus or a setting cannot be used.
    """

    def __init__(self, config: PeerreadSettings, seeds: Sequence[int], batch_size: int) -> None:
        counts = counted(config.corpus)
        self._matrix, self._split = counts.matrix, split(len(counts.matrix), config.folds, config.fold)
        if not all(map(len, self._split)):
            text = f"{len(counts.matrix)} documents are too few for {config.folds} folds: lower data.folds"
            raise InputError(text, ("data.folds", "data.corpus.max_docs", "data.corpus.path"))
        super().__init__(config, counts, seeds, batch_size, len(self._split[1]))

    def make(self) -> Matrices:
        """Return the training documents and those of the held-out fold."""
        train, test = (torch.from_numpy(self._matrix[part].astype("float32"))[None] for part in self._split)
        return Matrices(train, test)


def corpus_note(config: CorpusSettings) -> str:
    """Return the notice for tables of results on a corpus; empty for the paper's."""
    if config.source != FOLDER:
        return "abstracts of SciTLDR, a third as many as PeerRead's: not the paper's data"
    if set(config.sections) == set(PAPERS_SECTIONS):
        return ""
    return f"PeerRead's {', '.join(config.sections)}, where the paper has {', '.join(PAPERS_SECTIONS)}"


def _size(counts: Counts, least: int) -> str:
    text = f"{len(counts.matrix)} documents, {len(counts.words)} words, {counts.matrix.sum()} counted"
    if not counts.dropped:
        return text
    left_out = "1 document dropped that has" if counts.dropped == 1 else f"{counts.dropped} documents dropped that have"
    return f"{text}; {left_out} fewer than {least} of these words"
