"""Settings of word counts of abstracts; numbers of the paper's code stand in ``configs/data/peerread.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class CorpusConfig:
    """Abstracts and the words that are counted in them."""

    source: str = "scitldr"
    """scitldr (abstracts that the project holds) or folder (a checkout of PeerRead, the paper's)."""
    path: str = ""
    """The checkout; empty is data/PeerRead. A run is known by its content."""
    sections: list[str] = MISSING
    """Folders of the checkout's data that abstracts are taken from, in this order."""
    max_docs: int = 0
    """Most documents, chosen at random; 0 is all."""
    words: int = MISSING
    """Words kept: the most frequent."""
    max_df: float = MISSING
    """Words in more than this share of documents are left out."""
    min_df: float = MISSING
    """Words in less than this share of documents are left out."""
    min_count: int = MISSING
    """Documents with fewer words left are left out."""


@dataclass
class PeerreadConfig:
    """Word counts of abstracts of papers."""

    name: str = "peerread"
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    folds: int = MISSING
    """Parts of which one is held out."""
    fold: int = 0
    """Which one."""


@dataclass
class PeerreadShiftConfig:
    """Word counts made from topics of the abstracts: correlated topics train, those of the corpus test."""

    name: str = "peerread_shift"
    corpus: CorpusConfig = field(default_factory=CorpusConfig)
    topics: int = MISSING
    """Topics of the fitted model, even: the second half are replaced by noisy copies of the first."""
    sigma_shift: float = MISSING
    """Standard deviation of a copy's logarithm around the original: the smaller, the more topics are correlated."""
