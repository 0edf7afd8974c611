"""Tests of naming single motifs: what a data set says about them."""

from __future__ import annotations

from typing import NamedTuple

from sparseid.measurements import Key


class SingleMotifTest(NamedTuple):
    """One row of the comparison of Sparling with a classifier of single motifs (Sparling, Table 2).

    Attributes
    ----------
    keys
        Row keys that tell it from the others of the data set.
    set_name
        The set of single motifs, for the data module's ``single_motif_set``.
    without
        Motif kinds that are left out, with the channels that stand for them.
    """

    keys: dict[str, Key]
    set_name: str
    without: tuple[int, ...] = ()
