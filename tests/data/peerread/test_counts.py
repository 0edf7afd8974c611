from collections import Counter

import numpy as np
import pytest

from sparseid.data.peerread import corpus
from sparseid.data.peerread.corpus import abstracts
from sparseid.data.peerread.counts import count, counted
from sparseid.data.peerread.words import words_of
from sparseid.errors import InputError


def test_counts_are_those_of_the_most_frequent_words(texts, corpus_config):
    found = count(texts, corpus_config())
    words = [words_of(text) for text in texts]
    documents, total = Counter(), Counter()
    for document in words:
        documents.update(set(document))
        total.update(document)
    allowed = [word for word in total if documents[word] <= 0.9 * len(texts)]
    least = sorted((total[word] for word in allowed), reverse=True)[5]
    assert all(total[word] >= least for word in found.words)
    assert list(found.words) == sorted(found.words)
    assert {"network", "learn", "policy", "value"} <= set(found.words)
    kept = [document for document in words if sum(document.count(word) for word in found.words) >= 2]
    assert found.matrix.tolist() == [[document.count(word) for word in found.words] for document in kept]
    assert found.dropped == len(texts) - len(kept) == 2  # of other words, and empty


def test_too_frequent_and_too_rare_words_are_left_out(texts, corpus_config):
    frequent = count(texts, corpus_config(words=3, max_df=0.5)).words
    assert "network" not in frequent  # in four of six
    rare = count(texts, corpus_config(words=3, min_df=0.4)).words
    for word in rare:
        assert sum(word in words_of(text) for text in texts) >= 0.4 * len(texts)


def test_a_random_choice_of_documents_keeps_their_order(texts, corpus_config):
    whole, some = count(texts, corpus_config()), count(texts, corpus_config(max_docs=2))
    places = [[row.tolist() for row in whole.matrix].index(row.tolist()) for row in some.matrix]
    assert len(places) == 2
    assert places == sorted(places)


def test_too_few_words_are_refused(texts, corpus_config):
    with pytest.raises(InputError, match=r"fewer than data.corpus.words=300: lower it"):
        count(texts, corpus_config(words=300))
    with pytest.raises(InputError, match="have no words left"):
        count(["", "the of"], corpus_config())


def test_a_checkout_is_read_in_the_order_of_sections_and_parts(texts, corpus_config, checkout):
    config = corpus_config(source="folder", path=str(checkout()))
    order = [1, 2, 0, 4, 5, 3]  # three papers per section, one per part
    assert abstracts(config) == [texts[number] for number in order]
    assert abstracts(corpus_config(source="folder", path=config.path + "/data", sections=["two"])) == [
        texts[4],
        texts[5],
        texts[3],
    ]
    found = counted(config)
    assert np.array_equal(found.matrix, count([texts[number] for number in order], config).matrix)
    assert np.array_equal(counted(config).matrix, found.matrix)  # kept


def test_papers_without_an_abstract_are_empty_documents(corpus_config, checkout):
    path = checkout()
    for file, text in zip(sorted(path.rglob("*.json"))[:2], ('{"title": "x"}', '{"abstract": null}'), strict=True):
        file.write_text(text)
    texts = abstracts(corpus_config(source="folder", path=str(path)))
    assert texts.count("") == 3
    assert len(texts) == 6


def test_half_a_surrogate_pair_is_read_as_a_character_that_is_no_letter(corpus_config, checkout):
    path = checkout(["\ud800 words of net\udc00works", "\ud83d\ude00 whole", *"abcd"])  # the second as JSON has it
    texts = abstracts(corpus_config(source="folder", path=str(path)))
    assert {"\ufffd words of net\ufffdworks", "\U0001f600 whole"} < set(texts)
    assert words_of("\ufffd words of net\ufffdworks") == ["word"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", r"cannot be read as JSON \(Expecting property name"),
        (b"[" * 100_000, r"cannot be read as JSON \(its brackets are nested too deeply\)"),
        (b"[1, 2]", "is not the JSON file of a paper: it holds no object"),
        (b'{"abstract": 12}', "is not the JSON file of a paper: its abstract is not text"),
    ],
)
def test_a_file_that_is_no_paper_is_named(corpus_config, checkout, content, said):
    path = checkout()
    file = sorted(path.rglob("*.json"))[1]
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"{file} {said}"):
        abstracts(corpus_config(source="folder", path=str(path)))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe{}", "UTF-16"), (b'{"abstract": "G\xf6del"}', r"not UTF-8 \(byte 0xf6 in line 1\)")],
)
def test_a_paper_in_another_encoding_is_named(corpus_config, checkout, content, said):
    path = checkout()
    file = sorted(path.rglob("*.json"))[1]
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file} is {said}: save it as UTF-8"):
        abstracts(corpus_config(source="folder", path=str(path)))


def test_marks_hidden_files_and_odd_spaces_change_no_abstract(corpus_config, checkout, texts):
    plain = abstracts(corpus_config(source="folder", path=str(checkout())))
    corpus._gathered.cache_clear()
    path = checkout([f" {text.replace(' ', chr(0x2028), 1).replace(' ', chr(0x85), 1)}\x0c" for text in texts])
    for file in path.rglob("*.json"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        file.with_name(f"._{file.name}").write_bytes(b"\x00\x05\x16\x07\xb0")
        file.with_name(".DS_Store").touch()
    assert abstracts(corpus_config(source="folder", path=str(path))) == plain


def test_a_word_may_occur_more_often_than_16_bits_hold(corpus_config):
    texts = ["network " * 65537 + "value feature", "network value feature policy", "policy class"]
    made = count(texts, corpus_config(words=4, max_df=1.0, min_count=1))
    assert made.matrix[:, made.words.tolist().index("network")].tolist() == [65537, 1, 0]


def test_an_empty_file_is_named(corpus_config, checkout):
    path = checkout()
    file = sorted(path.rglob("*.json"))[1]
    file.write_bytes(b"")
    with pytest.raises(InputError, match=rf"{file} is empty\n  Is the checkout complete"):
        abstracts(corpus_config(source="folder", path=str(path)))


def test_a_missing_checkout_or_section_is_told_of(corpus_config, checkout, tmp_path):
    with pytest.raises(InputError, match=r"section one and the section two in .*data/PeerRead[\s\S]*git clone"):
        abstracts(corpus_config(source="folder"))
    path = str(checkout())
    with pytest.raises(InputError, match="with the section three in"):
        abstracts(corpus_config(source="folder", path=path, sections=["one", "three"]))
    (tmp_path / "empty" / "one").mkdir(parents=True)
    with pytest.raises(InputError, match=r"has a file <part>/reviews/\*.json: is the checkout complete"):
        abstracts(corpus_config(source="folder", path=str(tmp_path / "empty"), sections=["one"]))


def test_the_sample_is_the_papers_of_scitldr(corpus_config):
    texts = abstracts(corpus_config())
    assert len(texts) == 3229
    assert all(text == " ".join(text.split()) and text for text in texts)
    assert sum(len(text.split()) for text in texts) == 514773
