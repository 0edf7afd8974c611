"""What settings of word counts cannot be, and whether the checkout is there and can be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.peerread import corpus
from sparseid.errors import InputError
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.config.peerread import CorpusConfig, PeerreadConfig, PeerreadShiftConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: PeerreadConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the texts are."""
    yield from corpus_faults(config.corpus)
    if config.folds < 2:
        yield ("data.folds",), "data.folds must be at least 2"
    elif not 0 <= config.fold < config.folds:
        yield ("data.fold", "data.folds"), f"data.fold must be between 0 and {config.folds - 1}, one of data.folds"


def corpus_faults(config: CorpusConfig) -> Iterator[Fault]:
    """Yield what makes the settings of the corpus impossible."""
    if text := unlisted("data.corpus.source", config.source, (corpus.SAMPLE, corpus.FOLDER)):
        yield ("data.corpus.source",), text
    if config.source == corpus.SAMPLE and config.path:
        text = "data.corpus.path names a checkout of PeerRead: write data.corpus.source=folder"
        yield ("data.corpus.path", "data.corpus.source"), text
    if not config.sections:
        yield ("data.corpus.sections",), "data.corpus.sections names no folder"
    for name, number, least in (
        ("max_docs", config.max_docs, 0),
        ("words", config.words, 2),
        ("min_count", config.min_count, 1),
    ):
        if number < least:
            yield (f"data.corpus.{name}",), f"data.corpus.{name} must be at least {least}"
    if not 0 <= config.min_df < config.max_df <= 1 or math.isnan(config.min_df + config.max_df):
        text = "shares of documents: 0 <= data.corpus.min_df < data.corpus.max_df <= 1"
        yield ("data.corpus.min_df", "data.corpus.max_df"), text


def absent_files(config: PeerreadConfig | PeerreadShiftConfig) -> Iterator[Fault]:
    """Yield that the checkout is not there or cannot be used, with what to do; it is read once."""
    if config.corpus.source != corpus.FOLDER:
        return
    from sparseid.data.peerread.counts import counted

    try:
        counted(config.corpus)
    except InputError as error:
        yield error.keys, str(error)


def placed_files(config: PeerreadConfig | PeerreadShiftConfig) -> dict[str, Path]:
    """Return the user's abstracts, all in one file."""
    return corpus.placed_files(config.corpus)
