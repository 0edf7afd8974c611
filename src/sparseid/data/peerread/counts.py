"""Counts of words in abstracts: a matrix of documents by words, in the steps of the Sparse VAE's code."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import cached_arrays, digest
from sparseid.data.peerread.corpus import abstracts, text_file
from sparseid.data.peerread.settings import FOLDER, SAMPLE
from sparseid.errors import InputError
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.peerread.settings import CorpusSettings

VERSION = 1
"""Incremented when the steps or the sample change; cached counts are then recreated."""


class Counts(NamedTuple):
    """Word counts of documents.

    Attributes
    ----------
    matrix
        (documents, words) uint16, or a wider type if a word occurs more often: occurrences of a word in a document.
    words
        (words,) in alphabetical order.
    dropped
        Number of documents dropped because they have too few of these words.
    """

    matrix: NDArray[np.unsignedinteger]
    words: NDArray[np.str_]
    dropped: int


def counted(config: CorpusSettings) -> Counts:
    """Return the counts of a corpus, cached in the data folder.

    Raises
    ------
    InputError
        If the corpus cannot be read, or its words or documents are too few.
    """
    kept = cached_arrays("peerread", identity(config), lambda: count(abstracts(config), config)._asdict())
    return Counts(kept["matrix"], kept["words"], int(kept["dropped"]))


def identity(config: CorpusSettings) -> list:
    """Return the dependencies of the counts of a corpus, as plain values: the text by its content, not its path."""
    settings = dataclasses.asdict(config) | {"path": ""}
    return [VERSION, settings, digest(text_file(config)) if config.source == FOLDER else SAMPLE]


def count(texts: Sequence[str], config: CorpusSettings) -> Counts:
    """Return the counts of the most frequent words.

    Words in too many or too few documents are dropped, the ``words`` most frequent of the others are counted, and
    documents with fewer than ``min_count`` of them, including empty ones, are dropped. At most ``max_docs`` of the rest
    remain, a fixed random choice in their order.

    Parameters
    ----------
    texts
        One per document.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    from sparseid.data.peerread.words import words_of

    counter = CountVectorizer(analyzer=words_of, max_df=config.max_df, min_df=config.min_df, max_features=config.words)
    try:
        matrix = counter.fit_transform(texts).toarray()
    except ValueError as error:  # no words remain
        empty = sum(not text for text in texts)
        reason = f"{empty} are empty (files of papers without an entry abstract)" if empty else str(error)
        raise InputError(f"the {len(texts)} abstracts have no words left: {reason}", _KEYS) from error
    words = counter.get_feature_names_out()
    if len(words) < config.words:
        text = f"the {len(texts)} abstracts have {len(words)} words that are neither too frequent nor too rare"
        raise InputError(f"{text}, fewer than data.corpus.words={config.words}: lower it", _KEYS)
    kept = np.flatnonzero(matrix.sum(axis=1) >= config.min_count)
    dropped = len(matrix) - len(kept)
    if config.max_docs:
        kept = np.sort(FIXED.numpy("peerread/documents").permutation(kept)[: config.max_docs])
    wide_enough = np.promote_types(np.uint16, np.min_scalar_type(int(matrix.max(initial=0))))
    return Counts(matrix[kept].astype(wide_enough), words.astype(np.str_), dropped)


_KEYS = ("data.corpus.words", "data.corpus.min_df", "data.corpus.path")
