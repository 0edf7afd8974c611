"""Tables of users: values, ids of rows and names of features, from files and from arrays in memory (no torch)."""

from sparseid.data.tables.frames import table_of_frame
from sparseid.data.tables.names import check_present, texts_of
from sparseid.data.tables.numbers import array_of
from sparseid.data.tables.precision import double_precision, held, single_precision
from sparseid.data.tables.reader import kind_of, read_table
from sparseid.data.tables.rows import Scale, scaled, split_rows
from sparseid.data.tables.table import Table

__all__ = [
    "Scale",
    "Table",
    "array_of",
    "check_present",
    "double_precision",
    "held",
    "kind_of",
    "read_table",
    "scaled",
    "single_precision",
    "split_rows",
    "table_of_frame",
    "texts_of",
]
