import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparseid.config.choices import settable_keys
from sparseid.spelling import did_you_mean, nearest, unlisted

KEYS = settable_keys()
LETTERS = st.sampled_from(string.ascii_lowercase + "_")


@st.composite
def mistyped(draw):
    """A key and the key with one character inserted, left out, replaced or swapped with its neighbour."""
    key = draw(st.sampled_from(KEYS))
    place = draw(st.integers(0, len(key) - 1))
    letter = draw(LETTERS)
    typo = draw(
        st.sampled_from(
            [
                key[:place] + letter + key[place:],
                key[:place] + key[place + 1 :],
                key[:place] + letter + key[place + 1 :],
                key[:place] + key[place : place + 2][::-1] + key[place + 2 :],
            ]
        )
    )
    assume(typo and typo not in KEYS)
    return key, typo


@given(mistyped())
def test_every_single_character_typo_of_every_key_finds_the_key(case):
    key, typo = case
    assert key in nearest(typo, [known for known in KEYS if known != typo])  # seeds is one letter from seed


@given(st.sampled_from(KEYS))
def test_the_last_part_of_a_key_finds_the_key_or_its_namesakes(key):
    last = key.rpartition(".")[2]
    found = nearest(last, [name for name in KEYS if name != last])
    namesakes = [name for name in KEYS if name.rpartition(".")[2] == last and name != last]
    assert set(found) & set(namesakes) or not namesakes


def test_nothing_near_gives_no_hint():
    assert nearest("zebra", ["seed", "scale"]) == []
    assert did_you_mean("zebra", ["seed"]) == ""
    assert nearest("seed", []) == []


@pytest.mark.parametrize(
    ("typo", "key"),
    [
        ("lr", "method.optimizer.lr"),
        ("method.lr", "method.optimizer.lr"),
        ("data.batch_size", "trainer.batch_size"),
        ("trainer.max_sample", "trainer.max_samples"),
        ("output", "outputs"),
    ],
)
def test_names_under_a_wrong_parent_are_found(typo, key):
    assert key in nearest(typo, [known for known in KEYS if known != typo])  # method.lr is a key of another method


def test_a_value_that_is_none_of_a_few_is_answered_with_all_and_the_nearest():
    releases = ("latent_factors", "ml-25m", "ml-1m", "ml-100k")
    assert unlisted("data.source", "ml-25m", releases) == ""
    listed = "data.source must be latent_factors or ml-25m or ml-1m or ml-100k"
    assert unlisted("data.source", "ml25m", releases) == f"{listed}; did you mean: ml-25m"
    assert unlisted("data.source", "movilens", releases) == listed
    assert unlisted("data.setting", "c", ("a", "b")) == "data.setting must be a or b"
