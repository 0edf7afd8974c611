"""What settings of the shifted word counts cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sparseid.data.peerread.settings import Fault, absent_files, corpus_faults, placed_files

if TYPE_CHECKING:
    from sparseid.config.peerread import PeerreadShiftConfig

__all__ = ["absent_files", "faults", "placed_files"]


def faults(config: PeerreadShiftConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the texts are."""
    yield from corpus_faults(config.corpus)
    if config.topics < 2 or config.topics % 2:
        text = "a half of the topics are copies of the other half: data.topics must be even, at least 2"
        yield ("data.topics",), text
    if not 0 < config.sigma_shift < math.inf:
        yield ("data.sigma_shift",), "data.sigma_shift must be above 0"
