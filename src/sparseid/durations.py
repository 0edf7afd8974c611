"""Human-readable durations."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """Return a duration as h:mm:ss.

    Examples
    --------
    >>> clock(3671.2)
    '1:01:11'
    """
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
