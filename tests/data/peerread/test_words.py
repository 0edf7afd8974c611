import pytest

from sparseid.data.peerread.words import STOP_WORDS, lemma, tokens, words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # what NLTK 3.6.1 gives: word_tokenize, then tokens that are letters only
        ("Deep nets, RNNs: (all) of them!", "deep nets rnns all of them"),
        ("state-of-the-art x2 3D and/or", ""),
        ("It's the model's; we don't, they'll, I've, can't", "it the model we do they i ca"),
        ("Cannot gonna", "can not gon na"),
        ("a \"quoted\" word and 'single' ones", "a quoted word and ones"),
        ("“curly” model’s — dash--dash... end.", "curly model s dash dash end"),
        ("in e.g. Fig. 2, i.e. et al. or vs. others.", "in et or others"),
        ("1,000 a,b 3:4 c:d [x] {y} <z>", "a b c d x y z"),
        ("First. Second sentence. third", "first second sentence third"),
        ("naïve Bayés", "naïve bayés"),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected.split()


@pytest.mark.parametrize(
    ("word", "expected"),
    [  # what NLTK 3.6.1 gives with WordNet 3.0
        ("networks", "network"),
        ("policies", "policy"),
        ("classes", "class"),
        ("class", "class"),
        ("matrices", "matrix"),
        ("indices", "index"),
        ("women", "woman"),
        ("data", "data"),
        ("analyses", "analysis"),
        ("axes", "ax"),
        ("has", "ha"),
        ("was", "wa"),
        ("as", "a"),
        ("us", "u"),
        ("is", "is"),
        ("his", "his"),
        ("less", "le"),
        ("boxes", "box"),
        ("learning", "learning"),
        ("gans", "gans"),
        ("learned", "learned"),
    ],
)
def test_lemmas(word, expected):
    assert lemma(word) == expected


def test_stop_words_are_matched_behind_the_lemmas():
    assert words_of("It has the networks that these models were") == ["ha", "network", "model"]
    assert {"the", "has", "don"} <= STOP_WORDS
    assert all(word.isalpha() for word in STOP_WORDS)
    assert words_of("") == []
