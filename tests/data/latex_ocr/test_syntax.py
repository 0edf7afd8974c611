import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, TOKENS, numbers
from sparseid.data.latex_ocr.layout import layout
from sparseid.data.latex_ocr.syntax import Fraction, Parenthesised, Row, Scripted, Symbol, parse
from sparseid.errors import InputError


def test_the_tree_knows_nesting_and_places():
    tree = parse(numbers("FRAC( x SUP( 2 SUP) FRACMID PAREN( y PAREN) + 1 FRAC)"))
    above = Row((Scripted(Symbol("x", 1), Symbol("2", 3), True),))
    below = Row((Parenthesised(6, Row((Symbol("y", 7),)), 8), Symbol("+", 9), Symbol("1", 10)))
    assert tree == Fraction(0, above, below)


def test_a_subscript_is_not_raised():
    assert parse(numbers("a SUB( b SUB)")) == Row((Scripted(Symbol("a", 0), Symbol("b", 2), False),))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("", "has the end at token 1"),
        ("+ 1", r"'\+ 1' has \+ at token 1, where a letter"),
        ("x +", r"has the end at token 3, where a letter"),
        ("PAREN( x", r"'PAREN\( x' has the end at token 3, where PAREN\) was expected"),
        ("FRAC( x FRACMID FRAC)", r"has FRAC\) at token 4"),
        ("x SUP( 2 SUP) SUB( 1 SUB)", r"has SUB\( at token 5, where the end was expected"),
        ("x SUP( PAREN( 1 PAREN) SUP)", r"has PAREN\( at token 3"),
        ("1 FRAC( x FRACMID y FRAC)", r"has FRAC\( at token 2, where the end was expected"),
    ],
)
def test_what_is_no_formula_is_named(tokens, message):
    with pytest.raises(InputError, match=message):
        parse(numbers(tokens))


@given(st.lists(st.integers(0, len(TOKENS) - 1), max_size=12))
def test_any_tokens_are_a_formula_with_a_mark_for_each_that_is_seen_or_are_refused(tokens):
    try:
        tree = parse(tuple(tokens))
    except InputError:
        return
    seen = [place for place, token in enumerate(tokens) if KIND_NUMBERS[token] >= 0]
    assert [mark.place for mark in layout(tree).marks] == seen
