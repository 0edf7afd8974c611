"""A synthetic atlas: cells in the layout of the real one, with its 43 types and the paper's number of cells.

A cell has a visible state, which its transcription factors show and which moves along a random tree of types, and a
hidden one, which only genes outside the table of factors show. Each latent gene is a non-linear function of its factors
plus a part that follows the hidden state: factors explain about half of its variance, as the paper assumes of real
genes, and smoothing over similar cells does not remove the rest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sparseid.data.gtex.genes import HOUSEKEEPING
from sparseid.optional import need
from sparseid.streams import FIXED

BROAD_CELL_TYPES = (
    "Adipocyte|Endothelial cell (lymphatic)|Endothelial cell (vascular)|Epithelial cell (Hillock)|"
    "Epithelial cell (alveolar type I)|Epithelial cell (alveolar type II)|Epithelial cell (basal keratinocyte)|"
    "Epithelial cell (basal)|Epithelial cell (ciliated)|Epithelial cell (club)|"
    "Epithelial cell (cornified keratinocyte)|Epithelial cell (luminal)|Epithelial cell (mature keratinocyte)|"
    "Epithelial cell (squamous)|Epithelial cell (suprabasal keratinocyte)|Epithelial cell (suprabasal)|Fibroblast|ICCs|"
    "Immune (B cell)|Immune (DC)|Immune (DC/macrophage)|Immune (Langerhans)|Immune (NK cell)|Immune (T cell)|"
    "Immune (alveolar macrophage)|Immune (mast cell)|Melanocyte|Mucous cell|Myocyte (NMJ-rich)|Myocyte (cardiac)|"
    "Myocyte (cardiac, cytoplasmic)|Myocyte (sk. muscle)|Myocyte (sk. muscle, cytoplasmic)|Myocyte (smooth muscle)|"
    "Myoepithelial (basal)|Myofibroblast|Neuroendocrine|Neuronal|Pericyte/SMC|Satellite cell|Schwann cell|"
    "Sebaceous gland cell|Sweat gland cell"
)
TYPES = tuple(BROAD_CELL_TYPES.split("|"))
"""The atlas' broad cell types without Unknown."""

CAPPED_CELLS, CAP = 15256, 1000
"""Number of cells of the 43 types with at most 1000 of each (TBR, section 4.1)."""
LARGE_TYPES = 8
"""Number of types above the cap."""
POPULATION = 5
"""Number of the draw of type sizes: one with four types that can be held out, as in the paper (Fig. 5)."""
UNKNOWN_CELLS = 150
"""Number of cells of the type Unknown, which is not used."""

FACTORS = tuple(f"TF{number:03d}" for number in range(1, 151))
"""Transcription factors."""
REGULATORS = (18, 27, 35, 44, 52, 61, 70, 82, 95)
"""Numbers of factors of the latent genes: the paper reports 18 to 95."""
OTHERS = ("GPI", "RAB7A", *(f"GENE{number:03d}" for number in range(1, 99)))
"""Genes that show the hidden state."""
GENES = (*FACTORS, *HOUSEKEEPING, *OTHERS)

VISIBLE, HIDDEN = 8, 5
"""Dimensions of the visible and the hidden state."""
STEP = 0.3
"""Standard deviation of the change of a type's mean visible state along an arc; within a type it is 1."""
EXPLAINED = 0.2
"""Fraction of the variance of a latent gene's log rate explained by its factors; more after smoothing."""
SHOWN, HIDDEN_SHOWN = 0.8, 1.2
"""Spread of the log rates of factors and latent genes, and of the genes that show the hidden state."""
TISSUES = ("breast", "esophagusmucosa", "esophagusmuscularis", "heart", "lung", "prostate", "skeletalmuscle", "skin")
PREPS = ("CST", "NST", "TST", "EZ")


def regulators() -> dict[str, NDArray[np.int64]]:
    """Return the factors of each latent gene, as ascending indices into :data:`FACTORS`."""
    rng = FIXED.numpy("gtex/stand_in/regulators")
    return {
        gene: np.sort(rng.permutation(len(FACTORS))[:count])
        for gene, count in zip(HOUSEKEEPING, REGULATORS, strict=True)
    }


def write_tf_targets(path: Path) -> None:
    """Write the table of factors and targets in hTFtarget's layout."""
    rows = [(FACTORS[factor], gene, "all") for gene, factors in regulators().items() for factor in factors]
    pd.DataFrame(rows, columns=["TF", "target", "tissue"]).to_csv(path, sep="\t", index=False)


def population(rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the numbers of cells (types,) before the cap: uneven, and 15,256 in total after it."""
    small = len(TYPES) - LARGE_TYPES
    shares = np.exp(rng.normal(0, 0.9, small))
    rest = CAPPED_CELLS - CAP * LARGE_TYPES
    sizes = np.maximum(20, np.minimum(CAP - 1, np.floor(rest * shares / shares.sum()))).astype(np.int64)
    while lacking := rest - sizes.sum():  # after rounding and clipping: add or remove single cells
        room = np.flatnonzero((sizes < CAP - 1) if lacking > 0 else (sizes > 20))
        sizes[room[: abs(lacking)]] += np.sign(lacking)
    return rng.permutation(np.concatenate([sizes, rng.integers(CAP + 50, 2 * CAP, LARGE_TYPES)]))


def type_means(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return mean states (types, visible state): a random walk from the root of a random binary tree to its leaves."""
    means = np.zeros((len(TYPES), VISIBLE))

    def descend(types: NDArray[np.int64]) -> None:
        if len(types) > 1:
            cut = rng.integers(1, len(types))
            for part in (types[:cut], types[cut:]):
                means[part] += STEP * rng.standard_normal(VISIBLE)
                descend(part)

    descend(rng.permutation(len(TYPES)))
    return means


def log_rates(types: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the log expected counts (cells, genes) of cells of the given types."""
    visible = type_means(rng)[types] + rng.standard_normal((len(types), VISIBLE))
    hidden = rng.standard_normal((len(types), HIDDEN))

    def loadings(dimensions: int, genes: int) -> NDArray[np.float64]:
        drawn = rng.standard_normal((dimensions, genes)) * (rng.random((dimensions, genes)) < 3 / dimensions)
        return drawn / np.maximum(np.linalg.norm(drawn, axis=0), 0.5)

    factors = visible @ loadings(VISIBLE, len(FACTORS))
    others = hidden @ loadings(HIDDEN, len(OTHERS))
    latents = np.empty((len(types), len(HOUSEKEEPING)))
    for number, places in enumerate(regulators().values()):
        units = np.tanh(factors[:, places] @ rng.standard_normal((len(places), 4)) / len(places) ** 0.5)
        explained = units @ rng.choice([-1.0, 1.0], 4)
        share = EXPLAINED**0.5 * (explained - explained.mean()) / explained.std()
        latents[:, number] = share + (1 - EXPLAINED) ** 0.5 * hidden[:, number % HIDDEN]
    levels = rng.normal(1.3, 0.5, len(GENES))
    return levels + np.concatenate([SHOWN * factors, SHOWN * latents, HIDDEN_SHOWN * others], axis=1)


def write_atlas(path: Path) -> None:
    """Write the cells as an ``.h5ad`` file: log expression, counts, principal components, annotations."""
    need("anndata", "cells", ("data.source",))
    import anndata
    from sklearn.decomposition import PCA

    rng = FIXED.numpy("gtex/stand_in")
    sizes = population(FIXED.numpy("gtex/stand_in/population", POPULATION))
    names = [*TYPES, "Unknown"]
    numbers = rng.permutation(np.repeat(np.arange(len(names)), [*sizes, UNKNOWN_CELLS]))
    states = np.where(numbers < len(TYPES), numbers, rng.integers(0, len(TYPES), len(numbers)))
    counts = rng.poisson(np.exp(log_rates(states, rng)) * np.exp(rng.normal(0, 0.3, len(states)))[:, None])
    logged = np.log1p(counts * (1e4 / counts.sum(axis=1, keepdims=True))).astype(np.float32)
    data = anndata.AnnData(
        X=sparse.csr_matrix(logged),
        obs=_annotations(numbers, names, counts, rng),
        var=pd.DataFrame({"gene_name": GENES}, index=list(GENES)),
        layers={"counts": sparse.csr_matrix(counts.astype(np.int32))},
        obsm={"X_pca": PCA(50, svd_solver="covariance_eigh").fit_transform(logged)},
        uns={"source": "synthetic, by sparseid, in the layout of the GTEx atlas; contains no measured cell"},
    )
    data.write_h5ad(path, compression="gzip", compression_opts=1)


def _annotations(
    numbers: NDArray[np.int64], names: list[str], counts: NDArray[np.int64], rng: np.random.Generator
) -> pd.DataFrame:
    """Return annotations under the atlas' names, as far as a synthetic cell can have them."""
    cells = len(numbers)
    tissue = np.asarray(TISSUES)[rng.integers(0, len(TISSUES), cells)]
    prep = np.asarray(PREPS)[rng.integers(0, len(PREPS), cells)]
    individual = np.array([f"GTEX-{number:04d}" for number in rng.integers(1, 17, cells)])
    barcode = np.array([f"{number:06d}" for number in range(cells)])
    broad = np.asarray(names)[numbers]
    coarse = np.array([name.split(" (")[0] for name in names])[numbers]
    umis, genes = counts.sum(axis=1), (counts > 0).sum(axis=1)
    batch = [f"{i}-{t}-{p}" for i, t, p in zip(individual, tissue, prep, strict=True)]
    columns = {
        "n_genes": genes,
        "tissue": tissue,
        "prep": prep,
        "individual": individual,
        "nGenes": genes,
        "nUMIs": umis,
        "Participant ID": individual,
        "barcode": barcode,
        "batch": batch,
        "n_counts": umis.astype(np.float32),
        "tissue-individual-prep": batch,
        "Broad cell type": broad,
        "Granular cell type": broad,
        "log10_nUMIs": np.log10(umis),
        "Cell types level 2": coarse,
        "Cell types level 3": coarse,
        "Tissue": tissue,
        "channel": batch,
    }
    index = [f"{p}_{b}-{t}" for p, b, t in zip(prep, barcode, tissue, strict=True)]
    frame = pd.DataFrame(columns, index=index)
    labels = [name for name in frame.columns if frame[name].dtype == object and name != "barcode"]
    return frame.astype(dict.fromkeys(labels, "category"))
