"""Create data/samples/celltypist_sample.h5ad from the wheel of the PyPI package celltypist 1.7.1 (MIT)."""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from sparseid.printing import protect_output

MEMBER = "celltypist/data/samples/sample_cell_by_gene.csv"
TARGET = Path(__file__).resolve().parents[1] / "data" / "samples" / "celltypist_sample.h5ad"
CLUSTERS = 10
FEWEST_CELLS = 3
"""Minimum number of cells that express a gene; other genes are dropped."""


def main() -> int:
    """Read the counts, cluster the cells, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="from: pip download --no-deps celltypist==1.7.1")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel, wheel.open(MEMBER) as file:
        table = pd.read_csv(file, index_col=0)
    table = table.loc[:, (table > 0).sum() >= FEWEST_CELLS]
    counts = table.to_numpy(np.int32)
    logged = np.log1p(counts * (1e4 / counts.sum(axis=1, keepdims=True)))
    components = PCA(30, svd_solver="full").fit_transform(logged)
    clusters = KMeans(CLUSTERS, n_init=10, random_state=0).fit_predict(components)
    numbers = np.unique(clusters, return_counts=True)[1].argsort()[::-1].argsort()[clusters]  # 0 is the largest
    data = anndata.AnnData(
        X=sparse.csr_matrix(counts),
        obs=pd.DataFrame({"cluster": pd.Categorical([f"cluster {n}" for n in numbers])}, index=table.index.astype(str)),
        var=pd.DataFrame(index=table.columns.astype(str)),
    )
    data.write_h5ad(arguments.target, compression="gzip", compression_opts=9)
    print(f"{arguments.target}: {data.n_obs} cells, {data.n_vars} genes")
    print(data.obs["cluster"].value_counts().to_string())
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
