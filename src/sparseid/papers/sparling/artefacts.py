"""The tables and figures of Sparling."""

from __future__ import annotations

from functools import partial
from typing import Any

from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.rows import with_complements
from sparseid.papers.sparling import alpha, claims, figures
from sparseid.papers.sparling import rows as derived
from sparseid.papers.sparling.rows import DENSITIES, DOMAINS
from sparseid.papers.targets import load_targets

_of_sparling = partial(Artefact, paper="sparling", checks=claims_in(claims, alpha))
_FINAL = (0, None)
"""Values of ``steps_above`` at the final density; runs without densities may lack the key."""
_AT_FINAL_DENSITY = {"domain": DOMAINS, "method": ("sparling_mt",), "steps_above": (0,)}
_OF_A_RUN = ("e2ee", "fpe", "fne", "ce", "exact_accuracy", "sparsity", "density_over_minimum")
_OF_A_DOMAIN = ("e2ee", "fpe", "fne", "ce", "sparsity", "perturbation_accuracy", "direct_error")
_PRINTED_OF_A_DOMAIN = ("sparling/fig3", "sparling/fig5", "sparling/fig6", "sparling/table2")


def _of_all_domains(id: str, **fields: Any) -> Artefact:
    """Return an artefact over all domains; its own preset has DigitCircle only."""
    return _of_sparling(id=id, presets=(id, *(f"sparling/{domain}" for domain in DOMAINS[1:])), **fields)


_of_domain = partial(
    _of_sparling,
    entry_keys=("domain", "split", "method"),
    metrics=_OF_A_DOMAIN,
    targets_of=_PRINTED_OF_A_DOMAIN,
    derive=derived.of_domain,
)

ARTEFACTS = (
    _of_sparling(
        id="digitcircle",
        title="Sparling on DigitCircle at the final density",
        selects={"domain": ("digitcircle",), "method": ("sparling_mt",), "steps_above": (0,)},
        entry_keys=("domain", "method"),
        metrics=_OF_A_RUN,
        targets_of=("sparling/fig3", "sparling/fig5"),
        summary_of_run=True,
    ),
    _of_sparling(
        id="latex_ocr",
        title="Sparling on LaTeX-OCR at the final density, with the fraction of each symbol without a channel",
        selects={"domain": ("latex_ocr",), "method": ("sparling_mt",), "steps_above": (0,)},
        entry_keys=("domain", "split", "method", "symbol", "to"),
        metrics=(*_OF_A_RUN, "perturbation_accuracy", "direct_error", "none_share"),
        targets_of=(*_PRINTED_OF_A_DOMAIN, "sparling/fig8"),
        derive=derived.as_printed,
        summary_of_run=True,
    ),
    _of_sparling(
        id="audiomnist",
        title="Sparling on spoken digits at the final density, tested on unseen speakers",
        selects={"domain": ("audiomnist",), "method": ("sparling_mt",), "steps_above": (0,)},
        entry_keys=("domain", "split", "method"),
        metrics=(*_OF_A_RUN, "perturbation_accuracy", "direct_error"),
        targets_of=_PRINTED_OF_A_DOMAIN,
        derive=derived.as_printed,
        summary_of_run=True,
    ),
    _of_all_domains(
        id="sparling/fig3",
        title="Figure 3: motif errors at the final density",
        selects=_AT_FINAL_DENSITY,
        entry_keys=("domain", "split", "method"),
        metrics=("fpe", "fne", "ce", "sparsity", "e2e_accuracy", "confusion_accuracy"),
        claims_instead=frozenset({"sparling-fig3-abstract-localisation"}),
        draw=figures.motif_error_bars,
        derive=partial(with_complements, complements={"e2e_accuracy": "e2ee", "confusion_accuracy": "ce"}),
    ),
    _of_all_domains(
        id="sparling/fig4",
        title="Figure 4: errors against density",
        selects={"domain": DOMAINS, "method": ("sparling_mt",), "steps_above": DENSITIES},
        entry_keys=("domain", "split", "method", "steps_above"),
        metrics=("fpe", "fne", "ce", "e2ee"),
        draw=figures.errors_against_density,
    ),
    _of_all_domains(
        id="sparling/fig5",
        title="Figure 5: end-to-end error of Sparling, Non-Sparse and Retrained",
        selects={"domain": DOMAINS, "method": derived.END_TO_END, "split": (None, "test_speakers")},
        entry_keys=("domain", "split", "method"),
        metrics=("e2ee",),
        draw=figures.end_to_end_bars,
        derive=derived.end_to_end,
    ),
    _of_all_domains(
        id="sparling/fig6",
        title="Figure 6: how often the decoder follows an exchanged motif",
        selects=_AT_FINAL_DENSITY,
        entry_keys=("domain", "method"),
        metrics=("perturbation_accuracy",),
        draw=figures.perturbation_bars,
    ),
    _of_all_domains(
        id="sparling/fig8",
        title="Figure 8: channels that fire on each class of motifs, at the final density",
        selects=_AT_FINAL_DENSITY,
        entry_keys=("domain", "symbol", "to"),
        metrics=("diagonal_share", "none_share", "other_channel_share", "row_share"),
        draw_arrays=figures.confusion_by_domain,
        derive=derived.kinds,
    ),
    _of_sparling(
        id="sparling/fig9",
        title="Figure 9: accuracy lost by binning activations",
        selects={"method": derived.THRESHOLDS, "bins": derived.BINS, "steps_above": derived.DENSITIES_BINNED},
        entry_keys=("method", "bins", "steps_above"),
        metrics=("binning_delta",),
        draw=figures.binning_against_density,
    ),
    _of_sparling(
        id="sparling/fig10",
        title="Figure 10: end-to-end error against motif errors, per seed (the paper's runs are in the figure)",
        selects={"domain": DOMAINS[:1], "method": ("sparling_mt",), "steps_above": (0,)},
        entry_keys=("run",),
        metrics=("e2ee", "fpe", "fne", "ce"),
        claims_instead=frozenset(target.id for target in load_targets("sparling").of("sparling/fig10")),
        draw=figures.errors_by_seed,
        derive=derived.by_run,
    ),
    _of_sparling(
        id="sparling/table1",
        title="Table 1: L1 penalty on DigitCircle",
        selects={"method": ("l1", "sparling_mt"), "lambda": (*derived.L1_WEIGHTS, None), "steps_above": _FINAL},
        entry_keys=("method", "lambda"),
        metrics=("fpe", "fne", "ce", "e2ee", "density"),
    ),
    _of_sparling(
        id="sparling/kl",
        title="KL penalty on DigitCircle (appendix K.1)",
        selects={"method": ("kl",), "lambda": derived.KL_WEIGHTS, "steps_above": _FINAL},
        entry_keys=("method", "lambda"),
        metrics=("density", "val_exact_accuracy"),
        claims_instead=frozenset({"sparling-kl-text-min_density"}),
    ),
    _of_sparling(
        id="sparling/ablation",
        title="No batch norm and no annealing on DigitCircle (appendix K.2)",
        selects={"method": ("no_bn_st", "no_bn_mt", "no_annealing")},
        entry_keys=("method", "seed", "start"),
        metrics=("e2ee", "density_over_minimum"),
        derive=derived.ablations,
    ),
    _of_sparling(
        id="sparling/fig11",
        title="Figure 11: a threshold per channel (MT) against a single one (ST), DigitCircle",
        selects={"domain": DOMAINS[:1], "method": derived.THRESHOLDS, "steps_above": (0,)},
        entry_keys=("method",),
        metrics=("fpe", "fne", "ce", "e2ee"),
        draw=figures.threshold_bars,
    ),
    _of_all_domains(
        id="sparling/table2",
        title="Table 2: single motifs classified by Sparling and by a classifier (DIRECT)",
        selects={"domain": DOMAINS, "method": ("sparling_mt", "direct"), "steps_above": _FINAL},
        entry_keys=("domain", "split", "method"),
        metrics=("direct_error", "error_ratio"),
        derive=derived.direct_errors,
    ),
    _of_domain(
        id="sparling/latex_ocr",
        title="LaTeX-OCR: Sparling, Non-Sparse, Retrained and DIRECT",
        selects={"domain": ("latex_ocr",), "method": (*derived.END_TO_END, "direct")},
    ),
    _of_domain(
        id="sparling/audiomnist",
        title="Spoken digits: Sparling, Non-Sparse, Retrained and DIRECT",
        selects={"domain": ("audiomnist",), "method": (*derived.END_TO_END, "direct")},
    ),
    _of_sparling(
        id="sparling/fig12",
        title="Figure 12: splicing, against a matched randomised map and random predictions",
        selects={"domain": ("splicing",), "method": derived.SPLICING, "steps_above": (0,), "site": (None,)},
        entry_keys=("method", "run"),
        metrics=("e2ee", "fne", "fpe", "ce"),
        draw=figures.splicing_bars,
        derive=derived.splicing,
    ),
    _of_sparling(
        id="sparling/harder",
        title="Study: one threshold, many, and no batch norm on noisier images with rare digits",
        selects={"method": (*derived.THRESHOLDS, "no_bn_mt"), "steps_above": (0,)},
        entry_keys=("method", "post_noise", "rarest"),
        metrics=("fpe", "fne", "ce", "e2ee", "density_over_minimum"),
    ),
    _of_sparling(
        id="sparling/alpha",
        title="Alpha of the simplified DigitCircle (appendix B.3), computed without runs",
        selects={},
        entry_keys=("k", "split"),
        metrics=("flow", "alpha", "config_count", "config_probability"),
        claims_instead=frozenset(
            target.id for target in load_targets("sparling").of("sparling/alpha") if "domain" in target.keys
        ),
        derive=alpha.alpha_rows,
        computed=True,
    ),
)
