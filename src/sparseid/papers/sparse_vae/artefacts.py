"""The tables and figures of the Sparse VAE; tables 1 and 3 have a part for each of their two data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sparseid.measurements import Key
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.sparse_vae import claims, figures
from sparseid.papers.sparse_vae.rows import (
    BETAS,
    CORRELATIONS,
    METHODS,
    ON_CELLS,
    SHIFTS,
    STUCK,
    WARM_UP,
    counted,
    of_figure3,
)
from sparseid.papers.targets import load_targets

_of_paper = partial(Artefact, paper="sparse_vae", checks=claims_in(claims))
_WITH_BETA: Mapping[str, Sequence[Key | None]] = {"method": METHODS, "beta": (None, *BETAS)}
_table1 = partial(_of_paper, targets_of=("sparse_vae/table1",), entry_keys=("dataset", "method", "beta"))
_table3 = partial(
    _of_paper,
    entry_keys=("dataset", "topic", "top_features", "shared"),
    metrics=("npmi",),
    claims_instead=frozenset(target.id for target in load_targets("sparse_vae").of("sparse_vae/table3")),
    draw=figures.coherence_of_topics,
)
_on_cells = partial(_of_paper, selects={"domain": ("zeisel",), "method": ON_CELLS}, entry_keys=("method",))

_OF_RUN = (
    *("mse", "dci", "dci_all_rows", "selector_hamming"),
    *("log_loss", "recall_at_5", "ndcg_at_10", "gap_to_oracle"),
    *("accuracy", "silhouette", "n_processes"),
)

ARTEFACTS = (
    _of_paper(
        id="sparse_vae/fig3",
        title="Figure 3: held-out MSE and DCI against the correlation of factors (beta-VAE: beta = 2)",
        selects={"method": ("sparse_vae", WARM_UP, *METHODS[1:]), "rho": CORRELATIONS},
        entry_keys=("method", "rho"),
        metrics=("mse", "dci", "dci_all_rows", "selector_mse", "selector_hamming", STUCK),
        derive=of_figure3,
        draw=figures.boxes_against_correlation,
    ),
    _table1(
        id="sparse_vae/table1",
        title="Table 1, MovieLens: held-out log loss and ranking (below scale=paper: synthetic ratings)",
        selects={"dataset": ("movielens",), **_WITH_BETA},
        metrics=("log_loss", "recall_at_5", "ndcg_at_10", "gap_to_oracle"),
    ),
    _table1(
        id="sparse_vae/table1_peerread",
        title="Table 1, PeerRead: held-out log loss (below scale=paper: abstracts of SciTLDR)",
        selects={"dataset": ("peerread",), **_WITH_BETA},
        metrics=("log_loss", "gap_to_oracle"),
    ),
    _of_paper(
        id="sparse_vae/table2",
        title="Table 2: test log loss under shift of the topics (below scale=paper: abstracts of SciTLDR)",
        selects={"shift": SHIFTS, **_WITH_BETA},
        entry_keys=("method", "beta", "shift", "sigma_shift"),
        metrics=("log_loss", "gap_to_oracle"),
    ),
    _table3(
        id="sparse_vae/table3",
        title="Table 3, MovieLens: top films of each factor and their coherence (below scale=paper: synthetic films)",
        selects={"dataset": ("movielens",), "method": ("sparse_vae",)},
    ),
    _table3(
        id="sparse_vae/table3_peerread",
        title="Table 3, PeerRead: top words of each factor and their coherence (below scale=paper: SciTLDR)",
        selects={"dataset": ("peerread",), "method": ("sparse_vae",)},
    ),
    _on_cells(
        id="sparse_vae/fig4",
        title="Figure 4: factors of the cells in the plane, and how far apart their types lie",
        metrics=("silhouette", "n_cells"),
        derive=counted("n_cells", of="silhouette"),
        draw_arrays=figures.planes_of_methods,
    ),
    _on_cells(
        id="sparse_vae/zeisel_accuracy",
        title="Types of cells predicted from factors (below scale=paper: other genes)",
        metrics=("accuracy",),
    ),
    _on_cells(
        id="sparse_vae/zeisel_go",
        title="Enriched biological processes (needs gene names: not available below scale=paper)",
        selects={"domain": ("zeisel",), "method": ("sparse_vae",)},
        metrics=("n_processes",),
    ),
)

SUMMARIES = (
    _of_paper(
        id="sparse_vae/run",
        title="Sparse VAE, one run",
        selects={},
        entry_keys=("method", "beta"),
        metrics=_OF_RUN,
        summary_of_run=True,
    ),
)
"""Tables printed after a single run."""
