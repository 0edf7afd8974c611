import dataclasses

import pytest
import torch

from sparseid.data.cache import digest
from sparseid.data.folds import fold_numbers
from sparseid.data.peerread import corpus
from sparseid.data.peerread.counts import counted
from sparseid.data.peerread.datamodule import PeerreadData, corpus_note
from sparseid.settings import settings_errors


def ready(config, seeds=(0, 1)):
    data = PeerreadData(config, seeds, batch_size=2)
    data.setup()
    return data


def test_a_fold_is_held_out(texts, settings, checkout):
    config = settings(source="folder", path=str(checkout(texts * 3)))
    counts, data = counted(config.corpus), ready(config)
    held_out = fold_numbers(len(counts.matrix), 2) == 0
    assert torch.equal(data.test[1], torch.from_numpy(counts.matrix[held_out].astype("float32")))
    assert torch.equal(data.train[0], torch.from_numpy(counts.matrix[~held_out].astype("float32")))
    assert (data.likelihood, data.row_normalised) == ("multinomial", True)
    assert data.feature_names == counts.words.tolist()
    assert "6 documents left out that hold fewer than 2 of these words" in data.remarks[-1]


def test_the_checkout_its_content_and_its_sections_are_told_of(texts, settings, checkout):
    path = str(checkout(texts * 3))
    data = ready(settings(source="folder", path=path))
    (content,) = data.files.values()
    assert data.remarks[0] == f"read {path}, sections one, two (SHA-256 of the abstracts {content[:16]})"
    assert ready(settings()).remarks[0].startswith("2988 documents")


def test_other_sections_than_the_papers_are_not_its_data(corpus_config):
    assert corpus_note(corpus_config(source="folder")).startswith(
        "PeerRead's one, two, where the paper has arxiv.cs.ai"
    )
    assert corpus_note(corpus_config(source="folder", sections=list(corpus.PAPERS_SECTIONS[::-1]))) == ""
    assert "SciTLDR" in corpus_note(corpus_config())


@pytest.mark.parametrize(
    ("short", "said"), [(0, "5 counted"), (1, "; 1 document left out that holds fewer"), (2, "; 2 documents left out")]
)
def test_documents_left_out_are_counted_as_one_or_several(settings, checkout, short, said):
    texts = ["posterior network", "network value policy", *["other words"] * short]
    remark = ready(settings(source="folder", path=str(checkout(texts)), words=4, max_df=1.0, min_count=2)).remarks[-1]
    assert said in remark
    assert ("left out" in remark) == bool(short)


def test_a_run_is_known_by_its_texts_and_not_by_their_place(settings, checkout, tmp_path):
    config = settings(source="folder", path=str(checkout()))
    (path,) = config.user_files().values()
    moved = tmp_path / "moved"
    (tmp_path / "PeerRead").rename(moved)
    (other,) = settings(source="folder", path=str(moved)).user_files().values()
    assert digest(path) == digest(other)
    sorted(moved.rglob("*.json"))[0].write_text('{"abstract": "Something else"}')
    corpus._gathered.cache_clear()  # a process looks once
    (changed,) = settings(source="folder", path=str(moved)).user_files().values()
    assert digest(changed) != digest(path)
    assert settings().user_files() == settings(source="folder", path="/nowhere").user_files() == {}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"source": "20ng"}, "data.corpus.source"),
        ({"path": "/somewhere"}, "data.corpus.path"),
        ({"sections": []}, "data.corpus.sections"),
        ({"words": 1}, "data.corpus.words"),
        ({"max_docs": -1}, "data.corpus.max_docs"),
        ({"min_count": 0}, "data.corpus.min_count"),
        ({"min_df": 0.95}, "data.corpus.min_df"),
        ({"max_df": 1.5}, "data.corpus.min_df"),
        ({"max_df": float("nan")}, "data.corpus.min_df"),
        ({"fold": 2}, "data.fold"),
    ],
)
def test_impossible_settings(settings, changes, key):
    assert [keys[0] for keys, _ in settings_errors(settings(**changes), "data.", None)] == [key]
    assert list(settings_errors(settings(), "data.", None)) == []
    assert [keys for keys, _ in settings_errors(dataclasses.replace(settings(), folds=1), "data.", None)] == [
        ("data.folds",)
    ]


def test_the_checkout_is_looked_at_before_a_run(settings, checkout):
    assert list(settings().missing_files()) == []
    assert list(settings(source="folder", path=str(checkout())).missing_files()) == []
    ((keys, text),) = settings(source="folder", path="/nowhere").missing_files()
    assert "data.corpus.path" in keys
    assert "git clone" in text
