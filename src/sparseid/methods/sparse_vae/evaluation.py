"""Measurements of a trained stack: reconstruction, disentanglement, recovered support, predicted classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.measurements import Measurement, units
from sparseid.methods.baselines import of_baseline
from sparseid.methods.sparse_vae.metrics import METRICS
from sparseid.metrics.baselines import mean_rows, nmf_shares, pca_rows, popularity
from sparseid.metrics.classification import cross_validated_accuracy
from sparseid.metrics.dci import dci
from sparseid.metrics.projection import class_silhouette, tsne_plane
from sparseid.metrics.ranking import log_loss, ndcg_at, recall_at
from sparseid.metrics.support import support_recovery

PUBLISHED_ROWS = 16
"""Number of training and test samples of the published DCI."""
FEWEST_CODES = 3
"""Minimum number of different codes for a projection to the plane."""
UNITS = units(METRICS)

Values = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Codes and scores of a stack; the leading axis is that of the seeds.

    Attributes
    ----------
    seeds
        One per member.
    objective
        (members,) objective on the training samples.
    scores
        Metric -> (members, test samples), see :func:`scores_of`.
    codes
        (members, test samples, latents)
    train_codes
        (members, training samples, latents); None without a known truth.
    truth
        (members, samples, factors) of training and test samples; None if unknown.
    support
        (features, factors) of the truth; None if unknown.
    labels
        (test samples,) classes; None without classes.
    loadings
        Weights between features and latents, with `selector` (members, features, latents) if the model has one.
    planes
        (members, test samples, 2) projection of the codes to the plane; None without classes.
    feature_names
        Names of the features; None without names.
    row_ids
        (test samples,) ids of the samples; None without ids.
    """

    seeds: Sequence[int]
    objective: Values
    scores: dict[str, Values]
    codes: Values
    train_codes: Values | None
    truth: tuple[Values, ...] | None
    support: Values | None
    labels: NDArray | None
    loadings: dict[str, Values]
    planes: Values | None
    feature_names: list[str] | None
    row_ids: NDArray[np.str_] | None = None


def scores_of(outputs: Tensor, inputs: Tensor, gaussian: bool) -> dict[str, Tensor]:
    """Return the scores (members, samples) of reconstructions, given outputs and inputs (members, samples, features).

    Gaussian features: `mse`, the mean over features. Counts: `log_loss`, `recall_at_5` and `ndcg_at_10` of
    probabilities, and `gap_to_oracle`, the excess of the loss over that of the row's own frequencies. No entry is held
    out: the targets are the inputs.
    """
    if gaussian:
        return {"mse": (outputs - inputs).square().mean(dim=-1)}
    loss = log_loss(outputs, inputs)
    oracle = log_loss(inputs / inputs.sum(dim=-1, keepdim=True).clamp(min=1), inputs)
    return {
        "log_loss": loss,
        "gap_to_oracle": loss - oracle,
        "recall_at_5": recall_at(outputs, inputs, 5),
        "ndcg_at_10": ndcg_at(outputs, inputs, 10),
    }


def baseline_measurements(
    train: Values, test: Tensor, components: int, gaussian: bool, seeds: Sequence[int]
) -> list[Measurement]:
    """Return the means of `scores_of` of simple baselines, next to those of each seed.

    Gaussian features: the mean of the training rows, and PCA. Counts: popularity, and NMF.

    Parameters
    ----------
    train, test
        (samples, features)
    components
        Number of components of PCA and NMF: the factors of the model.
    """
    rows = test.double().cpu().numpy()
    if gaussian:
        outputs = {"mean": mean_rows(train, rows), "pca": pca_rows(train, rows, components)}
    else:
        outputs = {"popularity": popularity(train, rows), "nmf": nmf_shares(train, rows, components)}
    found = []
    for name, predicted in outputs.items():
        scores = scores_of(torch.from_numpy(np.ascontiguousarray(predicted)), test.double().cpu(), gaussian)
        for metric, values in scores.items():
            known = values[~values.isnan()]
            found += of_baseline(name, metric, float(known.mean()), UNITS[metric], len(known), seeds)
    return found


def planes_of(codes: Values, seeds: Sequence[int]) -> Values:
    """Return projections (members, samples, 2) of codes (members, samples, latents); NaN if too few codes differ."""
    planes = np.full((*codes.shape[:2], 2), np.nan)
    for member, seed in enumerate(seeds):
        if len(np.unique(codes[member], axis=0)) >= FEWEST_CODES:
            planes[member] = tsne_plane(codes[member], seed)
    return planes


def measure(evaluated: Evaluated) -> list[Measurement]:
    """Return the measurements of every member; undefined for one whose codes or scores are not finite.

    These are the means of `scores_of`; `objective`; `dci` from the 16 samples of the published evaluation,
    `dci_all_rows` and `completeness_all_rows` from all; `selector_mse` and `selector_hamming` on the test samples;
    `accuracy` of the classes, predicted from the codes, and their `silhouette` in the plane. Metrics that require an
    unknown truth or classes are skipped.
    """
    found = []
    for member, seed in enumerate(evaluated.seeds):
        sound = np.isfinite(evaluated.codes[member]).all() and np.isfinite(evaluated.objective[member])
        for metric, value, n in _of_member(evaluated, member):
            known = bool(sound and np.isfinite(value))
            found.append(Measurement(metric, float(value) if known else None, UNITS[metric], n, {}, seed))
    return found


def _of_member(evaluated: Evaluated, member: int) -> Iterator[tuple[str, float, int]]:
    """Yield metric, value and number of samples."""
    for name, rows in evaluated.scores.items():
        undefined = np.isnan(rows[member]) & (name in ("recall_at_5", "ndcg_at_10"))  # rows without positives
        defined = rows[member][~undefined]
        yield name, defined.mean() if len(defined) else np.nan, len(defined)
    codes, seed = evaluated.codes[member], evaluated.seeds[member]
    samples = len(codes)
    yield "objective", evaluated.objective[member], samples
    if evaluated.truth is not None and evaluated.train_codes is not None and evaluated.support is not None:
        train, test = (factors[member] for factors in evaluated.truth)
        few = dci(evaluated.train_codes[member], train, codes, test, PUBLISHED_ROWS, seed)
        yield "dci", few.disentanglement, min(PUBLISHED_ROWS, samples)
        every = dci(evaluated.train_codes[member], train, codes, test, None, seed)
        yield "dci_all_rows", every.disentanglement, samples
        yield "completeness_all_rows", every.completeness, samples
        if "selector" in evaluated.loadings:
            probability = evaluated.loadings.get("slab_probability")
            found = support_recovery(
                evaluated.loadings["selector"][member],
                codes,
                test,
                evaluated.support,
                None if probability is None else probability[member],
            )
            yield "selector_mse", found.mse, samples
            yield "selector_hamming", found.hamming, samples
    if evaluated.labels is not None:
        labels = evaluated.labels[:samples]
        yield "accuracy", cross_validated_accuracy(codes, labels, seed=seed), samples
        if evaluated.planes is not None:
            yield "silhouette", class_silhouette(evaluated.planes[member], labels), samples


def arrays_of(evaluated: Evaluated) -> dict[str, NDArray]:
    """Return arrays for figures and topics.

    These are the loadings of all members; for the first member that has not diverged, the `codes` of the test samples,
    with their `row_ids`, true `factors`, or their `labels` and projections to the `plane`, if available;
    `feature_names`.
    """
    shown = int(np.isfinite(evaluated.codes).all(axis=(1, 2)).argmax())
    arrays: dict[str, NDArray] = {**evaluated.loadings, "codes": evaluated.codes[shown]}
    if evaluated.labels is not None:
        arrays["labels"] = np.asarray(evaluated.labels, dtype=np.str_)
    if evaluated.planes is not None:
        arrays["plane"] = evaluated.planes[shown]
    if evaluated.truth is not None:
        arrays["factors"] = evaluated.truth[1][shown]
    if evaluated.row_ids is not None:
        arrays["row_ids"] = evaluated.row_ids[: evaluated.codes.shape[1]]
    if evaluated.feature_names is not None:
        arrays["feature_names"] = np.asarray(evaluated.feature_names, dtype=np.str_)
    return arrays
