"""Standard output and error that no program depends on: what cannot be printed is spelled out or dropped."""

from __future__ import annotations

import codecs
import io
import os
import select
import sys
from contextlib import suppress
from typing import Any

PLAIN = {
    "\N{EN DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{PLUS-MINUS SIGN}": "+/-",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{HORIZONTAL ELLIPSIS}": "...",
    "\N{BULLET}": "*",
}
"""Character -> spelling where the encoding does not have it; others become ``\\u20ac`` (a ``?`` could hide a sign)."""


def protect_output() -> None:
    """Let no error of standard output or error end this process; called where a program starts.

    A closed stream, a reader that has gone (``| head``), a full disk behind ``>`` and an encoding that lacks characters
    then lose text, not a trained run.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:  # closed: the next file would take its place
        os.set_inheritable(opened, True)
    os.close(opened)
    codecs.register_error("spelled", _spelled)
    if sys.stdout is sys.__stdout__:  # else something else reads it, such as a test
        sys.stdout = _protected(1, sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _protected(2, sys.stderr)


class _Output(io.FileIO):
    """A file descriptor whose failed writes are dropped."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            while (written := super().write(data)) is None:  # a non-blocking pipe without room
                select.select([], [self], [])
            return written
        return memoryview(data).nbytes


def _protected(number: int, stream: Any) -> io.TextIOWrapper:
    """Return a stream on a file descriptor with the encoding and the buffering of the present one (None: closed)."""
    raw = _Output(number, "w", closefd=False)
    if stream is None:
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="spelled")
    with suppress(OSError):
        stream.flush()
    unbuffered = stream.write_through
    return io.TextIOWrapper(
        raw if unbuffered else io.BufferedWriter(raw),  # as Python itself does with -u
        encoding=stream.encoding,
        errors="spelled",
        line_buffering=stream.line_buffering,
        write_through=unbuffered,
    )


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in text), error.end
