"""Reader of user-provided gene sets, for example biological processes of the Gene Ontology."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError
from sparseid.text import as_lines, read_text, records_of

if TYPE_CHECKING:
    from sparseid.data.zeisel.settings import ZeiselSettings

FILE = "gene_sets.gmt"
KEYS = ("data.gene_sets", "data.enrichment")


def place_of_sets(config: ZeiselSettings) -> Path:
    """Return the path of the file."""
    return Path(config.gene_sets) if config.gene_sets else data_folder() / "zeisel" / FILE


def read_gene_sets(path: Path) -> dict[str, frozenset[str]]:
    """Return name -> genes in upper case of a GMT file: lines of a name, a description and genes, separated by tabs.

    Raises
    ------
    InputError
        If it is missing, a line is not a set, two sets have the same name, or there are no sets.
    """
    if reason := unusable(path):
        raise InputError(f"{path} {reason}\n{by_hand()}", KEYS)
    sets: dict[str, frozenset[str]] = {}
    for number, (name, *rest) in records_of(as_lines(read_text(path, KEYS, western=True)), "\t"):
        genes = frozenset(gene.strip().upper() for gene in rest[1:] if gene.strip())
        if not name.strip() or not genes:
            text = f"{path}, line {number}: not a name, a description and genes, separated by tabs"
            raise InputError(f"{text}: is it a GMT file?", KEYS)
        if name in sets:
            raise InputError(f"{path}, line {number}: a second set named {name}", KEYS)
        sets[name] = genes
    if not sets:
        raise InputError(f"{path} has no gene sets", KEYS)
    return sets


def by_hand() -> str:
    """Return instructions for the file."""
    return f"""\
  By hand: get sets of genes by their symbols as a GMT file, for example the biological processes of the Gene Ontology
  for mouse from a collection of your choice, and place it as {data_folder() / "zeisel" / FILE},
  or name it: data.gene_sets=/path/to/it
  None of this is needed for data.enrichment=false"""
