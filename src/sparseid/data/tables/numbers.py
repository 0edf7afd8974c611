"""Numbers of users as they are handed in: arrays of them, numbers in text, and why a value is none."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 40
"""Maximum number of characters of a value in a message."""
BEYOND = f"beyond double precision ({np.finfo(float).max:.2g}): rescale the column"
FINE = 1000
"""Digits of fractions, more than those of the whole part of any number in double precision."""
SIGN, UNIT = r"[-+\N{MINUS SIGN}\N{EN DASH}]", r"[%\N{PER MILLE SIGN}$\N{POUND SIGN}\N{YEN SIGN}\N{EURO SIGN}]"
DIGITS = (
    rf"(\d+([.,]\d*)?|[.,]\d+|\d{{1,3}}([.,'\N{{RIGHT SINGLE QUOTATION MARK}}\s]\d{{3}})+([.,]\d+)?)([eE]{SIGN}?\d+)?"
)
DECIMAL = rf"\d*[.,]\d+([eE]{SIGN}?\d+)?"
WRITTEN = re.compile(rf"\(?\s*{SIGN}?\s*{UNIT}?\s*{SIGN}?\s*{DIGITS}\s*{UNIT}?\s*\)?")
"""A number as it is written for people: decimal commas, thousands apart, percent and currencies, (5) for -5."""
MEASURED = re.compile(
    rf"""[<>=~\N{{LESS-THAN OR EQUAL TO}}\N{{GREATER-THAN OR EQUAL TO}}\N{{ALMOST EQUAL TO}}]+\s*{SIGN}?\s*{DIGITS}\D*
    |{SIGN}?\s*{DIGITS}\D*(\N{{PLUS-MINUS SIGN}}|\+/?-)\s*{DIGITS}\D*
    |{SIGN}?\s*{DIGITS}\s*/\s*{DIGITS}
    |{SIGN}?\s*{DECIMAL}\s*({SIGN}|\.\.|to)\s*{DECIMAL}\D*
    |[\[(]\s*{SIGN}?\s*{DIGITS}\s*[,;]\s*{SIGN}?\s*{DIGITS}\s*[\])]
    |[\[(]?\s*{SIGN}?\s*{DECIMAL}(?![\d/:_]|[-.,]\w)[^\d_]*\d?[^\d_]*
    |((np|numpy)\.\w+|tensor|array|Decimal|Fraction)\(.*\)""",
    re.VERBOSE,
)
"""A number with something else: a bound, an error, a fraction, a range, a decimal number with its unit, code."""
MISSING = ("", "na", "nan", "n/a", "null", "none", "-", "<na>", "nat", "#n/a")
"""Texts, in lower case, that people and programs write for what is missing."""
TRUTHS = {"true": 1.0, "false": 0.0}
"""Truths, in lower case -> their numbers."""


def array_of(values: Any) -> NDArray[Any]:
    """Return an array of a user's values without a change of any: NumPy would make a list of them one type.

    Values of lists, and those with masked ones among them, are Python's objects; masked ones are None.

    Examples
    --------
    >>> array_of([[2**70, 0.5]]).tolist()
    [[1180591620717411303424, 0.5]]
    >>> array_of(np.ma.array([1, 2], mask=[False, True])).tolist()
    [1, None]
    """
    if isinstance(values, list | tuple):
        if not any(isinstance(part, np.ma.MaskedArray) for part in values):
            return np.asarray(values, object)
        values = np.ma.array(values)
    if isinstance(values, np.ma.MaskedArray):
        found: NDArray[Any] = np.asarray(values.data)
        if np.ma.is_masked(values):
            found = found.astype(object)
            found[np.ma.getmaskarray(values)] = None
        return found
    return np.asarray(values)


def is_missing(value: Any) -> bool:
    """Return whether a value says that there is none: None, NaN, NaT, pandas' NA, or a masked one.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), np.datetime64("NaT"), np.ma.masked, 0, "")]
    [True, True, True, True, False, False]
    """
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas' NA is neither; arrays have no truth
        return type(value).__name__ == "NAType"


def number_of(text: str) -> float:
    """Return the number that a text is; NaN if it is none."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def exact(value: Any) -> Decimal:
    """Return a number, or the text of one, without rounding.

    Examples
    --------
    >>> exact("+9007199254740993.0"), exact(2**53 + 1), exact(0.5)
    (Decimal('9007199254740993.0'), Decimal('9007199254740993'), Decimal('0.5'))
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8")
    if isinstance(value, str):
        return Decimal(value.strip())
    if isinstance(value, np.longdouble):
        return Decimal(str(value))
    if isinstance(value, Rational):  # also NumPy's integers
        with localcontext(prec=FINE):
            return Decimal(int(value.numerator)) / Decimal(int(value.denominator))
    return Decimal(value if isinstance(value, Decimal) else float(value))


def shown(value: Any) -> str:
    """Return a value for a message, cut at `SHOWN` characters."""
    try:
        text = repr(bytes(value) if isinstance(value, bytes) else value)
    except ValueError:  # Python prints no whole number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def is_written(text: str) -> bool:
    """Return whether a text is a number as it is written for people, or one with something else, as of a measurement.

    Examples
    --------
    >>> [is_written(text) for text in ("1,5", "5 %", "(5)", "\N{MINUS SIGN}2.5", "1 000", "1.5 kg", "<5", "1/2")]
    [True, True, True, True, True, True, True, True]
    >>> [is_written(text) for text in ("cell-1", "1-2", "10.0.0.1", "5 mg", "2020-01-01", "ENSG01.2", "NA")]
    [False, False, False, False, False, False, False]
    """
    return bool(WRITTEN.fullmatch(text.strip()) or MEASURED.fullmatch(text.strip()))


def says_missing(text: str) -> bool:
    """Return whether a text stands for a value that is missing, in upper or lower case.

    Examples
    --------
    >>> [says_missing(text) for text in (" ", "NA", "n/a", "None", "-", "nano", "0")]
    [True, True, True, True, True, False, False]
    """
    return text.strip().casefold() in MISSING


def refusal(text: str) -> str:
    """Return why a text is not a finite number, and the remedy."""
    text = text.strip()
    if says_missing(text):
        return f"{'the value' if not text else repr(text)} is missing: fill it, or drop the row or column"
    if math.isinf(number_of(text)):
        if any(letter.isdigit() for letter in text):
            return f"{shown(text)} is {BEYOND}"
        return f"{text} is infinite: replace it"
    remedy = "columns of text are named in the settings, or dropped"
    if not math.isnan(number_of(text.replace(",", ".", 1))):
        remedy = "write decimals with a point"
    elif WRITTEN.fullmatch(text):
        remedy = "write it as -1234.5 is, with a hyphen and a point only"
    elif MEASURED.fullmatch(text):
        remedy = "write nothing but a number, as -1234.5 is"
    elif text.casefold() in TRUTHS:
        remedy = "write truths as 1 and 0"
    return f"{shown(text)} is not a number{':' if 'write' in remedy else ';'} {remedy}"
