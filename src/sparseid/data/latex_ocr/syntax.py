"""Parser of the tokens of a formula into its tree."""

from __future__ import annotations

from typing import NamedTuple

from sparseid.data.latex_ocr.grammar import SYMBOLS, TOKENS, Formula, names
from sparseid.errors import InputError


class Symbol(NamedTuple):
    """A letter, a digit or ``+``, and the place of its token in the formula."""

    character: str
    place: int


class Scripted(NamedTuple):
    """A symbol with another one above (or below) its right."""

    nucleus: Symbol
    script: Symbol
    raised: bool


class Row(NamedTuple):
    """Nodes side by side."""

    parts: tuple[Node, ...]


class Parenthesised(NamedTuple):
    """A row between parentheses, and the places of their tokens."""

    opening: int
    body: Row
    closing: int


class Fraction(NamedTuple):
    """A fraction and the place of the token that opens it, whose motif is the bar."""

    place: int
    numerator: Node
    denominator: Node


Node = Symbol | Scripted | Row | Parenthesised | Fraction


def parse(formula: Formula) -> Node:
    """Return the tree of a formula.

    Raises
    ------
    InputError
        If it is not in the grammar.
    """
    try:
        return _Reader(formula).whole()
    except _Unexpected as error:
        found = error.found or "the end"
        raise InputError(
            f"not a formula of this grammar: {names(formula)!r} has {found} at token {error.place + 1}, where "
            f"{error.expected} was expected"
        ) from None


class _Unexpected(Exception):
    def __init__(self, place: int, found: str, expected: str) -> None:
        super().__init__(place, found, expected)
        self.place, self.found, self.expected = place, found, expected


class _Reader:
    """Recursive descent through the tokens; each method reads one variable of the grammar."""

    def __init__(self, formula: Formula) -> None:
        self.tokens = [TOKENS[token] for token in formula]
        self.place = 0

    def whole(self) -> Node:
        tree = self.start()
        if self.next:
            raise _Unexpected(self.place, self.next, "the end")
        return tree

    @property
    def next(self) -> str:
        """Current token; empty at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, token: str) -> int:
        """Consume `token`; return its place."""
        if self.next != token:
            raise _Unexpected(self.place, self.next, token)
        self.place += 1
        return self.place - 1

    def start(self) -> Node:
        if self.next != "FRAC(":
            return self.expression()
        place = self.take("FRAC(")
        numerator = self.start()
        self.take("FRACMID")
        denominator = self.start()
        self.take("FRAC)")
        return Fraction(place, numerator, denominator)

    def expression(self) -> Row:
        parts = self.term()
        while self.next == "+":
            parts.append(Symbol("+", self.take("+")))
            parts += self.term()
        return Row(tuple(parts))

    def term(self) -> list[Node]:
        parts = [self.atom()]
        while self.next == "PAREN(" or self.next in SYMBOLS:
            parts.append(self.atom())
        return parts

    def atom(self) -> Node:
        if self.next != "PAREN(":
            return self.combined()
        opening = self.take("PAREN(")
        return Parenthesised(opening, self.expression(), self.take("PAREN)"))

    def combined(self) -> Node:
        nucleus = self.symbol()
        for kind, raised in (("SUP", True), ("SUB", False)):
            if self.next == f"{kind}(":
                self.take(f"{kind}(")
                script = self.symbol()
                self.take(f"{kind})")
                return Scripted(nucleus, script, raised)
        return nucleus

    def symbol(self) -> Symbol:
        if self.next not in SYMBOLS:
            raise _Unexpected(self.place, self.next, "a letter, a digit, FRAC( or PAREN(")
        return Symbol(self.next, self.take(self.next))
