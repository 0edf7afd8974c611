"""How keys and metrics are written in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping

from sparseid.measurements import Key

_WRITTEN = {
    "digitcircle": "DigitCircle",
    "latex_ocr": "LaTeX-OCR",
    "audiomnist": "AudioMNIST",
    "treesimulation": "simulation",
    "gtex": "GTEx",
    "test_speakers": "test speakers",
    "sparling": "Sparling",
    "tbr": "TBR",
    "regcl": "RegCL",
    "sparse_vae": "Sparse VAE",
    "ddl": "DDL",
    "sparling_mt": "Sparling MT",
    "sparling_st": "Sparling ST",
    "non_sparse": "Non-Sparse",
    "retrained": "Retrained",
    "direct": "DIRECT",
    "l1": "L1",
    "kl": "KL",
    "no_bn_mt": "no batch norm, MT",
    "no_bn_st": "no batch norm, ST",
    "train_speakers": "speakers of the training",
    "without_plus_parens": "without + ( )",
    "constant5": "split by 5",
    "k": "split by k",
    "lparen": "(",
    "rparen": ")",
    "plus": "+",
    "bar": "fraction bar",
    "fpe": "FPE",
    "fne": "FNE",
    "ce": "CE",
    "e2ee": "E2EE",
    "exact_accuracy": "exact match",
    "e2e_accuracy": "E2E accuracy",
    "perturbation_accuracy": "exchanges followed",
    "val_exact_accuracy": "exact match in validation",
    "binning_delta": "accuracy lost by binning",
    "direct_error": "error on single motifs",
    "error_ratio": "DIRECT / Sparling",
    "diagonal_share": "share in its channels",
    "none_share": "share missed",
    "other_channel_share": "share in other channels",
    "row_share": "share of all pairs",
    "config_count": "placements",
    "config_probability": "probability of a placement",
    "density_over_minimum": "density / lowest possible",
    "mcc": "MCC",
    "mse": "MSE",
    "ate_mse": "MSE of effects",
    "unseen_mse": "MSE on unseen types",
    "auc": "AUC",
    "dci": "DCI",
    "dci_disentanglement": "DCI",
    "factorvae_score": "FactorVAE score",
    "vae": "VAE",
    "beta_vae": "\N{GREEK SMALL LETTER BETA}-VAE",
    "vsc": "VSC",
    "vsc_untrained_inputs": "VSC, pseudo-inputs as drawn",
    "oi_vae": "OI-VAE",
    "factorvae": "FactorVAE",
    "encdiff": "EncDiff",
    "disco": "DisCo",
    "orojar": "OroJAR",
    "mcc_spearman": "MCC of ranks",
    "structure_f1": "F1 of the structure",
    "structure_shd": "wrong entries of the structure",
    "forbidden": "largest forbidden entry of T",
    "jacobian_l1_normalised": "L1 of the Jacobian by latents' spread",
    "symdiff": "SymDiff",
    "comp_a": "CompA",
    "comp_b": "CompB",
    "int": "Int",
    "ref": "Ref",
    "jf_plus": "pseudo-inverse Jacobian",
    "shapley_shuffled": "Shapley shuffled",
    "shapley_zeros": "Shapley zeros",
    "minimum_norm": "minimum-norm inverse of the generator (untrained)",
    "r2": "R2",
    "saturated": "clipped outputs",
    "rank_deficient": "samples with dependent Jacobian rows",
    "r2_below_95": "share of data sets with R2 below 95 %",
    "movielens": "MovieLens",
    "peerread": "PeerRead",
    "shapes3d": "Shapes3D",
    "cars3d": "Cars3D",
    "mpi3d": "MPI3D",
    "recall_at_5": "recall@5",
    "ndcg_at_10": "NDCG@10",
    "npmi": "NPMI",
    "npmi_random": "NPMI of random features",
    "sparse_vae_warm_up": "Sparse VAE with warm-up",
    "nmf": "NMF",
    "dci_all_rows": "DCI from all samples",
    "selector_mse": "error of W",
    "selector_hamming": "wrong entries of W",
    "stuck": "data sets that got stuck",
    "gap_to_oracle": "log loss above the row's own frequencies'",
    "n_processes": "enriched processes",
    "n_cells": "cells",
}
_NUMBERED = {"steps_above": "{} cuts above final"}
"""Keys whose value is a number that means nothing alone."""

EXPLAINED = {
    "fpe": "false positive error",
    "fne": "false negative error",
    "ce": "confusion error",
    "e2ee": "end-to-end error",
}


def written(name: Key) -> str:
    """Return a key's value or a metric's name as readers write it."""
    return _WRITTEN.get(str(name), str(name).replace("_", " "))


def written_cell(keys: Mapping[str, Key]) -> str:
    """Return the names of a cell in one line.

    Examples
    --------
    >>> written_cell({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _NUMBERED.get(key, key.replace("_", " ") + " {}").format(f"{value:g}")
        if isinstance(value, int | float)
        else written(value)
        for key, value in keys.items()
    )
