"""Synthetic splicing: random sequences whose splice sites follow from motifs around them by a real-valued rule.

A site of a motif is a window of the sequence among the best ones by its position weight matrix. A site of the core
motif of acceptors (or donors) is a splice site if its own score and the effects of the regulators around it, by kind
and distance, sum to more than a threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sparseid.streams import FIXED

CORE = 2
"""Motifs of splice sites, the first kinds: that of acceptors, and that of donors."""
LEAST, MOST = 0.08, 0.8
"""Concentrations of the distributions of bases: of the most and of the least informative motif."""
OWN = 0.25
"""Standard deviation of the strengths of core sites by themselves; regulators have effects of 1 to 2."""
FITTED = 512
"""Sequences that determine the threshold of the rule, at which half of the core sites are splice sites."""


class Drawn(NamedTuple):
    """Sequences with their truth.

    Attributes
    ----------
    inputs
        (items, 4, context + length + context) float32, one-hot.
    labels
        (items, length) int64: 0 for none, 1 for acceptor, 2 for donor.
    present
        (items, length, kinds) bool: the centre of a site.
    """

    inputs: Tensor
    labels: Tensor
    present: Tensor


class SplicingLaw:
    """Distribution of synthetic sequences, the same for every seed.

    Parameters
    ----------
    length, context
        Number of labelled nucleotides, and of those on either side.
    regulators
        Number of kinds besides the two core motifs.
    width
        Width of all motifs.
    prevalence
        Fraction of all sequences of that width that are sites of a kind.
    reach
        Maximum distance of a regulator that counts.

    Attributes
    ----------
    probabilities : (kinds, width, 4) float64
        Probabilities of bases. Every second regulator begins with the end of the one before, so that their sites
        overlap.
    is_site : (kinds, 4^width + 1) bool
        Whether a window is a site, by its number in base 4; the last entry stands for a window beyond the sequence.
    effects : (2, regulators, 2 reach + 1) float32
        Effect of a regulator on acceptors and donors, by its position relative to the splice site.
    """

    def __init__(
        self, length: int, context: int, *, regulators: int, width: int, prevalence: float, reach: int
    ) -> None:
        self.length, self.context, self.width, self.reach = length, context, width, reach
        self.kinds = CORE + regulators
        rng = FIXED.numpy("splicing/law", regulators, width, reach)
        self.probabilities = base_probabilities(self.kinds, width, rng)
        scores = window_scores(self.probabilities)
        sites = max(round(prevalence * 4**width), 1)
        order = scores.argsort(axis=1)[:, ::-1]
        self.is_site = np.zeros((self.kinds, 4**width + 1), bool)
        np.put_along_axis(self.is_site, order[:, :sites], True, axis=1)
        own = np.take_along_axis(scores, order[:, :sites], axis=1)[:CORE]
        self._margins = np.zeros((CORE, 4**width + 1), np.float32)
        standard = (scores[:CORE] - own.mean(axis=1, keepdims=True)) / (own.std(axis=1, keepdims=True) + 1e-9)
        self._margins[:, :-1] = OWN * standard
        self.effects = regulator_effects(regulators, reach, rng)
        self._offsets = np.zeros(CORE, np.float32)
        self._offsets = self._medians(FIXED.numpy("splicing/threshold"))

    def draw(self, items: int, rng: np.random.Generator, device: torch.device | str = "cpu") -> Drawn:
        """Draw sequences with labels and sites, computed on `device`."""
        drawn = rng.integers(4, size=(items, self.length + 2 * self.context), dtype=np.uint8)
        bases = torch.from_numpy(drawn).to(device).long()
        present, strength = self._rule(bases)
        spliced = present[:CORE] & (strength > 0)
        labels = spliced[0].long()
        labels[spliced[1]] = 2
        inside = slice(self.context, self.context + self.length)
        inputs = functional.one_hot(bases, 4).transpose(1, 2).float().contiguous()
        return Drawn(inputs, labels[:, inside], present[:, :, inside].permute(1, 2, 0))

    def _rule(self, bases: Tensor) -> tuple[Tensor, Tensor]:
        """Return sites (kinds, items, positions) and strengths of core sites (2, items, positions)."""
        windows = window_numbers(bases, self.width)
        present = torch.from_numpy(self.is_site).to(bases.device)[:, windows]
        effects = torch.from_numpy(self.effects).to(bases.device)
        around = functional.conv1d(present[CORE:].transpose(0, 1).float(), effects, padding=self.reach)
        margins = torch.from_numpy(self._margins).to(bases.device)[:, windows]
        offsets = torch.from_numpy(self._offsets).to(bases.device)
        return present, around.transpose(0, 1) + margins - offsets[:, None, None]

    def _medians(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the median strength of the core sites of each class."""
        drawn = rng.integers(4, size=(FITTED, self.length + 2 * self.context), dtype=np.uint8)
        present, strength = self._rule(torch.from_numpy(drawn).long())
        inside = slice(self.context, self.context + self.length)
        chosen = [strength[c, :, inside][present[c, :, inside]].numpy() for c in range(CORE)]
        return np.array([np.median(values) if len(values) else 0 for values in chosen], np.float32)


def base_probabilities(kinds: int, width: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return probabilities of the bases A, C, G, T at every position of every motif, (kinds, width, 4).

    Motifs differ in information: the concentrations of their Dirichlet distributions are equally spaced in logarithm.
    """
    spread = np.geomspace(LEAST, MOST, max(kinds - CORE, 1))
    concentration = np.concatenate([[LEAST] * CORE, spread])[:kinds]
    drawn = np.stack([rng.dirichlet([value] * 4, width) for value in concentration])
    for kind in range(CORE + 1, kinds, 2):
        drawn[kind, : width // 2] = drawn[kind - 1, width - width // 2 :]
    drawn = drawn + 0.01
    return drawn / drawn.sum(axis=2, keepdims=True)


def window_scores(probabilities: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the log-odds of all windows, (kinds, 4^width), against uniform bases; the first base counts most.

    Examples
    --------
    >>> window_scores(np.array([[[0.5, 0.25, 0.125, 0.125]]])).round(2).tolist()
    [[0.69, 0.0, -0.69, -0.69]]
    """
    odds = np.log(4 * probabilities)
    scores = np.zeros((len(odds), 1))
    for column in range(odds.shape[1]):
        scores = (scores[:, :, None] + odds[:, None, column]).reshape(len(odds), -1)
    return scores


def window_numbers(bases: Tensor, width: int) -> Tensor:
    """Return the number of the window centred at each position, in base 4; 4^width where it exceeds the sequence.

    Parameters
    ----------
    bases
        (items, positions) int64 in 0..3.
    width
        Width of a window; of an even one the centre is the left of the two in the middle.
    """
    powers = 4 ** torch.arange(width - 1, -1, -1, device=bases.device)
    inside = (bases.unfold(1, width, 1) * powers).sum(2)
    left = (width - 1) // 2
    return functional.pad(inside, (left, width - 1 - left), value=4**width)


def regulator_effects(regulators: int, reach: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return the effects of regulators on acceptors and donors by distance, (2, regulators, 2 reach + 1).

    Each prefers a distance on one side, around which its effect falls linearly to zero; half enhance, half silence.
    """
    sign = np.where(np.arange(regulators) % 2, -1, 1)
    sign = np.stack([sign, rng.permutation(sign)])
    size = sign * rng.uniform(1, 2, (CORE, regulators))
    preferred = rng.choice([-1, 1], (CORE, regulators)) * rng.uniform(0.3, 0.6, (CORE, regulators)) * reach
    distances = np.arange(-reach, reach + 1)
    near = np.clip(1 - np.abs(distances - preferred[..., None]) / (0.5 * reach + 1), 0, None)
    return (size[..., None] * near).astype(np.float32)
