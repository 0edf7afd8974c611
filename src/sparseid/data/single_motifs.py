"""Tests of the classification of single motifs, as a data set describes them."""

from __future__ import annotations

from typing import NamedTuple

from sparseid.measurements import Key


class SingleMotifTest(NamedTuple):
    """One row of the comparison of Sparling with a classifier of single motifs (Sparling, Table 2).

    Attributes
    ----------
    keys
        Row keys that distinguish it from the other tests of the data set.
    set_name
        Name of the set of single motifs, for the data module's ``single_motif_set``.
    without
        Motif kinds to exclude, with the channels assigned to them.
    """

    keys: dict[str, Key]
    set_name: str
    without: tuple[int, ...] = ()
