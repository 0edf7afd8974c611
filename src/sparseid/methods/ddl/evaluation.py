"""Measurements of a trained stack: latents, blocks of latents and dependency structure against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.measurements import Key, Measurement, units
from sparseid.methods.baselines import of_baseline
from sparseid.methods.ddl.metrics import METRICS
from sparseid.metrics.baselines import mean_rows, pca_rows
from sparseid.metrics.block_r2 import assigned, block_r2
from sparseid.metrics.mcc import matching, mcc
from sparseid.metrics.structure import forbidden_entry, structure_recovery

SHOWN = 2000
"""Number of test samples of the first member that are saved for figures."""
UNITS = units(METRICS)

Values = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Test samples of all members and the outputs of the models.

    Attributes
    ----------
    seeds
        One per member.
    codes, truth
        (members, samples, latents) posterior means and true latents; `truth`, `transition` and `mask` are None if they
        are unknown.
    errors
        (members, samples) mean squared error of each reconstruction.
    dependence
        (members, features, latents) mean absolute Jacobian of the decoder.
    transition
        (members, true, learned) mean absolute derivative of the true latents with respect to the learned ones, see
        `transition_of`.
    mask
        (members, features, latents) of 0 and 1: the true dependency structure.
    groups
        True latents of two groups of observations whose blocks are compared; None without groups.
    """

    seeds: Sequence[int]
    codes: Values
    errors: Values
    dependence: Values
    truth: Values | None = None
    transition: Values | None = None
    mask: Values | None = None
    groups: tuple[Sequence[int], Sequence[int]] | None = None


def transition_of(true_jacobian: Tensor, learned_jacobian: Tensor) -> Tensor:
    """Return the derivative T (members, batch, true, learned) of the true latents with respect to the learned ones.

    If g(z) is reconstructed as g'(z'), then J' = J T by the chain rule: T is the pseudo-inverse of J times J'.

    Parameters
    ----------
    true_jacobian, learned_jacobian
        (members, batch, features, latents) of the true map at the true latents, and of the decoder at the codes of the
        same observations.
    """
    return torch.linalg.pinv(true_jacobian.double()) @ learned_jacobian.double()


def measure(evaluated: Evaluated) -> list[Measurement]:
    """Return the measurements of every member; undefined for one whose codes are not finite.

    `mcc` and `mcc_spearman` of codes and true latents; `reconstruction`; `jacobian_l1`, and `jacobian_l1_normalised` by
    latents in units of their standard deviation; `structure_f1` and `structure_shd` of the decoder's structure;
    `forbidden`, the largest entry of T that the structure forbids, latents in units of their standard deviations; with
    groups `r2` by `score`, see `block_scores`.
    """
    found = []
    for member, seed in enumerate(evaluated.seeds):
        sound = np.isfinite(evaluated.codes[member]).all()
        for metric, value, keys in _of_member(evaluated, member):
            known = bool(sound and np.isfinite(value))
            samples = evaluated.codes.shape[1]
            found.append(Measurement(metric, float(value) if known else None, UNITS[metric], samples, keys, seed))
    return found


def _of_member(evaluated: Evaluated, member: int) -> Iterator[tuple[str, float, dict[str, Key]]]:
    """Yield metric, value and row keys."""
    codes, dependence = evaluated.codes[member], evaluated.dependence[member]
    spread = codes.std(axis=0)
    yield "reconstruction", evaluated.errors[member].mean(), {}
    yield "jacobian_l1", dependence.sum(), {}
    yield "jacobian_l1_normalised", (dependence * spread).sum(), {}
    if evaluated.truth is None or evaluated.transition is None or evaluated.mask is None:
        return
    truth, mask = evaluated.truth[member], evaluated.mask[member]
    true_spread = truth.std(axis=0)
    yield "mcc", mcc(truth, codes), {}
    yield "mcc_spearman", mcc(truth, codes, "spearman"), {}
    structure = structure_recovery(dependence * spread, mask)
    yield "structure_f1", structure.f1, {}
    yield "structure_shd", structure.shd, {}
    yield "forbidden", forbidden_entry(evaluated.transition[member] * spread / true_spread[:, None], mask), {}
    if evaluated.groups is not None:
        for score, value in block_scores(codes, truth, *evaluated.groups).items():
            yield "r2", value, {"score": score}


def block_scores(codes: Values, truth: Values, first: Sequence[int], second: Sequence[int]) -> dict[str, float]:
    """Return R2 of blocks of true latents predicted from blocks of learned ones that should not know them (Fig. 4).

    For the latents of two groups of observations, K and V: ``int`` predicts those of both from those of only one,
    ``symdiff`` the reverse, ``comp_a`` those of only K from those of only V, ``comp_b`` the reverse; the reference
    ``ref`` predicts all of K's from their own learned ones, the value of entangled variables. Half of the samples are
    for fitting, half for scoring. Learned latents are assigned to the three blocks that explain them best.

    Parameters
    ----------
    codes, truth
        (samples, latents) learned and true.
    first, second
        Latents of K and of V, together all of them.

    Returns
    -------
    dict
        Means over predicted latents, at most 1, and below 0 if the prediction is worse than the mean. NaN if one of the
        two blocks is empty or a code is not finite.
    """
    names = ("int", "symdiff", "comp_a", "comp_b", "ref")
    if not np.isfinite(codes).all():
        return dict.fromkeys(names, np.nan)
    half = len(codes) // 2
    both, only_first, only_second = (
        sorted(block) for block in (set(first) & set(second), set(first) - set(second), set(second) - set(first))
    )

    def r2(inputs: Values, targets: Values) -> Values:
        return block_r2(inputs[:half], targets[:half], inputs[half:], targets[half:])

    blocks = (both, only_first, only_second)
    nothing = np.zeros(codes.shape[1])
    explained = [np.nan_to_num(r2(truth[:, block], codes)) if block else nothing for block in blocks]
    own = [block.tolist() for block in assigned(np.stack(explained), [len(block) for block in blocks])]
    pairs: dict[str, tuple[list[int], list[int]]] = {
        "int": (both, [*own[1], *own[2]]),
        "symdiff": ([*only_first, *only_second], own[0]),
        "comp_a": (only_first, own[2]),
        "comp_b": (only_second, own[1]),
        "ref": ([*both, *only_first], [*own[0], *own[1]]),
    }
    return {
        name: float(r2(codes[:, learned], truth[:, true]).mean()) if true and learned else np.nan
        for name, (true, learned) in pairs.items()
    }


def arrays_of(evaluated: Evaluated) -> dict[str, NDArray]:
    """Return arrays for figures.

    These are `dependence`, and `transition` and `mask` if they are known, of all members; `codes` and true `factors` of
    the first test samples of the first member, and the learned latent `matched` with each true one.
    """
    arrays = {"dependence": evaluated.dependence, "codes": evaluated.codes[0, :SHOWN]}
    if evaluated.truth is None or evaluated.transition is None or evaluated.mask is None:
        return arrays
    arrays |= {"transition": evaluated.transition, "mask": evaluated.mask, "factors": evaluated.truth[0, :SHOWN]}
    return arrays | {"matched": matching(evaluated.truth, evaluated.codes).permutation}


def baseline_measurements(train: Values, test: Values, components: int, seeds: Sequence[int]) -> list[Measurement]:
    """Return the ``reconstruction`` of the mean of the training rows and of PCA, next to those of each seed.

    Parameters
    ----------
    train, test
        (samples, features)
    components
        Number of principal components: the latents of the model.
    """
    outputs = {"mean": mean_rows(train, test), "pca": pca_rows(train, test, components)}
    errors = {name: float(np.square(rows - test).mean()) for name, rows in outputs.items()}
    return [
        measurement
        for name, error in errors.items()
        for measurement in of_baseline(name, "reconstruction", error, UNITS["reconstruction"], len(test), seeds)
    ]
