"""``make data DATASETS=peerread``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from sparseid.data.peerread.corpus import FOLDER, PAPERS_SECTIONS, abstracts
from sparseid.data.peerread.settings import CorpusSettings


def peerread() -> Iterator[str]:
    """Check PEERREAD, your checkout of github.com/allenai/PeerRead; if it is missing, print instructions."""
    config = CorpusSettings(source=FOLDER, path=os.environ.get("PEERREAD") or "", sections=list(PAPERS_SECTIONS))
    texts = abstracts(config)
    yield f"{len(texts)} papers (11,778 in the paper's), {texts.count('')} of them without an abstract"
    path = f" data.corpus.path={shlex.quote(config.path)}" if config.path else ""
    yield f"use: python run.py experiment=sparse_vae/table2 data.corpus.source=folder{path}"
