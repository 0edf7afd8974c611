from collections import Counter

import numpy as np
import pytest
from scipy import stats

from sparseid.data.latex_ocr.grammar import (
    KIND_NUMBERS,
    KINDS,
    RULES,
    TOKENS,
    names,
    numbers,
    probability,
    sample,
    tex,
)
from sparseid.data.latex_ocr.syntax import parse
from sparseid.errors import InputError

SHAPE = {token: "s" if len(token) == 1 and token != "+" else token for token in TOKENS}


def shapes(longest):
    """Return the probability of every formula of up to `longest` tokens, its symbols not told apart."""
    found = Counter()
    ahead = [(("start",), 1.0)]
    while ahead:
        form, weight = ahead.pop()
        variable = next((place for place, part in enumerate(form) if part in RULES and part != "symbol"), None)
        if variable is None:
            found[tuple("s" if part == "symbol" else part for part in form)] += weight
            continue
        for share, way in RULES[form[variable]]:
            longer = form[:variable] + way + form[variable + 1 :]
            if len(longer) <= longest:
                ahead.append((longer, weight * share))
    return found


def drawn_at_random(form, rng, most):
    """Expand a form as the grammar says, without any condition; None if it gets longer than `most` tokens."""
    done, ahead = [], list(form[::-1])
    while ahead and len(done) + len(ahead) <= most:
        part = ahead.pop()
        if part in TOKENS:
            done.append(part)
            continue
        weights = np.cumsum([weight for weight, _ in RULES[part]])
        ahead += RULES[part][np.searchsorted(weights, rng.random() * weights[-1])][1][::-1]
    return None if ahead else done


def test_the_law_of_lengths_is_that_of_all_derivations():
    by_length = Counter()
    for shape, weight in shapes(9).items():
        by_length[len(shape)] += weight
    for length in range(1, 10):
        assert probability(length) == pytest.approx(by_length[length], rel=1e-12)


def test_known_probabilities():
    """Measured on the authors' code: P(1) = .138, P(2) = .007, P(4) = .278, P(30) = .005, 5.2 % over 30."""
    assert probability(0) == 0
    assert probability(1) == pytest.approx(0.8**4 / 3)
    assert probability(2) == pytest.approx(0.007, abs=0.001)
    assert probability(4) == pytest.approx(0.278, abs=0.005)
    assert probability(30) == pytest.approx(0.005, abs=0.001)
    assert 1 - sum(map(probability, range(31))) == pytest.approx(0.0535, abs=0.003)
    assert sum(map(probability, range(200))) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7])
def test_formulas_of_a_length_have_the_conditional_law(length):
    rng = np.random.default_rng(length)
    expected = {shape: weight / probability(length) for shape, weight in shapes(length).items() if len(shape) == length}
    drawn = Counter(tuple(SHAPE[TOKENS[token]] for token in sample(length, rng)) for _ in range(4000))
    assert set(drawn) <= set(expected)
    assert sum(expected.values()) == pytest.approx(1)
    if len(expected) > 1:
        counts = [drawn[shape] for shape in expected]
        assert stats.chisquare(counts, 4000 * np.array(list(expected.values()))).pvalue > 1e-4


def test_symbols_are_uniform():
    rng = np.random.default_rng(0)
    counts = Counter(sample(1, rng) for _ in range(3200))
    assert len(counts) == 16
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_formulas_are_those_of_drawing_until_the_length_is_right():
    rng = np.random.default_rng(1)
    length = 12
    rejected = (drawn_at_random(("start",), rng, length) for _ in range(6000))
    kept = [formula for formula in rejected if formula is not None and len(formula) == length]
    ours = [[TOKENS[token] for token in sample(length, rng)] for _ in range(4000)]
    assert len(kept) > 80
    for token in ("FRAC(", "PAREN(", "SUB(", "SUP(", "+", "7"):
        have, should = ([formula.count(token) for formula in drawn] for drawn in (ours, kept))
        assert abs(z_score(have, should)) < 4, token


def test_any_length_can_be_drawn_and_is_a_formula():
    rng = np.random.default_rng(2)
    for length in (*range(1, 41), 120):
        formula = sample(length, rng)
        assert len(formula) == length
        parse(formula)
    with pytest.raises(ValueError, match="no formula has 0 tokens"):
        sample(0, rng)


def test_tokens_and_kinds():
    assert (len(TOKENS), len(KINDS), len(set(KINDS))) == (26, 20, 20)
    assert sorted(number for number in KIND_NUMBERS if number >= 0) == list(range(20))
    seen = {KINDS[number]: token for token, number in zip(TOKENS, KIND_NUMBERS, strict=True) if number >= 0}
    assert (seen["bar"], seen["("], seen[")"], seen["x"]) == ("FRAC(", "PAREN(", "PAREN)", "x")


def test_tex_and_names():
    formula = numbers("FRAC( x SUP( 2 SUP) + 1 FRACMID PAREN( y SUB( a SUB) PAREN) FRAC)")
    assert tex(formula) == r"\frac{x^{2}+1}{\left(y_{a}\right)}"
    assert numbers(names(formula)) == formula
    with pytest.raises(InputError, match="'SQRT' in 'SQRT x' is not a token"):
        numbers("SQRT x")


def z_score(first, second):
    spread = np.var(first) / len(first) + np.var(second) / len(second)
    return (np.mean(first) - np.mean(second)) / np.sqrt(spread + 1e-12)


def deepest(formula, depth=0):
    levels = [depth := depth + (TOKENS[token][-1] == "(") - (TOKENS[token][-1] == ")") for token in formula]
    return max(levels)


def test_parity_with_the_authors_formulas(shared_arrays):
    theirs = shared_arrays("sparling_latex_grammar")
    assert tuple(theirs["token_names"]) == TOKENS
    assert theirs["n_vocabulary_with_start_end"] == len(TOKENS) + 2
    given = [tuple(int(token) for token in row if token >= 0) for row in theirs["sequences"]]
    for formula in given:
        parse(formula)
    seen = np.array(KIND_NUMBERS) >= 0
    assert [int(seen[list(formula)].sum()) for formula in given] == theirs["rendered_symbols"].tolist()

    rng = np.random.default_rng(3)
    ours = [sample(int(length), rng) for length in rng.integers(1, 31, 4000)]
    for token in range(len(TOKENS)):
        have, should = ([formula.count(token) for formula in drawn] for drawn in (ours, given))
        assert abs(z_score(have, should)) < 4, TOKENS[token]
        have, should = ([formula[0] == token for formula in drawn] for drawn in (ours, given))
        assert abs(z_score(have, should)) < 4, TOKENS[token]
    assert abs(z_score([seen[list(f)].sum() for f in ours], theirs["rendered_symbols"])) < 4
    assert abs(z_score([deepest(f) for f in ours], [deepest(f) for f in given])) < 4
    assert np.bincount([deepest(f) for f in given], minlength=9).tolist() == theirs["max_nesting_histogram"].tolist()

    trees = int(theirs["tree_n"])
    for length in range(1, 60):
        p = probability(length)
        assert abs(theirs["tree_length_histogram"][length] / trees - p) < 4.5 * np.sqrt(p / trees), length
