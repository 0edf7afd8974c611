"""Evaluations beyond the errors of the test items: exchanged motifs, binned activations, single motifs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from torch import Tensor

from sparseid.measurements import Measurement
from sparseid.methods.sparling.binned import BinnedLabels
from sparseid.methods.sparling.evaluation import MatchedMotifs, drawn
from sparseid.methods.sparling.exchange_arrays import exchange_arrays
from sparseid.methods.sparling.kinds import kind_measurements
from sparseid.methods.sparling.perturbation import RADIUS, Examples, identified_kinds, perturb, perturbation_accuracy
from sparseid.methods.sparling.single_motifs import single_motif_errors, strongest
from sparseid.methods.sparling.sparse_layer import SparseLayer
from sparseid.metrics.edit_distance import cut_at_end
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.methods.sparling.module import SparlingModule

BINNED_DENSITIES = 5
"""The lowest densities, at which activations are binned (published)."""


def binned_labels(module: SparlingModule) -> BinnedLabels | None:
    """Return what decodes binned maps in the test that begins, with bins of other items; None where none is to."""
    items = module.evaluation_config.binned_items
    if not items or _steps_above(module) >= BINNED_DENSITIES:
        return None
    batches = _data(module).fixed_set("binning", items)
    maps = (module(batch.inputs.to(module.device)) for batch in batches)
    return BinnedLabels(maps, module.domain.vocabulary - 1, items)


def further_measurements(
    module: SparlingModule, matched: MatchedMotifs
) -> tuple[list[Measurement], dict[str, np.ndarray]]:
    """Return what else is measured at the final density, and what is drawn of it.

    What became of each kind of motif; where it is asked for exchanged motifs (with examples) and single motifs.
    Nothing of the baselines that a penalty makes sparse.
    """
    config = module.evaluation_config
    if _steps_above(module) > 0 or not isinstance(module.sparse, SparseLayer):
        return [], {}
    measured, arrays = kind_measurements(matched.counts.matrix, module.domain.kind_names), {}
    if config.perturbed_items:
        accuracy, items, examples = _perturbation(module, matched)
        measured.append(Measurement("perturbation_accuracy", 100 * accuracy, "percent", items))
        if examples is not None:
            pictures = drawn(examples.inputs, module.domain).cpu().numpy()
            maps = examples.before.cpu().numpy(), examples.after.cpu().numpy()
            arrays = exchange_arrays(pictures, *maps, examples.labels, examples.expected, examples.decoded)
    if config.single_items:
        sparse = module.sparse

        def scores(inputs: Tensor) -> Tensor:
            return strongest(sparse.above_threshold(module.encoder(inputs.to(module.device))))

        measured += single_motif_errors(_data(module), config.single_items, scores, module.channels)
    return measured, arrays


def _perturbation(module: SparlingModule, matched: MatchedMotifs) -> tuple[float, int, Examples | None]:
    data, config = _data(module), module.evaluation_config
    change = partial(
        perturb,
        channels=identified_kinds(matched.counts.matrix, matched.channel_kinds),
        exchanges=data,
        radius=-(-RADIUS // module.encoder.stride),
        rng=FIXED.numpy("sparling/perturbation"),
    )

    def encode(inputs: Tensor) -> Tensor:
        return module(inputs.to(module.device))

    def decode(maps: Tensor) -> list[list[int]]:
        return cut_at_end(module.decode(maps).cpu().numpy(), module.domain.vocabulary - 1)

    batches = data.fixed_set("test", config.items)
    return perturbation_accuracy(batches, encode, decode, change, config.perturbed_items)


def _steps_above(module: SparlingModule) -> int:
    """Cuts above the last density of the test under way; of a test that no run began more than there are."""
    evaluation = module.evaluation
    return cast(int, evaluation.keys["steps_above"]) if evaluation is not None else 10**6


def _data(module: SparlingModule) -> Any:
    return module.trainer.datamodule  # type: ignore[attr-defined]
