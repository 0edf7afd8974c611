"""The tables and figures of TBR."""

from __future__ import annotations

from functools import partial

from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.tbr import claims, figures

_of_tbr = partial(Artefact, paper="tbr", checks=claims_in(claims))
_against_changes = partial(_of_tbr, selects={"method": claims.METHODS, "S": claims.CHANGES}, entry_keys=("method", "S"))
_cells = {"domain": ("gtex",), "method": claims.METHODS, "S": claims.CHANGES}
_on_cells = partial(_against_changes, selects=_cells)

ARTEFACTS = (
    _of_tbr(
        id="tbr/fig3",
        title="Figure 3: test MSE against the number of learned latents",
        selects={"method": claims.METHODS, "latent_dim": claims.LATENTS, "learned_dim": claims.LEARNED},
        entry_keys=("method", "latent_dim", "learned_dim"),
        metrics=("mse",),
        draw=figures.curves_against_latents,
    ),
    _against_changes(
        id="tbr/fig4",
        title="Figure 4: MCC and test MSE in simulation against S",
        metrics=("mcc", "mse"),
        draw=partial(figures.curves, panels={"mcc": "(a) MCC", "mse": "(b) test MSE"}),
    ),
    _of_tbr(
        id="tbr/table3",
        title="Table 3: error of treatment effects at S = 1",
        selects={"method": claims.METHODS, "S": (1,), "environment": (*claims.ENVIRONMENTS, "pooled")},
        entry_keys=("environment", "method"),
        metrics=("ate_mse",),
    ),
    _on_cells(
        id="tbr/fig5a",
        title="Figure 5a: MCC on single cells against S (small: synthetic cells, smoke: blood cells)",
        metrics=("mcc",),
        draw=partial(figures.curves, panels={"mcc": "MCC{cells}"}, artefact="tbr/fig5a"),
    ),
    _on_cells(
        id="tbr/fig5b",
        title="Figure 5b: error on unseen cell types against S (small: synthetic cells, smoke: blood cells)",
        metrics=("unseen_mse",),
        draw=partial(figures.curves, panels={"unseen_mse": "MSE on unseen types{cells}"}, artefact="tbr/fig5b"),
    ),
    _against_changes(
        id="tbr/fig6",
        title="Figure 6: MCC and test MSE against S, leaves observed only",
        metrics=("mcc", "mse"),
        draw=partial(figures.curves, panels={"mcc": "(a) MCC", "mse": "(b) test MSE"}),
    ),
    _against_changes(
        id="tbr/fig7",
        title="Figure 7: MCC against S, all-linear data",
        metrics=("mcc",),
        draw=partial(figures.curves, panels={"mcc": "MCC"}),
    ),
    _of_tbr(
        id="tbr/fig8",
        title="Figure 8: MCC against the probability pi of a change",
        selects={"method": claims.METHODS, "pi": claims.PROBABILITIES},
        entry_keys=("method", "pi"),
        metrics=("mcc",),
        draw=partial(figures.curves, panels={"mcc": "MCC"}, points=figures.PROBABILITY_OF_CHANGE),
    ),
    _of_tbr(
        id="tbr/runtime",
        title="Run time: seconds to simulate and fit at S = 1",
        selects={"domain": ("treesimulation", "gtex"), "method": ("tbr",), "S": (1,)},
        entry_keys=("domain",),
        metrics=("seconds",),
    ),
)
