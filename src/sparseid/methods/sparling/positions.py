"""Sparling on labels of positions (splicing, appendix M): accuracy is top-k accuracy; motifs against a random map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.errors import InputError
from sparseid.measurements import Key, Measurement
from sparseid.methods.module import ExperimentModule
from sparseid.methods.sparling.evaluation import MatchedMotifs, percent
from sparseid.methods.sparling.losses import position_cross_entropy
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.sparse_layer import SparseLayer
from sparseid.metrics.motifs import ChannelMap, MotifCounts, motif_errors
from sparseid.metrics.randomised import ActiveEntries, active_entries, dense_blocks, joined, randomised
from sparseid.metrics.top_k import top_k_accuracy
from sparseid.streams import FIXED


class PositionScores:
    """Probabilities of the classes at all positions of a set, with the true ones.

    Parameters
    ----------
    classes
        Names of the classes; the first one, none, is not measured.
    """

    def __init__(self, classes: Sequence[str]) -> None:
        self.classes = classes[1:]
        self._scores: list[Tensor] = []
        self._labels: list[Tensor] = []

    def add(self, logits: Tensor, labels: Tensor) -> None:
        """Add a batch: logits (N, positions, classes) and labels (N, positions)."""
        self._scores.append(logits.softmax(2)[:, :, 1:])
        self._labels.append(labels.to(torch.int8))

    @property
    def items(self) -> int:
        """Number of items so far."""
        return sum(map(len, self._labels))

    def accuracies(self) -> dict[str, float]:
        """Return the top-k accuracy of each class, in [0, 1]; NaN for a class without a position."""
        return self._accuracies(torch.cat(self._scores).cpu().numpy())

    def random_accuracies(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the top-k accuracy of each class for predictions that are the softmax of Gaussian noise."""
        odds = np.exp(rng.standard_normal((*self._known.shape, len(self.classes) + 1), np.float32))
        return self._accuracies((odds / odds.sum(2, keepdims=True))[:, :, 1:])

    @property
    def _known(self) -> NDArray[np.int8]:
        return torch.cat(self._labels).cpu().numpy()

    def _accuracies(self, scores: NDArray[np.floating]) -> dict[str, float]:
        labels = self._known
        of_classes = enumerate(self.classes)
        return {name: top_k_accuracy(scores[:, :, of], labels == of + 1) for of, name in of_classes}


def mean_accuracy(accuracies: dict[str, float]) -> float:
    """Return the mean over classes."""
    return float(np.mean(list(accuracies.values())))


class PositionSparlingModule(SparlingModule):
    """Encoder, sparse layer and a decoder of dilated convolutions, trained end to end on a label per position.

    The schedule is driven by the mean top-k accuracy of the rare classes. Motif errors are those of the labelled part.

    Parameters
    ----------
    method, domain, batch_size, seed
        As in `SparlingModule`.
    """

    accuracy_name = "top_k"

    def label_loss(self, motifs: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross-entropy over positions; all processes have equally many."""
        return position_cross_entropy(self.decoder(motifs), labels)

    # validation

    def on_validation_epoch_start(self) -> None:
        """Discard the scores of the last validation."""
        self._validated = PositionScores(self.domain.token_names)

    def validation_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Keep the scores of all positions: top-k accuracy is that of the whole set."""
        self._validated.add(self.decoder(self(batch.inputs)), batch.labels)

    def validation_accuracy(self) -> float:
        """Return the mean top-k accuracy of the last validation, in [0, 1].

        Raises
        ------
        InputError
            If none of its positions belongs to a class: the accuracy would be undefined, the density never cut.
        """
        accuracies = self._validated.accuracies()
        if lacking := [name for name, value in accuracies.items() if np.isnan(value)]:
            text = f"the {self._validated.items} validation items have no {' and no '.join(lacking)}"
            raise InputError(f"{text}: raise method.schedule.check_items", ("method.schedule.check_items",))
        return mean_accuracy(accuracies)

    # evaluation

    @property
    def most_test_items(self) -> int:
        """Number of test items of all evaluations of a run that reaches every density: an upper bound."""
        evaluation = self.evaluation_config
        return evaluation.items + (self.most_densities - 1) * evaluation.curve_items

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        ExperimentModule.on_test_start(self)
        channel_map = cast(ChannelMap, self.evaluation_config.channel_map)
        self._tested = PositionScores(self.domain.token_names)
        self._matched = MatchedMotifs(self.domain, self.channels, self.encoder.stride, channel_map)
        self._entries: list[ActiveEntries] = []
        self._sites: list[NDArray[np.integer]] = []
        self._matched_items = 0

    def test_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Keep scores of positions, and match the motif map of the labelled part with the true sites."""
        maps = self(batch.inputs)
        self._tested.add(self.decoder(maps), batch.labels)
        wanted = self.evaluation_config.matched_items or self.evaluation_config.items
        items = min(wanted - self._matched_items, len(maps))
        if items <= 0:
            return
        crop = self.domain.context or 0
        own = maps[:items, :, crop : maps.shape[2] - crop].cpu()
        sites = batch.sites[batch.sites[:, 0] < items].cpu()
        self._matched.add(own, sites)
        if self._randomises:
            self._entries.append(active_entries(own.numpy()))
            self._sites.append(sites.numpy() + np.array([self._matched_items, 0, 0, 0]))
        self._matched_items += items

    def on_test_epoch_end(self) -> None:
        """Compute the measurements, in percent."""
        items, accuracies = self._tested.items, self._tested.accuracies()
        self.measurements = percent({"e2ee": 1 - mean_accuracy(accuracies)}, items)
        self.measurements += [
            Measurement("top_k_accuracy", 100 * value, "percent", items, {"site": name})
            for name, value in accuracies.items()
        ]
        self.measurements += self._matched.measurements(self._matched_items)
        if isinstance(self.sparse, SparseLayer):
            schedule, density = self.adaptive_density.schedule, self.sparse.density
            self.measurements += [
                Measurement("target_density", 100 * density, "percent", items),
                Measurement("density_over_minimum", density / schedule.min_density, "ratio", items),
            ]
        if self._randomises:
            self.measurements += self._random_measurements()
        self.arrays |= self._matched.arrays()
        self.arrays["density_trace"] = np.array(self.adaptive_density.trace, float).reshape(-1, 4)

    @property
    def _randomises(self) -> bool:
        """True if the current test compares with random maps and predictions: that of the lowest density of a run."""
        return bool(self.evaluation_config.repetitions) and self._steps_above == 0

    def _random_measurements(self) -> list[Measurement]:
        """Return the errors of randomised maps (matched_random) and predictions (random), one per repetition."""
        entries, sites = joined(self._entries), np.concatenate(self._sites)
        bounds = np.arange(entries.shape[0] + 1)
        first_site = np.searchsorted(sites[:, 0], bounds)
        measured = []
        for repetition in range(self.evaluation_config.repetitions):
            counts = MotifCounts(self.domain.kinds, self.channels)
            for block, maps in dense_blocks(randomised(entries, FIXED.numpy("sparling/randomised", repetition))):
                own = sites[first_site[block.start] : first_site[block.stop]]
                counts.add(maps, own - np.array([block.start, 0, 0, 0]))
            errors = motif_errors(counts.without(self.domain.background), self._matched.channel_map)
            accuracy = mean_accuracy(self._tested.random_accuracies(FIXED.numpy("sparling/random", repetition)))
            for method, values, items in (
                ("matched_random", errors._asdict(), entries.shape[0]),
                ("random", {"e2ee": 1 - accuracy}, self._tested.items),
            ):
                keys: dict[str, Key] = {"method": method, "repetition": repetition}
                measured += [Measurement(name, 100 * of, "percent", items, dict(keys)) for name, of in values.items()]
        return measured
