"""Settings of word counts of abstracts; values of the paper's code are in ``configs/data/peerread.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import FeatureMatrixSettings, Keys, Paths, Run, SettingsError, setting

SAMPLE, FOLDER = "scitldr", "folder"


@dataclass
class CorpusSettings(Paths):
    """Abstracts, and the words that are counted in them."""

    source: str = setting(
        "scitldr (the project's sample of abstracts) or folder (a checkout of PeerRead, the paper's).",
        default=SAMPLE,
        choices=(SAMPLE, FOLDER),
    )
    path: str = setting("Checkout; empty for data/PeerRead. The run hash covers its content.", default="", path=True)
    sections: list[str] = setting("Folders of the checkout's data from which abstracts are read, in this order.")
    max_docs: int = setting("Maximum number of documents, chosen at random; 0 for all.", default=0, at_least=0)
    words: int = setting("Number of words: the most frequent.", at_least=2)
    max_df: float = setting("Words in more than this fraction of documents are skipped.")
    min_df: float = setting("Words in less than this fraction of documents are skipped.")
    min_count: int = setting("Documents with fewer of these words are skipped.", at_least=1)

    def errors(self) -> Iterator[SettingsError]:
        """Yield errors of the settings of the corpus."""
        if self.source == SAMPLE and self.path:
            text = "data.corpus.path is a checkout of PeerRead: set data.corpus.source=folder"
            yield SettingsError(("data.corpus.path", "data.corpus.source"), text)
        if not self.sections:
            yield SettingsError(("data.corpus.sections",), "data.corpus.sections is empty: name at least one folder")
        if not 0 <= self.min_df < self.max_df <= 1 or math.isnan(self.min_df + self.max_df):
            text = "fractions of documents: 0 <= data.corpus.min_df < data.corpus.max_df <= 1"
            yield SettingsError(("data.corpus.min_df", "data.corpus.max_df"), text)


@dataclass
class WordCountSettings(FeatureMatrixSettings):
    """Settings of data sets of word counts."""

    corpus: CorpusSettings = setting("Abstracts and words.", default=CorpusSettings)

    likelihood = "multinomial"

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if the checkout is missing or unusable, with the remedy; it is read once."""
        if self.corpus.source != FOLDER:
            return
        from sparseid.data.peerread.counts import counted

        try:
            counted(self.corpus)
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the user-provided abstracts, gathered in one file; empty if they cannot be read."""
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
    folds: int = setting("Number of folds, one of which is held out.", at_least=2)
    fold: int = setting("Held-out fold.", default=0)

    loads = "sparseid.data.peerread.datamodule:PeerreadData"
    obtained_by = "sparseid.data.peerread.obtain:peerread"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors that do not depend on the texts."""
        yield from self.corpus.errors()
        if not 0 <= self.fold < self.folds:
            text = f"data.fold must be between 0 and {self.folds - 1}, one of data.folds"
            yield SettingsError(("data.fold", "data.folds"), text)

    def row_keys(self) -> Keys:
        """Return the column of the paper's table, the fold and the corpus."""
        return {"dataset": self.name, "fold": self.fold, "source": self.corpus.source}
