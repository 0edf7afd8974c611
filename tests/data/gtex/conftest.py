"""Small files of made cells and the settings to read them."""

from dataclasses import replace

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparseid.data.gtex.genes import HOUSEKEEPING
from sparseid.data.gtex.settings import GtexSettings, HeldOutSettings, MagicSettings

FACTORS = [f"TF{number}" for number in range(6)]
GENES = [*HOUSEKEEPING, *FACTORS]
SIZES = {"A": 30, "B": 24, "C": 12, "D": 9, "Unknown": 5}


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GTEX_H5AD", raising=False)
    monkeypatch.delenv("TF_TARGETS", raising=False)


@pytest.fixture
def adata():
    """80 cells of four types and Unknown in the layout of the atlas: types differ in mean, X is log expression."""
    rng = np.random.default_rng(0)
    labels = np.repeat(list(SIZES), list(SIZES.values()))
    means = rng.normal(1, 0.5, (len(SIZES), len(GENES)))
    counts = rng.poisson(np.exp(np.repeat(means, list(SIZES.values()), axis=0)))
    obs = pd.DataFrame({"Broad cell type": pd.Categorical(labels), "n_genes": 1}, index=[f"c{i}" for i in range(80)])
    logged = np.log1p(counts).astype(np.float32)
    return anndata.AnnData(sparse.csr_matrix(logged), obs, pd.DataFrame(index=GENES))


@pytest.fixture
def write(tmp_path):
    """Write an AnnData and return its path."""

    def to_file(data, name="cells.h5ad"):
        data.write_h5ad(tmp_path / name)
        return tmp_path / name

    return to_file


@pytest.fixture
def table(tmp_path):
    """A table of 30 rows in hTFtarget's layout, one pair of them twice, for two tissues."""
    rows = [(factor, gene, "blood") for number, gene in enumerate(HOUSEKEEPING) for factor in FACTORS[number % 4 :][:3]]
    rows += [("TF0", HOUSEKEEPING[0], "skin"), ("NOT_MEASURED", HOUSEKEEPING[1], "skin"), ("TF5", "OTHER", "skin")]
    assert len(rows) == 30
    path = tmp_path / "TF-Target-information.txt"
    path.write_text("TF\ttarget\ttissue\n" + "".join("\t".join(row) + "\n" for row in rows))
    return path


@pytest.fixture
def settings(table):
    """Return the settings of the published preset, changed as asked, for small files."""
    published = GtexSettings(
        source="atlas",
        cap=1000,
        latents=5,
        tf_targets=str(table),
        magic=MagicSettings(knn=5, decay=1.0, t=3, components=100),
        delta_std=0.5,
        noise_std_y=0.1,
        held_out=HeldOutSettings(min_population=10, min_neighbour=20),
    )

    def change(held_out=None, magic=None, **changes):
        nested = {
            "held_out": replace(published.held_out, **(held_out or {})),
            "magic": replace(published.magic, **(magic or {})),
        }
        return replace(published, **nested, **changes)

    return change
