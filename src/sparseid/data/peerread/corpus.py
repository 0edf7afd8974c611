"""Sources of abstracts: a user-provided checkout of PeerRead, or the project's sample."""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.cache import cached_file
from sparseid.data.paths import data_folder, samples_folder, unusable
from sparseid.data.peerread.settings import FOLDER
from sparseid.errors import InputError
from sparseid.text import lines_of, read_json, read_text, visible

if TYPE_CHECKING:
    from sparseid.data.peerread.settings import CorpusSettings

SAMPLE_FILE = "scitldr_abstracts.txt.gz"
PAPERS_SECTIONS = ("arxiv.cs.ai_2007-2017", "arxiv.cs.cl_2007-2017", "arxiv.cs.lg_2007-2017")
"""Folders of PeerRead with the Sparse VAE's documents, inferred from their numbers of papers."""
PARTS = ("train", "dev", "test")
"""Folders of a section of PeerRead, in the order in which they are read."""

SURROGATE = re.compile("[\ud800-\udfff]")

KEYS = ("data.corpus.path", "data.corpus.source")

HOW_TO_GET = """\
  git clone https://github.com/allenai/PeerRead (682 MB), and write data.corpus.path=/path/to/PeerRead, or place or
  link it as {place}. Only data/<section>/{{train,dev,test}}/reviews/*.json is read.
  make data DATASETS=peerread PEERREAD=/path/to/PeerRead checks it.
  None of this is needed for data.corpus.source=scitldr"""


def abstracts(config: CorpusSettings) -> list[str]:
    """Return the abstracts of a corpus, in a fixed order, including empty ones.

    Raises
    ------
    InputError
        If there is no checkout, it lacks a section, or one of its files cannot be read.
    """
    return lines_of(read_text(text_file(config))) if config.source == FOLDER else _sample()


def text_file(config: CorpusSettings) -> Path:
    """Return the file with all abstracts of a checkout, one a line, gathered on first use.

    Raises
    ------
    InputError
        As :func:`abstracts`.
    """
    return _gathered(place_of(config), tuple(config.sections), data_folder())


def place_of(config: CorpusSettings) -> Path:
    """Return the folder of the checkout."""
    return Path(config.path) if config.path else data_folder() / "PeerRead"


@cache
def _gathered(place: Path, sections: tuple[str, ...], target: Path) -> Path:
    """Gather the abstracts again if any file has changed; `target` is the data folder, which may be moved."""
    files = _files(place, sections)
    try:
        state = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}", KEYS) from error
    key = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    path = target / "cache" / "peerread" / f"abstracts-{key}.txt"
    return cached_file(
        path, lambda file: file.write_text("".join(f"{_abstract(p)}\n" for p in files), encoding="utf-8")
    )


def _files(place: Path, sections: tuple[str, ...]) -> list[Path]:
    base = place / "data" if (place / "data").is_dir() else place
    if missing := [section for section in sections if not (base / section).is_dir()]:
        text = f"there is no PeerRead with the section {' and the section '.join(missing)} in {place}"
        raise InputError(f"{text}\n{HOW_TO_GET.format(place=data_folder() / 'PeerRead')}", KEYS)
    files = [
        path
        for section in sections
        for part in PARTS
        for path in visible((base / section / part / "reviews").glob("*.json"))
    ]
    if not files:
        raise InputError(f"no section in {base} has a file <part>/reviews/*.json: is the checkout complete?", KEYS)
    return files


def _abstract(path: Path) -> str:
    """Return the abstract of a file in one line; empty if it has none.

    Half a surrogate pair, possible in JSON but not in UTF-8, becomes U+FFFD: neither is a letter of any word.
    """
    if reason := unusable(path):
        raise InputError(f"{path} {reason}\n  Is the checkout complete?", KEYS)
    paper = read_json(path, KEYS)
    if not isinstance(paper, dict):
        raise InputError(f"{path} is not the JSON file of a paper: it holds no object with named entries", KEYS)
    text = paper.get("abstract")
    if not isinstance(text, str | None):
        raise InputError(f"{path} is not the JSON file of a paper: its abstract is not text", KEYS)
    return SURROGATE.sub("\ufffd", " ".join((text or "").split()))


def _sample() -> list[str]:
    return gzip.decompress((samples_folder() / SAMPLE_FILE).read_bytes()).decode().splitlines()
