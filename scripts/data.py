"""Download and check data, or print how to obtain them (make data DATASETS="gtex movielens").

audiomnist reads AUDIOMNIST, your checkout of github.com/soerenab/AudioMNIST. movielens downloads the release that
MOVIELENS names: ml-25m (the default, the paper's), ml-latest-small, ml-1m or ml-100k. zeisel downloads the paper's
cells. peerread reads PEERREAD, your checkout of github.com/allenai/PeerRead. gtex reads GTEX_H5AD (the atlas),
TF_TARGETS (the table of transcription factors) and TF_LAYOUT (the table's columns: htftarget, the default, or dorothea)
from the environment: make data DATASETS=gtex GTEX_H5AD=/path/to/it
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator

from sparseid.errors import InputError


def audiomnist() -> Iterator[str]:
    """Read the checkout at $AUDIOMNIST; if missing, explain how to get it."""
    from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
    from sparseid.data.audio_mnist_sequence.sources import recordings

    config = AudioMNISTSequenceConfig(source="audiomnist", path=os.environ.get("AUDIOMNIST") or "")
    yield "audiomnist: reading and resampling, minutes the first time"
    found = recordings(config)
    seconds = len(found.samples) / 8000
    yield f"{len(found.lengths)} recordings (30,000 in the paper's) of {len(found.speakers)} speakers, {seconds:,.0f} s"
    path = f" data.path={shlex.quote(config.path)}" if config.path else ""
    yield f"use: data.source=audiomnist{path}"


def gtex() -> Iterator[str]:
    """Check the atlas at $GTEX_H5AD and the table at $TF_TARGETS; if missing, explain how to get them."""
    from sparseid.data.gtex.check import check_atlas
    from sparseid.data.gtex.sources import atlas_path, atlas_table_path
    from sparseid.data.gtex.tf_targets import LAYOUTS

    layout = os.environ.get("TF_LAYOUT") or "htftarget"
    if layout not in LAYOUTS:
        raise InputError(f"TF_LAYOUT={layout}: write {' or '.join(LAYOUTS)}")
    path = atlas_path("")
    try:
        table = atlas_table_path("")
    except InputError:
        yield from check_atlas(path)  # the atlas can be checked without the table
        raise
    papers = yield from check_atlas(path, table, layout)
    files = f"GTEX_H5AD={shlex.quote(str(path))} TF_TARGETS={shlex.quote(str(table))}"
    own_layout = "" if layout == "htftarget" else f" data.tf_layout={layout}"
    if not papers:
        yield "NOT the paper's cells: runs on them are marked, and not compared with the paper. If a column"
        yield "above has the paper's numbers, add data.groupby='its name'"
    elif own_layout:
        yield "NOT the paper's table of transcription factors: runs with it are not those of the figures"
    yield f"use: {files} python run.py experiment=tbr/fig5a scale=paper{own_layout}"


def movielens() -> Iterator[str]:
    """Download the release that $MOVIELENS names, unpack it and read it."""
    from sparseid.data.movielens.reader import read_ratings, read_titles
    from sparseid.data.movielens.sources import PAPERS, RELEASES, fetch

    source = os.environ.get("MOVIELENS") or PAPERS
    if source not in RELEASES:
        raise InputError(f"MOVIELENS={source}: write {' or '.join(RELEASES)}")
    release = RELEASES[source]
    yield f"{source}: {release.megabytes:g} MB from GroupLens, if not downloaded yet"
    folder = fetch(source)
    ratings = read_ratings(folder / release.ratings, release)
    titles, *_ = read_titles(folder / release.titles, release)
    yield f"{folder}: {len(ratings)} ratings by {ratings['userId'].nunique()} users, {len(titles)} films"
    if source != PAPERS:
        yield f"NOT the paper's release, {PAPERS}: runs on it are marked, and not compared with the paper"
    yield f"use: python run.py experiment=sparse_vae/table1 data.source={source}"


def peerread() -> Iterator[str]:
    """Check the checkout at $PEERREAD; if missing, explain how to get it."""
    from sparseid.config.peerread import CorpusConfig
    from sparseid.data.peerread.corpus import FOLDER, PAPERS_SECTIONS, abstracts

    config = CorpusConfig(source=FOLDER, path=os.environ.get("PEERREAD") or "", sections=list(PAPERS_SECTIONS))
    texts = abstracts(config)
    yield f"{len(texts)} papers (11,778 in the paper's), {texts.count('')} of them without an abstract"
    path = f" data.corpus.path={shlex.quote(config.path)}" if config.path else ""
    yield f"use: python run.py experiment=sparse_vae/table2 data.corpus.source=folder{path}"


def zeisel() -> Iterator[str]:
    """Download the laboratory's file and read it."""
    from sparseid.data.zeisel.reader import fetch, read_original

    yield "zeisel: about 120 MB, if not downloaded yet"
    cells = read_original(path := fetch())
    classes = ", ".join(f"{name} {(cells.classes == name).sum()}" for name in sorted(set(cells.classes)))
    yield f"{path}: {len(cells.genes)} genes, {len(cells.classes)} cells: {classes}"
    yield "use: python run.py experiment=sparse_vae/fig4 data.source=original"


DATASETS: dict[str, Callable[[], Iterator[str]]] = {
    "audiomnist": audiomnist,
    "gtex": gtex,
    "movielens": movielens,
    "peerread": peerread,
    "zeisel": zeisel,
}


def main() -> int:
    """Process the requested data sets; return 2 if one cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", choices=sorted(DATASETS), metavar="dataset", help=", ".join(DATASETS))
    for name in parser.parse_args().datasets:
        try:
            for line in DATASETS[name]():
                print(line, flush=True)
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
