from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.errors import InputError
from sparseid.masks import (
    Evidence,
    as_mask,
    crowd,
    evidence,
    perfect_matching,
    read_mask,
    regions,
    sufficiently_diverse,
    why_not_injective,
)

MASKS = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(lambda shape: arrays(bool, shape))


def subsets(items):
    items = list(items)
    return [chosen for size in range(1, len(items) + 1) for chosen in combinations(items, size)]


def only(mask, latent, one):
    """Return whether the clause of Assumption 2, taken literally, separates the latent by this set A."""
    sets = [frozenset(np.flatnonzero(row)) for row in mask]
    others = [sets[k] for k in one.others]
    if one.clause == 3:
        return frozenset.intersection(*others) == {latent}
    if one.clause == 1:
        return sets[one.special] - frozenset().union(*others) == {latent}
    return bool(others) and frozenset.intersection(*others) - sets[one.special] == {latent}


def brute_force(mask, latent):
    """Return the clauses for which any set A, and any special member of it, works."""
    return {
        clause
        for chosen in subsets(range(len(mask)))
        for clause in (1, 2, 3)
        for special in (chosen if clause < 3 else (None,))
        if only(mask, latent, Evidence(clause, special, tuple(k for k in chosen if k != special)))
    }


def test_the_closed_form_is_brute_force_on_2000_random_masks():
    rng = np.random.default_rng(0)
    verdicts = []
    for _ in range(2000):
        mask = rng.random((rng.integers(1, 6), rng.integers(1, 5))) < rng.uniform(0.2, 0.9)
        found = evidence(mask)
        for latent, clauses in enumerate(found):
            assert {one.clause for one in clauses} == brute_force(mask, latent), mask.astype(int).tolist()
            assert all(only(mask, latent, one) for one in clauses), mask.astype(int).tolist()
        verdicts.append(sufficiently_diverse(mask))
        assert verdicts[-1] == all(found)
        if verdicts[-1]:
            assert len(np.unique(mask, axis=1).T) == mask.shape[1]
    assert 400 < sum(verdicts) < 1600


@given(MASKS)
def test_a_matching_is_one_and_is_found_whenever_there_is_one(mask):
    outputs, latents = mask.shape
    exists = any(all(mask[k, i] for i, k in enumerate(chosen)) for chosen in permutations(range(outputs), latents))
    found = perfect_matching(mask)
    assert (found is not None) == exists
    if found is not None:
        assert mask[found, np.arange(latents)].all()
        assert len(set(found.tolist())) == latents
        assert crowd(mask) == []
    else:
        crowded = crowd(mask)
        assert mask[:, crowded].any(axis=1).sum() < len(crowded)  # Hall
    assert (list(why_not_injective(mask)) == []) == exists


@given(MASKS)
def test_regions_are_classes_of_equal_columns(mask):
    found = regions(mask)
    assert sorted(latent for region in found for latent in region) == np.flatnonzero(mask.any(axis=0)).tolist()
    block = {latent: number for number, region in enumerate(found) for latent in region}
    for one, other in combinations(block, 2):
        assert (block[one] == block[other]) == (mask[:, one] == mask[:, other]).all()


@pytest.mark.parametrize("values", [[[0, 2]], [[0.5]], [[np.nan]], [0, 1], [], [[]], np.ones((1, 2, 2))])
def test_what_is_no_mask_is_refused(values):
    with pytest.raises(InputError):
        as_mask(values)


def test_a_file_is_read_with_spaces_empty_lines_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "mask.csv"
    for text in ("\ufeff1, 0\n\n 0,1 \n", "1,0\r0,1\r", '"1","0"\r\n"0","1"\r\n'):
        path.write_bytes(text.encode())
        assert read_mask(path).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"1,0\n1\n", "line 2: 1 entries where line 1 has 2"),
        (b"1,0\n1,2\n", "line 2: '2' is neither 0 nor 1"),
        (b'1,0\n"1,0\n', "line 2: the quotes do not match"),
        (b"1,0\xa0\n", "is not UTF-8 (byte 0xa0 in line 1): save it as UTF-8. A mask is a csv file"),
        (b"1,\n", "line 1: '' is neither"),
        (b"speed,shape\n1,0\n", "line 1: 'speed' is neither 0 nor 1; a mask has no line of names"),
        (b"True,False\nFalse,True\n", "line 1: 'True' is neither 0 nor 1; write one line per observation"),
        (b"T,F\nF,T\n", "line 1: 'T' is neither 0 nor 1; write one line per observation"),
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\xff\xfe\x00", "is UTF-16: save it as UTF-8. A mask is a csv file, one line per observation"),
    ],
)
def test_a_file_that_is_no_mask_is_refused_with_the_line(tmp_path, text, says):
    path = tmp_path / "mask.csv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=str(path)) as error:
        read_mask(path)
    assert says in str(error.value)


def test_an_absent_file_is_said_to_be_absent(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_mask(tmp_path / "mask.csv")


@pytest.mark.parametrize("text", ["1;1;0\n0;1;1\n", "1 1 0\n0 1 1\n", "1.0,0.0\n0.0,1.0\n"])
def test_another_separator_is_no_line_of_names(tmp_path, text):
    path = tmp_path / "mask.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="with commas between them") as refused:
        read_mask(path)
    assert "names" not in str(refused.value)
