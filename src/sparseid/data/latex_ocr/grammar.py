"""Formulas: tokens, probabilistic grammar, and its distribution given the number of tokens."""

from __future__ import annotations

from bisect import bisect
from functools import cache
from itertools import accumulate

import numpy as np

from sparseid.errors import InputError

Formula = tuple[int, ...]
"""Tokens of a formula, as indices into :data:`TOKENS`."""

SYMBOLS = tuple("0123456789abcxyz")
TEX = {
    **{symbol: symbol for symbol in ("+", *SYMBOLS)},
    "FRAC(": r"\frac{",
    "FRACMID": "}{",
    "FRAC)": "}",
    "PAREN(": r"\left(",
    "PAREN)": r"\right)",
    "SUB(": "_{",
    "SUB)": "}",
    "SUP(": "^{",
    "SUP)": "}",
}
"""TeX code of each token."""
TOKENS = tuple(sorted(TEX))
"""The 26 tokens; a label holds their indices."""

KIND_OF_TOKEN = {"PAREN(": "(", "PAREN)": ")", "FRAC(": "bar", "+": "+", **{symbol: symbol for symbol in SYMBOLS}}
"""Visible tokens and their motif kinds; a fraction's bar belongs to the token that opens it (authors' code)."""
KINDS = ("(", ")", "+", *"0123456789", "bar", *"abcxyz")
"""The 20 motif kinds."""

_NUMBER = {token: number for number, token in enumerate(TOKENS)}
KIND_NUMBERS = tuple(KINDS.index(KIND_OF_TOKEN[token]) if token in KIND_OF_TOKEN else -1 for token in TOKENS)
"""The motif kind of each token, -1 for invisible ones."""

RULES: dict[str, tuple[tuple[float, tuple[str, ...]], ...]] = {
    # authors' code (latex_cfg): each alternative has a quarter of the weight of the first
    "start": ((0.8, ("expression",)), (0.2, ("FRAC(", "start", "FRACMID", "start", "FRAC)"))),
    "expression": ((0.8, ("term",)), (0.2, ("term", "+", "expression"))),
    "term": ((0.8, ("atom",)), (0.2, ("atom", "term"))),
    "atom": ((0.8, ("combined",)), (0.2, ("PAREN(", "expression", "PAREN)"))),
    "combined": (
        (1 / 3, ("symbol",)),
        (1 / 3, ("symbol", "SUP(", "symbol", "SUP)")),
        (1 / 3, ("symbol", "SUB(", "symbol", "SUB)")),
    ),
    "symbol": tuple((1 / len(SYMBOLS), (symbol,)) for symbol in SYMBOLS),
}
"""Expansions of each variable of the grammar, and their probabilities."""

Form = tuple[str, ...]
"""A sequence of variables and tokens."""


def numbers(tokens: str) -> Formula:
    """Return the numbers of tokens that are separated by spaces: ``"x SUP( 2 SUP)"``.

    Raises
    ------
    InputError
        If one is not a token.
    """
    unknown = [token for token in tokens.split() if token not in _NUMBER]
    if unknown:
        raise InputError(f"{unknown[0]!r} in {tokens!r} is not a token of a formula; tokens are {' '.join(TOKENS)}")
    return tuple(_NUMBER[token] for token in tokens.split())


def names(formula: Formula) -> str:
    """Return the tokens of a formula, separated by spaces."""
    return " ".join(TOKENS[token] for token in formula)


def tex(formula: Formula) -> str:
    """Return a formula in TeX's language, without ``$``."""
    return "".join(TEX[TOKENS[token]] for token in formula)


def probability(length: int) -> float:
    """Return the probability that the grammar yields a formula of `length` tokens."""
    for shorter in range(length):  # keeps the recursion flat
        _probability(("start",), shorter)
    return _probability(("start",), length)


def sample(length: int, rng: np.random.Generator) -> Formula:
    """Draw a formula from the grammar, given that it has exactly `length` tokens.

    The distribution equals that of drawing until one has this length (authors' code), without rejected draws: every
    expansion is drawn with its probability times that of reaching the length afterwards.

    Raises
    ------
    ValueError
        If no formula has this length.
    """
    if probability(length) == 0:
        raise ValueError(f"no formula has {length} tokens")
    formula: list[int] = []
    ahead: list[tuple[Form, int]] = [(("start",), length)]
    while ahead:
        form, size = ahead.pop()
        if form[0] in _NUMBER:
            formula.append(_NUMBER[form[0]])
            if len(form) > 1:
                ahead.append((form[1:], size - 1))
            continue
        weights, ways = _ways(form, size)
        ahead.extend(ways[bisect(weights, rng.random() * weights[-1]) if len(ways) > 1 else 0])
    return tuple(formula)


@cache
def _probability(form: Form, length: int) -> float:
    """Return the probability that `form` becomes exactly `length` tokens."""
    if len(form) > length:
        return 0.0  # no variable becomes empty
    if not form:
        return float(length == 0)
    if form[0] in _NUMBER:
        return _probability(form[1:], length - 1)
    if len(form) == 1:
        return sum(weight * _probability(way, length) for weight, way in RULES[form[0]])
    return sum(_probability(form[:1], k) * _probability(form[1:], length - k) for k in range(1, length))


@cache
def _ways(form: Form, length: int) -> tuple[list[float], list[list[tuple[Form, int]]]]:
    """Return the expansions of a form that begins with a variable, as a stack, and their cumulative probabilities."""
    if len(form) == 1:
        found = [(weight * _probability(way, length), [(way, length)]) for weight, way in RULES[form[0]]]
    else:
        found = [
            (_probability(form[:1], k) * _probability(form[1:], length - k), [(form[1:], length - k), (form[:1], k)])
            for k in range(1, length)
        ]
    possible = [(weight, way) for weight, way in found if weight > 0]
    return list(accumulate(weight for weight, _ in possible)), [way for _, way in possible]
