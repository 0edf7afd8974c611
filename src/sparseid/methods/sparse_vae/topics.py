"""Interpretation of selectors on named features: topics (Table 3), and enriched gene sets of factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sparseid.measurements import Key, Measurement
from sparseid.metrics.enrichment import enriched_sets
from sparseid.metrics.topics import npmi, top_features
from sparseid.streams import Streams

USED = 0.01
"""Absolute selector below which a feature does not use a latent (authors' code)."""
LIKELY = 0.5
"""Probability of the slab from which a selector counts (authors' code)."""
SEPARATOR = "; "
"""Separator of the names of a topic's features."""

Values = NDArray[np.floating]


def topic_measurements(
    selector: Values,
    occurs: NDArray[np.bool_],
    names: Sequence[str],
    size: int,
    seed: int,
    kinds: Sequence[str] | None = None,
) -> Iterator[Measurement]:
    """Yield the coherence of every latent's top features, and that of as many random ones.

    Latents that no feature uses are skipped. Topics are numbered by descending sum of absolute selectors;
    ``npmi`` has the keys ``topic``, ``top_features`` (their names) and ``shared`` (kinds common to all of them, if
    any), ``npmi_random`` the key ``topic``.

    Parameters
    ----------
    selector
        (features, latents)
    occurs
        (samples, features) bool: occurrence of features in training samples.
    names
        Names of the features.
    size
        Number of features of a topic.
    seed
        Seed of the member, for the random features.
    kinds
        Kinds of each feature, ``Action|Sci-Fi``.
    """
    weight = np.abs(selector)
    order = np.argsort(-weight.sum(axis=0), kind="stable")
    order = order[weight.max(axis=0)[order] >= USED]
    if not len(order) or selector.shape[0] < size:
        return
    tops = top_features(selector[:, order], size)
    generator = Streams(seed).numpy("topics")
    random = np.array([generator.choice(selector.shape[0], size, replace=False) for _ in order])
    for number, (found, top, by_chance) in enumerate(
        zip(npmi(occurs, tops), tops, npmi(occurs, random), strict=True), start=1
    ):
        keys: dict[str, Key] = {"topic": number, "top_features": SEPARATOR.join(names[feature] for feature in top)}
        if kinds is not None and (common := set.intersection(*(set(kinds[feature].split("|")) for feature in top))):
            keys["shared"] = "|".join(sorted(common))
        yield Measurement("npmi", float(found), "score", len(occurs), keys, seed)
        yield Measurement("npmi_random", float(by_chance), "score", len(occurs), {"topic": number}, seed)


def enrichment_measurement(
    selector: Values, probability: Values, names: Sequence[str], gene_sets: Mapping[str, frozenset[str]], seed: int
) -> Measurement:
    """Return the number of gene sets enriched among the genes of some factor, ``n_processes``.

    A factor's genes are those whose absolute selector is at least 0.01 and comes from the slab with a probability of at
    least 0.5; the background are all genes of the matrix. Names are compared without regard to case.

    Parameters
    ----------
    selector, probability
        (features, latents)
    names
        Names of the features.
    gene_sets
        Name -> genes in upper case.
    seed
        Seed of the member.
    """
    genes = np.array([name.upper() for name in names])
    chosen = (np.abs(selector) >= USED) & (probability >= LIKELY)
    found = enriched_sets([genes[factor].tolist() for factor in chosen.T], genes.tolist(), gene_sets)
    return Measurement("n_processes", float(len(set().union(*found))), "count", len(genes), {}, seed)
