"""Measurements of a test, gathered batch by batch: decoded labels, motifs by kind, the cost of binning; and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.measurements import Key, Measurement
from sparseid.methods.sparling.networks import Domain
from sparseid.metrics.binning import equal_count_bins
from sparseid.metrics.confusion import kind_shares
from sparseid.metrics.edit_distance import cut_at_end, edit_distances, exact_match, without_padding
from sparseid.metrics.motifs import (
    ChannelMap,
    MotifCounts,
    boxes_in_cells,
    channel_symbols,
    motif_errors,
    symbols_by_counts,
)

EXAMPLES = 12
"""Number of test items that are saved for figures."""
BINS = (2, 4, 8, 16)
"""Numbers of bins, as published."""
LEAST_MISTAKEN = 0.1
"""Minimum percentage of a kind that falls to another kind for a row of that pair; there are K (K - 1) pairs."""
SYMBOLS = {"(": "lparen", ")": "rparen", "+": "plus"}
"""Kinds with a word as row key, as in the paper's ``targets.yaml``."""


def percent(values: dict[str, float], items: int) -> list[Measurement]:
    """Return fractions in [0, 1] as measurements in percent."""
    return [Measurement(name, 100 * value, "percent", items) for name, value in values.items()]


class DecodedLabels:
    """Labels and decoded sequences.

    Parameters
    ----------
    end
        The end token.

    Attributes
    ----------
    labels, decoded
        One list of tokens per item.
    """

    def __init__(self, end: int) -> None:
        self.end = end
        self.labels: list[list[int]] = []
        self.decoded: list[list[int]] = []

    def add(self, labels: Tensor, tokens: Tensor) -> None:
        """Add a batch: labels (N, L) padded by -1, and greedily decoded tokens (N, T)."""
        self.labels += without_padding(labels.cpu().numpy())
        self.decoded += cut_at_end(tokens.cpu().numpy(), self.end)

    def measurements(self) -> list[Measurement]:
        """Return end-to-end error and exact-match accuracy."""
        error = float(np.mean(edit_distances(self.labels, self.decoded)))
        exact = exact_match(self.labels, self.decoded)
        return percent({"e2ee": error, "exact_accuracy": exact}, len(self.labels))

    def of_constant(self, label: list[int]) -> DecodedLabels:
        """Return the same labels, with one label decoded for every item."""
        result = DecodedLabels(self.end)
        result.labels, result.decoded = self.labels, [label] * len(self.labels)
        return result


class MatchedMotifs:
    """Comparison of motif maps with the true sites.

    Parameters
    ----------
    domain
        Motif kinds and their names.
    channels
        Number of channels of the maps.
    stride
        Number of input positions per position of the map, along an axis.
    channel_map
        Assignment of channels to kinds.

    Attributes
    ----------
    counts
        Counts of pairs of true kind and predicted channel.
    unlocated
        Number of items with unknown sites.
    """

    def __init__(self, domain: Domain, channels: int, stride: int, channel_map: ChannelMap) -> None:
        self.domain, self.stride, self.channel_map = domain, stride, channel_map
        self.counts = MotifCounts(domain.kinds, channels)
        self.unlocated = 0

    def add(self, maps: Tensor, sites: Tensor) -> None:
        """Add the maps (N, C, H, W) of a batch with its sites."""
        entries, boxes = maps.cpu().numpy(), boxes_in_cells(sites.cpu().numpy(), self.stride)
        if self.domain.partly_located:
            located = np.isin(np.arange(len(entries)), boxes[:, 0])
            self.counts.add_density(entries[~located])
            self.unlocated += int((~located).sum())
            boxes[:, 0] = (np.cumsum(located) - 1)[boxes[:, 0]]
            entries = entries[located]
        self.counts.add(entries, boxes)

    @property
    def channel_kinds(self) -> np.ndarray:
        """Kind assigned to each channel, (C,) int64; -1 for none."""
        return channel_symbols(self._counted.matrix, self.channel_map)

    @property
    def _counted(self) -> MotifCounts:
        """Counts in which the sites of background kinds are none."""
        return self.counts.without(self.domain.background)

    def measurements(self, items: int) -> list[Measurement]:
        """Return motif errors and density of `items` items."""
        density = self.counts.density
        measured = percent({"density": density, "sparsity": 1 - density}, items)
        if located := items - self.unlocated:
            measured[:0] = percent(motif_errors(self._counted, self.channel_map)._asdict(), located)
        return measured

    def arrays(self) -> dict[str, np.ndarray]:
        """Return names, and if any sites are known arrays for the figure of the confusion matrix."""
        names = {"kind_names": np.array(self.domain.kind_names), "token_names": np.array(self.domain.token_names)}
        if self.domain.partly_located and not self._counted.matrix.any():
            return names
        return {"confusion": self._counted.matrix, "channel_kinds": self.channel_kinds} | names


class CountedTokens:
    """Activations of the channels of each item, and tokens of its label: what channels stand for if no site is known.

    Parameters
    ----------
    tokens
        Number of tokens, each of which is a kind of motif.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._active: list[np.ndarray] = []
        self._labels: list[np.ndarray] = []

    def add(self, maps: Tensor, labels: Tensor) -> None:
        """Add the maps (N, C, H, W) of a batch and its labels (N, L), padded by -1."""
        self._active.append((maps > 0).flatten(2).sum(dim=2).cpu().numpy())
        self._labels.append((labels.cpu().numpy()[:, :, None] == np.arange(self.tokens)).sum(axis=1))

    def channel_kinds(self, channel_map: ChannelMap) -> np.ndarray:
        """Return the token of each channel, (C,) int64; -1 for none."""
        return symbols_by_counts(np.concatenate(self._active), np.concatenate(self._labels), channel_map)


def kind_measurements(matrix: NDArray[np.integer], names: Sequence[str]) -> list[Measurement]:
    """Return the fractions of each kind, in percent, under the keys ``symbol`` and ``to``.

    ``diagonal_share`` (to: aligned) and ``none_share`` (to: none, missed sites) of every kind; ``other_channel_share``
    (to: another kind) of pairs of at least :data:`LEAST_MISTAKEN`. For activations outside every box (symbol: none):
    ``row_share``, their fraction of all pairs (to: all), and ``other_channel_share`` of the channel with most of them
    (to: busiest_channel).

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.
    names
        Names of the K kinds.
    """
    shares, counts = kind_shares(matrix), np.asarray(matrix).sum(axis=1)
    pairs = int(counts.sum())

    def share(metric: str, value: float, n: int, symbol: Key, to: Key) -> Measurement:
        return Measurement(metric, 100 * value, "percent", n, {"symbol": symbol, "to": to})

    measured = []
    symbols = [SYMBOLS.get(name, name) for name in names]
    for kind, name in enumerate(symbols):
        n, of_kind = int(counts[kind]), shares.to_kind[kind]
        measured.append(share("diagonal_share", float(of_kind[kind]), n, name, "aligned"))
        measured.append(share("none_share", float(shares.missed[kind]), n, name, "none"))
        measured += [
            share("other_channel_share", float(of_kind[other]), n, name, other_name)
            for other, other_name in enumerate(symbols)
            if other != kind and 100 * of_kind[other] >= LEAST_MISTAKEN
        ]
    n = int(counts[-1])
    measured.append(share("row_share", float(shares.row_shares[-1]), pairs, "none", "all"))
    measured.append(share("other_channel_share", shares.busiest_outside, n, "none", "busiest_channel"))
    return measured


class BinnedLabels:
    """Labels decoded from binned motif maps, for each number of bins (appendix I).

    Parameters
    ----------
    maps
        Motif maps (N, C, H, W), batch by batch, whose active values determine the bins.
    end
        The end token.
    items
        Number of test items to decode.
    """

    def __init__(self, maps: Iterable[Tensor], end: int, items: int) -> None:
        by_batch = [active_values(of_batch) for of_batch in maps]
        values = [np.concatenate(of_channel) for of_channel in zip(*by_batch, strict=True)]
        self.bins = {number: equal_count_bins(values, number) for number in BINS}
        self.labels = {number: DecodedLabels(end) for number in BINS}
        self.left = items

    def add(self, labels: Tensor, maps: Tensor, decode: Callable[[Tensor], Tensor]) -> None:
        """Decode the maps (N, C, H, W) of a test batch with each number of bins, up to `items` items in total."""
        labels, maps = labels[: self.left], maps[: self.left]
        self.left -= len(labels)
        for number, bins in self.bins.items() if len(labels) else ():
            binned = torch.from_numpy(bins.apply(maps.cpu().numpy())).to(maps)
            self.labels[number].add(labels, decode(binned))

    def measurements(self, exact: DecodedLabels) -> list[Measurement]:
        """Return the loss of accuracy, in percent, against `exact`, decoded from the maps without bins."""
        measured = []
        for number, binned in self.labels.items():
            items = len(binned.labels)
            own = edit_distances(exact.labels[:items], exact.decoded[:items])
            lost = float(np.mean(edit_distances(binned.labels, binned.decoded) - own))
            measured.append(Measurement("binning_delta", 100 * lost, "percent", items, {"bins": number}))
        return measured


def active_values(maps: Tensor) -> list[np.ndarray]:
    """Return the active (positive) values of each channel of maps (N, C, H, W)."""
    return [values[values > 0].cpu().numpy() for values in maps.transpose(0, 1).flatten(1)]


def drawn(inputs: Tensor, domain: Domain) -> Tensor:
    """Return inputs (N, channels, H, W) as grey pictures (N, H, W); those of sounds are (N, bands, frames)."""
    return inputs[..., 0] if domain.one_dimensional else inputs.mean(dim=1)


def example_arrays(batch: MotifBatch, maps: Tensor, decoded: list[list[int]], domain: Domain) -> dict[str, np.ndarray]:
    """Return the first items of a batch with their maps and decoded labels, for figures."""
    longest = max(map(len, decoded[:EXAMPLES]), default=0)
    padded = [row + [-1] * (longest - len(row)) for row in decoded[:EXAMPLES]]
    sites = batch.sites.cpu().numpy()
    return {
        "example_images": drawn(batch.inputs[:EXAMPLES], domain).cpu().numpy(),
        "example_maps": maps[:EXAMPLES].cpu().numpy(),
        "example_sites": sites[sites[:, 0] < EXAMPLES],
        "example_labels": batch.labels[:EXAMPLES].cpu().numpy(),
        "example_predictions": np.array(padded, np.int64).reshape(len(padded), longest),
    }
