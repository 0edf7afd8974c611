"""Check of a file that is, or is not, the atlas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sparseid.data.gtex.check import check_atlas
from sparseid.data.gtex.sources import SOURCES
from sparseid.errors import InputError


def test_counts_columns_genes_and_factors_are_reported(adata, write, table):
    adata.obs["Granular cell type"] = pd.Categorical(np.repeat([*"VWXYZ"], 16))
    lines = list(check_atlas(write(adata), table))
    text = "\n".join(lines)
    assert "80 cells, 15 genes" in lines[0]
    assert "column 'Broad cell type': 4 types, 75 cells of at most 1000 each" in text
    assert "4 types with 75 cells, where the paper has 43 with 15256. Columns of labels" in text
    assert "Granular cell type: 5 types, 80 cells" in text
    assert "Broad cell type: 5 types, 80 cells" in text
    assert "n_genes" not in text
    assert lines[-1].endswith("C1orf43 3, CHMP2A 3, EMC7 3, PSMB2 3, PSMB4 3, REEP5 3, SNRPD3 3, VCP 3, VPS29 3")


def test_says_whether_these_are_the_papers_cells(adata, write, monkeypatch):
    def verdict(path):
        lines = check_atlas(path)
        while True:
            try:
                next(lines)
            except StopIteration as end:
                return end.value

    path = write(adata)
    assert verdict(path) is False
    monkeypatch.setitem(SOURCES, "atlas", replace(SOURCES["atlas"], expected=(4, 75)))
    assert verdict(path) is True


def test_a_file_without_the_genes_is_refused(adata, write):
    lines = check_atlas(write(adata[:, 1:].copy()))
    with pytest.raises(InputError, match="no gene C1orf43"):
        list(lines)
