"""Settings of word counts of abstracts; numbers of the paper's code stand in ``configs/data/peerread.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import FeatureMatrixSettings, Keys, Run, SettingsError, setting

SAMPLE, FOLDER = "scitldr", "folder"


@dataclass
class CorpusSettings:
    """Abstracts and the words that are counted in them."""

    source: str = setting(
        "scitldr (abstracts that the project holds) or folder (a checkout of PeerRead, the paper's).",
        default=SAMPLE,
        choices=(SAMPLE, FOLDER),
    )
    path: str = setting("The checkout; empty is data/PeerRead. A run is known by its content.", default="")
    sections: list[str] = setting("Folders of the checkout's data that abstracts are taken from, in this order.")
    max_docs: int = setting("Most documents, chosen at random; 0 is all.", default=0, at_least=0)
    words: int = setting("Words kept: the most frequent.", at_least=2)
    max_df: float = setting("Words in more than this fraction of documents are skipped.")
    min_df: float = setting("Words in less than this fraction of documents are skipped.")
    min_count: int = setting("Documents with fewer words left are skipped.", at_least=1)

    def errors(self) -> Iterator[SettingsError]:
        """Yield what makes the settings of the corpus impossible."""
        if self.source == SAMPLE and self.path:
            text = "data.corpus.path names a checkout of PeerRead: write data.corpus.source=folder"
            yield SettingsError(("data.corpus.path", "data.corpus.source"), text)
        if not self.sections:
            yield SettingsError(("data.corpus.sections",), "data.corpus.sections names no folder")
        if not 0 <= self.min_df < self.max_df <= 1 or math.isnan(self.min_df + self.max_df):
            text = "shares of documents: 0 <= data.corpus.min_df < data.corpus.max_df <= 1"
            yield SettingsError(("data.corpus.min_df", "data.corpus.max_df"), text)


@dataclass
class WordCountSettings(FeatureMatrixSettings):
    """Settings of any data set of word counts."""

    corpus: CorpusSettings = setting("Abstracts and words.", default=CorpusSettings)

    likelihood = "multinomial"

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield that the checkout is not there or cannot be used, with what to do; it is read once."""
        if self.corpus.source != FOLDER:
            return
        from sparseid.data.peerread.counts import counted

        try:
            counted(self.corpus)
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the user's abstracts, all in one file; none where there are none that can be read."""
        if self.corpus.source != FOLDER:
            return {}
        from sparseid.data.peerread.corpus import text_file

        try:
            return {"path": text_file(self.corpus)}
        except InputError:
            return {}


@dataclass
class PeerreadSettings(WordCountSettings):
    """Word counts of abstracts of papers."""

    name: str = "peerread"
    folds: int = setting("Parts of which one is held out.", at_least=2)
    fold: int = setting("The part that is held out.", default=0)

    loads = "sparseid.data.peerread.datamodule:PeerreadData"
    obtained_by = "sparseid.data.peerread.obtain:peerread"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, whatever the texts are."""
        yield from self.corpus.errors()
        if not 0 <= self.fold < self.folds:
            text = f"data.fold must be between 0 and {self.folds - 1}, one of data.folds"
            yield SettingsError(("data.fold", "data.folds"), text)

    def row_keys(self) -> Keys:
        """Return the column of the paper's table, the fold and the corpus."""
        return {"dataset": self.name, "fold": self.fold, "source": self.corpus.source}
