"""What a test of Sparling gathers batch by batch, and the measurements and arrays that come of it."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.measurements import Measurement
from sparseid.methods.sparling.networks import Domain
from sparseid.metrics.edit_distance import cut_at_end, edit_distances, exact_match, without_padding
from sparseid.metrics.motifs import ChannelMap, MotifCounts, boxes_in_cells, channel_symbols, motif_errors

EXAMPLES = 12
"""Test items kept for pictures."""


def percent(values: dict[str, float], items: int) -> list[Measurement]:
    """Return shares in [0, 1] as measurements in percent."""
    return [Measurement(name, 100 * value, "percent", items) for name, value in values.items()]


class DecodedLabels:
    """Labels and what was decoded in their place.

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
        """Return end-to-end error and exact matches."""
        error = float(np.mean(edit_distances(self.labels, self.decoded)))
        exact = exact_match(self.labels, self.decoded)
        return percent({"e2ee": error, "exact_accuracy": exact}, len(self.labels))


class MatchedMotifs:
    """Motif maps compared with the true sites.

    Parameters
    ----------
    domain
        Motif kinds and their names.
    channels
        Channels of the maps.
    stride
        Input positions that a cell of the map covers.
    channel_map
        Which kinds channels stand for.

    Attributes
    ----------
    counts
        Pairs of true kind and predicted channel.
    """

    def __init__(self, domain: Domain, channels: int, stride: int, channel_map: ChannelMap) -> None:
        self.domain, self.stride, self.channel_map = domain, stride, channel_map
        self.counts = MotifCounts(domain.kinds, channels)

    def add(self, maps: Tensor, sites: Tensor) -> None:
        """Add the maps (N, C, H, W) of a batch with its sites."""
        self.counts.add(maps.cpu().numpy(), boxes_in_cells(sites.cpu().numpy(), self.stride))

    @property
    def channel_kinds(self) -> np.ndarray:
        """The kind that each channel stands for, (C,) int64; -1 for none."""
        return channel_symbols(self.counts.matrix, self.channel_map)

    def measurements(self, items: int) -> list[Measurement]:
        """Return motif errors and density, of so many items."""
        errors, density = motif_errors(self.counts, self.channel_map), self.counts.density
        values = {"fpe": errors.fpe, "fne": errors.fne, "ce": errors.ce, "density": density, "sparsity": 1 - density}
        return percent(values, items)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what the confusion matrix is drawn from."""
        return {
            "confusion": self.counts.matrix,
            "channel_kinds": self.channel_kinds,
            "kind_names": np.array(self.domain.kind_names),
            "token_names": np.array(self.domain.token_names),
        }


def drawn(inputs: Tensor, domain: Domain) -> Tensor:
    """Return inputs (N, channels, H, W) as pictures (N, H, W); a sound is one of its bands and frames."""
    return inputs[..., 0] if domain.one_dimensional else inputs[:, 0]


def example_arrays(batch: MotifBatch, maps: Tensor, decoded: list[list[int]], domain: Domain) -> dict[str, np.ndarray]:
    """Return the first items of a batch with their maps and decoded labels, for pictures."""
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
