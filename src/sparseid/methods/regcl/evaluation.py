"""Measurements of a trained stack: attribution maps and their AUC, explained variance, saturated outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import SeriesBatch
from sparseid.measurements import Key, Measurement, units
from sparseid.methods.baselines import of_baseline
from sparseid.methods.regcl.encoder import StackedEncoder
from sparseid.methods.regcl.metrics import METRICS
from sparseid.metrics.attribution import attribution_auc, attribution_map, minimum_norm_auc
from sparseid.metrics.attribution.inverse import rank_deficient
from sparseid.metrics.attribution.maps import CHUNK
from sparseid.metrics.baselines import ridge
from sparseid.metrics.linear_r2 import linear_r2, r2

if TYPE_CHECKING:
    from sparseid.data.contrastive import ContrastiveData

ATTRIBUTIONS: dict[str, dict[str, Any]] = {
    "neuron_gradient": {"method": "neuron_gradient"},
    "feature_ablation": {"method": "feature_ablation"},
    "integrated_gradients": {"method": "integrated_gradients"},
    "shapley_shuffled": {"method": "gradient_shap", "baselines": "shuffled"},
    "shapley_zeros": {"method": "gradient_shap", "baselines": "zeros"},
    "jf_plus": {"method": "inverted_jacobian"},
}
"""Rows of Table 1 -> computation of their maps."""
UNITS = units(METRICS)
Scored = tuple[str, dict[str, Key], NDArray[np.float64], int]
"""Metric, further keys, its values (members,), number of samples behind each."""
SHOWN = 2000
"""Number of held-out samples of the first member that are saved for figures."""


class Factor(NamedTuple):
    """Part of the truth, and the part of an embedding that should learn it.

    Attributes
    ----------
    embedding
        Coordinates of the embedding.
    latents
        Coordinates of the true latents; None for the labels.
    """

    embedding: slice
    latents: slice | None


class Layout(NamedTuple):
    """Assignment of the coordinates of an embedding to factors.

    Attributes
    ----------
    size
        Size of the embedding.
    factors
        Labels, and those of z1 and z2 that the embedding has.
    scored
        Factor whose rows of an attribution map are scored: z2.
    """

    size: int
    factors: dict[str, Factor]
    scored: Factor

    @classmethod
    def of(cls, data: ContrastiveData, whole: bool) -> Layout:
        """Return the layout of an embedding of all latents in order (`whole`), or of only the labels' factor."""
        if whole:
            named = {name: Factor(rows, rows) for name, rows in data.latent_rows._asdict().items()}
            return cls(data.latents, {"labels": Factor(data.label_rows, None), **named}, named["z2"])
        every, rows = slice(0, data.label_dim), data.label_rows
        named = {name: Factor(every, rows) for name, own in data.latent_rows._asdict().items() if own == rows}
        return cls(data.label_dim, {"labels": Factor(every, None), **named}, Factor(every, rows))


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A stack's attribution maps, and its embeddings of two sets of samples.

    Attributes
    ----------
    maps
        Attribution method -> (members, outputs, features).
    train, held_out
        Samples over which the maps are averaged, and samples on which embeddings are scored.
    train_embedding, embedding
        (members, samples, outputs) embeddings of these.
    losses
        Objective -> (members,) its loss on the held-out samples, without the penalty.
    saturated
        (members,) fraction of the training samples' outputs that the head clips.
    deficient
        (members,) fraction of the training samples at which rows of the Jacobian are linearly dependent (including
        saturated outputs), so that its pseudo-inverse is not a right inverse.
    truth
        (members, latents, features) bool: the true map; None if unknown.
    limit
        (members,) AUC of the minimum-norm inverse of the generator; None if unknown.
    """

    maps: dict[str, NDArray[np.float64]]
    train: SeriesBatch
    held_out: SeriesBatch
    train_embedding: Tensor
    embedding: Tensor
    losses: dict[str, NDArray[np.float64]]
    saturated: NDArray[np.float64]
    deficient: NDArray[np.float64]
    truth: NDArray[np.bool_] | None
    limit: NDArray[np.float64] | None


def maps_of(encoder: StackedEncoder, inputs: Tensor, seeds: Sequence[int]) -> dict[str, NDArray[np.float64]]:
    """Return the map (members, outputs, features) of each attribution method, over samples (members, n, features)."""
    jacobian = torch.no_grad()(encoder.jacobian)
    return {
        name: attribution_map(encoder, inputs, **settings, seeds=seeds, jacobian=jacobian)
        for name, settings in ATTRIBUTIONS.items()
    }


def deficient_share(encoder: StackedEncoder, inputs: Tensor) -> NDArray[np.float64]:
    """Return the fraction (members,) of samples (members, n, features) whose Jacobian has dependent rows."""
    with torch.no_grad():
        parts = [rank_deficient(encoder.jacobian(part)) for part in inputs.split(CHUNK, dim=1)]
    return torch.cat(parts, dim=1).double().mean(dim=1).cpu().numpy()


def limit_of(data: ContrastiveData) -> NDArray[np.float64] | None:
    """Return the AUC (members,) of z2 in the minimum-norm inverse of the generator; None if unknown."""
    scores = []
    for member in range(len(data.seeds)):
        jacobian = data.true_jacobian(member)
        if jacobian is None or data.truth is None:
            return None
        scores.append(minimum_norm_auc(jacobian, data.truth[member].cpu().numpy(), data.latent_rows.z2))
    return np.stack(scores)


def measure(evaluated: Evaluated, layout: Layout, seeds: Sequence[int]) -> list[Measurement]:
    """Return the measurements of every member; undefined for one whose embeddings are not finite.

    ``auc`` of each attribution method, under the key ``attribution``; ``minimum_norm_auc``; ``r2`` of labels, z1 and
    z2 from their own coordinates, under the key ``explained``, by regression on the training samples and scored on
    the held-out samples; ``saturated``; ``rank_deficient``: all of these in percent; ``held_out_loss``, under the key
    ``objective``. Metrics that require an unknown truth are skipped.
    """
    percent: list[Scored] = []
    samples, held_out = evaluated.train.inputs.shape[1], evaluated.embedding.shape[1]
    if evaluated.truth is not None:
        rows = evaluated.truth[:, layout.scored.latents]
        for name, maps in evaluated.maps.items():
            score = attribution_auc(maps[:, layout.scored.embedding], rows)
            percent.append(("auc", {"attribution": name}, score, samples))
    if evaluated.limit is not None:
        percent.append(("minimum_norm_auc", {}, evaluated.limit, samples))
    for name, factor in layout.factors.items():
        targets = [_targets(part, factor) for part in (evaluated.train, evaluated.held_out)]
        if targets[0] is not None and targets[1] is not None and targets[0].shape[-1]:
            at = factor.embedding
            score = linear_r2(evaluated.train_embedding[..., at], targets[0], evaluated.embedding[..., at], targets[1])
            percent.append(("r2", {"explained": name}, score, held_out))
    percent.append(("saturated", {}, evaluated.saturated, samples))
    percent.append(("rank_deficient", {}, evaluated.deficient, samples))
    losses: list[Scored] = [
        ("held_out_loss", {"objective": name}, loss, held_out) for name, loss in evaluated.losses.items()
    ]
    finite = torch.isfinite(evaluated.embedding).flatten(1).all(dim=1).tolist()
    return [
        Measurement(metric, scale * float(value) if good else None, UNITS[metric], n, keys, seed)
        for scale, found in ((100, percent), (1, losses))
        for metric, keys, of_members, n in found
        for seed, value, good in zip(seeds, of_members, finite, strict=True)
    ]


def baseline_measurements(data: ContrastiveData, held_out: SeriesBatch, seeds: Sequence[int]) -> list[Measurement]:
    """Return the ``r2`` of a ridge regression of the labels on the observations, next to that of each seed.

    Parameters
    ----------
    data
        Data that all members share.
    held_out
        The scored samples.
    """
    rows, labels = held_out.inputs[0].double().cpu().numpy(), held_out.labels[0]
    score = 100 * float(r2(ridge(*data.seen(), rows), labels.cpu()))
    found = of_baseline("label_ridge", "r2", score, UNITS["r2"], len(labels), seeds)
    return [replace(measurement, keys={"explained": "labels", **measurement.keys}) for measurement in found]


def _targets(samples: SeriesBatch, factor: Factor) -> Tensor | None:
    """Return the targets (members, samples, size) of a factor's coordinates; None if unknown."""
    if factor.latents is None:
        return samples.labels
    return None if samples.latents is None else samples.latents[..., factor.latents]


def arrays_of(evaluated: Evaluated, layout: Layout) -> dict[str, NDArray]:
    """Return arrays for figures: scored rows of the maps of all members, embeddings of the first."""
    arrays: dict[str, NDArray] = {
        f"map_{name}": maps[:, layout.scored.embedding] for name, maps in evaluated.maps.items()
    }
    if evaluated.truth is not None:
        arrays["truth"] = evaluated.truth[:, layout.scored.latents]
    arrays["embedding"] = evaluated.embedding[0, :SHOWN].cpu().numpy()
    arrays["labels"] = evaluated.held_out.labels[0, :SHOWN].cpu().numpy()
    if evaluated.held_out.latents is not None:
        arrays["latents"] = evaluated.held_out.latents[0, :SHOWN].cpu().numpy()
    return arrays
