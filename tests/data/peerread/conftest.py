"""Small checkouts of PeerRead and the settings to read them."""

import json

import pytest

from sparseid.data.peerread import corpus
from sparseid.data.peerread.settings import CorpusSettings, PeerreadSettings
from sparseid.data.peerread_shift.settings import PeerreadShiftSettings

TEXTS = [
    "Neural networks learn policies; the network's policy has a value.",
    "A policy network learns values. Networks (deep ones) learn features.",
    "Bayesian methods learn a posterior over the values of networks, cf. Sec. 2.",
    "Posterior methods: the features of classes are known to learners and networks.",
    "Words of another kind.",
    "",
]


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    corpus._gathered.cache_clear()


@pytest.fixture
def texts():
    """Abstracts, of which one has none of the words of the others and one is empty."""
    return list(TEXTS)


@pytest.fixture
def corpus_config():
    """Return the settings of the preset, changed as asked, for a few words."""
    published = {"sections": ["one", "two"], "words": 6, "max_df": 0.9, "min_df": 0.0007, "min_count": 2}
    return lambda **changes: CorpusSettings(**(published | changes))


@pytest.fixture
def settings(corpus_config):
    return lambda fold=0, **changes: PeerreadSettings(corpus=corpus_config(**changes), folds=2, fold=fold)


@pytest.fixture
def shift_settings(corpus_config):
    return lambda topics=4, sigma_shift=0.5, **changes: PeerreadShiftSettings(
        corpus=corpus_config(**changes), topics=topics, sigma_shift=sigma_shift
    )


@pytest.fixture
def checkout(tmp_path):
    """Write papers into two sections and return the checkout."""

    def write(texts=TEXTS):
        for number, text in enumerate(texts):
            section, part = ("one", "two")[number >= len(texts) // 2], ("test", "train", "dev")[number % 3]
            folder = tmp_path / "PeerRead" / "data" / section / part / "reviews"
            folder.mkdir(parents=True, exist_ok=True)
            paper = {"id": str(number), "title": "A title", "abstract": text, "reviews": []}
            (folder / f"{number:04}.json").write_text(json.dumps(paper))
        return tmp_path / "PeerRead"

    return write
