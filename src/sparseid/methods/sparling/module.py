"""Sparling as a LightningModule: wires encoder, sparse layer, decoder, loss and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from pytorch_lightning import Callback
from torch import Tensor, nn

from sparseid.data.batch import MotifBatch
from sparseid.measurements import Evaluation, Measurement
from sparseid.methods.baselines import unbeaten
from sparseid.methods.batch_statistics import share_of_mean
from sparseid.methods.module import ExperimentModule
from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.evaluation import (
    BINS,
    BinnedLabels,
    CountedTokens,
    DecodedLabels,
    MatchedMotifs,
    drawn,
    example_arrays,
    kind_measurements,
)
from sparseid.methods.sparling.losses import IGNORED, exactly_right, sequence_cross_entropy, teacher_forcing
from sparseid.methods.sparling.networks import (
    Domain,
    build_decoder,
    build_encoder,
    build_schedule,
    build_sparse,
    densities,
    motif_channels,
)
from sparseid.methods.sparling.optimiser import adam, clip
from sparseid.methods.sparling.penalised_layer import PenalisedLayer
from sparseid.methods.sparling.perturbation import (
    exchange_arrays,
    identified_kinds,
    perturb,
    perturbation_accuracy,
    radius_in_cells,
)
from sparseid.methods.sparling.schedule import AdaptiveDensity
from sparseid.methods.sparling.single_motifs import single_motif_errors, strongest
from sparseid.methods.sparling.sparse_layer import SparseLayer
from sparseid.metrics.edit_distance import cut_at_end
from sparseid.metrics.motifs import ChannelMap
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.methods.sparling.settings import OptimizerSettings, SparlingSettings
    from sparseid.settings import RunNumbers


CHECKED_STEPS = 30
"""Number of tokens decoded in validation (authors' code, for all data), unless tests decode more."""
BINNED_DENSITIES = 5
"""Number of lowest densities at which activations are binned (published)."""


class SparlingModule(ExperimentModule):
    """Encoder, sparse layer and decoder, trained end to end on label sequences.

    Labels of positions: :class:`sparseid.methods.sparling.positions.PositionSparlingModule`.

    Parameters
    ----------
    method
        Sizes and schedule.
    domain
        Motif kinds, tokens and shape of the inputs.
    batch_size
        Training items per step, to count samples.
    seed
        Seed of the weights of restarts; the first weights come from the global generator.
    """

    accuracy_name = "exact"
    """Name of the validation accuracy, which drives the schedule."""

    def __init__(
        self,
        method: SparlingSettings,
        domain: Domain,
        batch_size: int,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.streams = Streams(seed)
        self.batch_size = batch_size
        self.domain = domain
        self.channels = motif_channels(method, domain)
        self.optimizer_config: OptimizerSettings = method.optimizer
        self.evaluation_config = method.evaluation
        self.checked_steps = max(CHECKED_STEPS, method.evaluation.decode_steps)
        self.most_densities = len(densities(method)) if method.sparse.kind == "threshold" else 1
        self.encoder = build_encoder(method, domain)
        self.sparse: nn.Module = build_sparse(method, domain)
        self.decoder = build_decoder(method, domain)
        self.adaptive_density = AdaptiveDensity(build_schedule(method), self.accuracy_name)
        self._fresh = lambda: type(self)(method, domain, batch_size, seed)

    @classmethod
    def from_settings(cls, settings: SparlingSettings, data: Any, run: RunNumbers) -> SparlingModule:
        """Build the module of a run for the data module `data`, from which the domain is read."""
        return cls(settings.on(data), Domain.of(data), run.batch_size, run.seed)

    def advice(self, device: torch.device) -> str:
        """Return what to know of bfloat16 on a CPU without instructions for it; measured on one with AVX2."""
        if not self.encoder.bf16 or device.type != "cpu" or torch.backends.cpu.get_cpu_capability() != "AVX2":
            return ""
        return (
            "this CPU has no instructions for bfloat16: training is about four times slower than with "
            "method.encoder.bf16=false, which is another run (its numbers differ slightly)"
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Map inputs (N, in_channels, H, W) to motif maps (N, channels, h, w), mostly zero."""
        return self.sparse(self.encoder(inputs))

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an input."""
        return (self.domain.in_channels, *self.domain.spatial)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the motif maps (samples, channels, h, w), mostly zero."""
        return self(inputs)

    # training

    def configure_callbacks(self) -> list[Callback]:
        """Return the adaptive density."""
        return [self.adaptive_density]

    def configure_optimizers(self) -> Any:
        """Return Adam with linear warm-up (published: none)."""
        density = self.adaptive_density.schedule
        return adam(self.parameters(), self.optimizer_config, lambda: density.started // self.batch_size)

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: Any, **__: Any) -> None:
        """Clip the gradient's norm as configured."""
        clip(self.parameters(), self.optimizer_config)

    def training_step(self, batch: MotifBatch, batch_idx: int) -> Tensor:
        """Return the cross-entropy of the label, plus the penalty of a baseline."""
        dense = self.encoder(batch.inputs)
        if isinstance(self.sparse, PenalisedLayer):
            motifs, penalty = self.sparse.with_penalty(dense)
        else:
            motifs, penalty = self.sparse(dense), dense.new_zeros(())
        return self.label_loss(motifs, batch.labels) + penalty

    def label_loss(self, motifs: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy of labels (N, L) under teacher forcing, given motif maps.

        Processes that share a batch average their losses; all tokens of the batch have equal weight.
        """
        inputs, targets = teacher_forcing(labels, self.domain.vocabulary)
        loss = sequence_cross_entropy(self.decoder(motifs, inputs), targets)
        return share_of_mean(loss, (targets != IGNORED).sum())

    def restart(self, start: int) -> None:
        """Restart with new weights, those of start number `start` of this seed, and a reset optimiser."""
        with torch.random.fork_rng():
            torch.manual_seed(self.streams.integer("init", start))
            self.load_state_dict(self._fresh().state_dict())
        for optimizer in self.trainer.optimizers:
            optimizer.state.clear()
            for group in optimizer.param_groups:
                group["lr"] = group["initial_lr"] / max(self.optimizer_config.warmup_steps, 1)

    # validation

    def on_validation_epoch_start(self) -> None:
        """Reset the counts."""
        self._right = torch.zeros((), device=self.device)
        self._checked = 0

    def validation_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Count the items whose greedy decode would be exactly correct."""
        inputs, targets = teacher_forcing(batch.labels, self.domain.vocabulary)
        self._right += exactly_right(self.decoder(self(batch.inputs), inputs), targets, self.checked_steps).sum()
        self._checked += len(batch.labels)

    def validation_accuracy(self) -> float:
        """Return the exact-match accuracy of the last validation, in [0, 1]."""
        return float(self._right) / self._checked

    def on_validation_epoch_end(self) -> None:
        """Log the values of the schedule's decision, which the adaptive density (a callback) has already made."""
        density, target, accuracy = self.adaptive_density.trace[-1][1:]
        values = {f"val_{self.accuracy_name}_accuracy": accuracy, "val_target": target, "val_density": density}
        self.log_dict(values, rank_zero_only=True)  # the same in all processes

    def on_validation_end(self) -> None:
        """Apply the schedule's density, after a milestone has been saved with the previous one."""
        if isinstance(self.sparse, SparseLayer):
            self.sparse.density = self.adaptive_density.schedule.density

    # evaluation

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return one evaluation per density reached; the last one, with `steps_above` = 0, is the lowest of them.

        Whether it is the last one of the schedule is told by the metric ``density_over_minimum``. A run that reached no
        density is evaluated with its last weights.
        """
        milestones = sorted((folder / "checkpoints" / "milestones").glob("density-*.ckpt"))
        if not milestones:
            return [Evaluation({"steps_above": 0}, folder / "checkpoints" / "last.ckpt", self.evaluation_config.items)]
        last = len(milestones) - 1
        return [
            Evaluation(
                {"steps_above": last - k},
                path,
                self.evaluation_config.items if k == last else self.evaluation_config.curve_items,
            )
            for k, path in enumerate(milestones)
        ]

    @property
    def most_test_items(self) -> int:
        """Number of test items of all evaluations of a run that reaches every density: an upper bound."""
        evaluation = self.evaluation_config
        binned = min(BINNED_DENSITIES, self.most_densities) * (len(BINS) + 1) * evaluation.binned_items
        further = 2 * evaluation.perturbed_items + binned
        return evaluation.items + (self.most_densities - 1) * evaluation.curve_items + further

    def decode(self, maps: Tensor) -> Tensor:
        """Decode motif maps (N, channels, H, W) greedily to tokens (N, steps)."""
        return cast(SequenceDecoder, self.decoder).greedy(maps, self.evaluation_config.decode_steps)

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        channel_map = cast(ChannelMap, self.evaluation_config.channel_map)
        self._decoded = DecodedLabels(self.domain.vocabulary - 1)
        self._matched = MatchedMotifs(self.domain, self.channels, self.encoder.stride, channel_map)
        self._counted = CountedTokens(self.domain.kinds) if self.domain.partly_located else None
        self._binned = self._binned_labels()

    def test_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Decode greedily and match the motif map with the true sites."""
        maps = self(batch.inputs)
        self._decoded.add(batch.labels, self.decode(maps))
        self._matched.add(maps, batch.sites)
        if self._counted is not None:
            self._counted.add(maps, batch.labels)
        if self._binned is not None:
            self._binned.add(batch.labels, maps, self.decode)
        if batch_idx == 0:
            self.arrays = example_arrays(batch, maps, self._decoded.decoded, self.domain)

    def on_test_epoch_end(self) -> None:
        """Compute the measurements from the counts, in percent."""
        items = len(self._decoded.labels)
        self.measurements = [*self._decoded.measurements(), *self._matched.measurements(items)]
        schedule, trace = self.adaptive_density.schedule, self.adaptive_density.trace
        if isinstance(self.sparse, SparseLayer):
            in_force = self.sparse.density
            self.measurements += [
                Measurement("target_density", 100 * in_force, "percent", items),
                Measurement("density_over_minimum", in_force / schedule.min_density, "ratio", items),
            ]
        elif trace:
            self.measurements += [Measurement("val_exact_accuracy", 100 * trace[-1][3], "percent", self._checked)]
        if self._binned is not None:
            self.measurements += self._binned.measurements(self._decoded)
        self.arrays |= self._matched.arrays()
        if self._counted is not None and "channel_kinds" not in self.arrays:
            self.arrays["channel_kinds"] = self._counted.channel_kinds(self._matched.channel_map)
        if self._steps_above == 0 and isinstance(self.sparse, SparseLayer):
            if self._matched.unlocated < items:
                self.measurements += kind_measurements(self._matched.counts.matrix, self.domain.kind_names)
            if self.evaluation_config.perturbed_items:
                self._measure_exchanges()
            if self.evaluation_config.single_items:
                self._measure_single_motifs(self.sparse)
        if self._steps_above == 0 and self.data.has_baselines:
            self._measure_baseline()
        self.arrays["density_trace"] = np.array(trace, float).reshape(-1, 4)

    @property
    def _steps_above(self) -> int | None:
        """Number of cuts before the last density in the current test; None for a test outside a run."""
        return cast(int, self.evaluation.keys["steps_above"]) if self.evaluation is not None else None

    def _measure_baseline(self) -> None:
        """Measure the most frequent label as everyone's answer; warn if it is as good, or the density is too high."""
        constant = self._decoded.of_constant(self.data.most_frequent)
        self.measurements += [
            replace(measured, keys={"method": "most_frequent"}) for measured in constant.measurements()
        ]
        self.remarks = list(unbeaten(self.measurements, "e2ee", "end-to-end error"))
        schedule = self.adaptive_density.schedule
        if isinstance(self.sparse, SparseLayer) and not schedule.finished and schedule.target_fall_per_sample:
            above = self.sparse.density / schedule.min_density
            self.remarks.append(
                f"training ended at {above:.3g} times the minimum density: raise trainer.max_samples, or "
                "method.schedule.target_fall_per_sample, by which the target of the accuracy falls"
            )

    def _binned_labels(self) -> BinnedLabels | None:
        """Return a decoder of binned motif maps, with bins fitted on other items; None if this test does not bin."""
        items, steps = self.evaluation_config.binned_items, self._steps_above
        if not items or steps is None or steps >= BINNED_DENSITIES:
            return None
        maps = (self(batch.inputs.to(self.device)) for batch in self.data.fixed_set("binning", items))
        return BinnedLabels(maps, self.domain.vocabulary - 1, items)

    def _measure_exchanges(self) -> None:
        """Measure how often the decoder follows an exchanged motif, and store examples."""
        data, config = self.data, self.evaluation_config
        change = partial(
            perturb,
            channels=identified_kinds(self._matched.counts.matrix),
            exchanges=data,
            radius=radius_in_cells(self.encoder.stride),
            rng=FIXED.numpy("sparling/perturbation"),
        )

        def encode(inputs: Tensor) -> Tensor:
            return self(inputs.to(self.device))

        def decode(maps: Tensor) -> list[list[int]]:
            return cut_at_end(self.decode(maps).cpu().numpy(), self.domain.vocabulary - 1)

        batches = data.fixed_set("exchanges", config.items)
        accuracy, items, examples = perturbation_accuracy(batches, encode, decode, change, config.perturbed_items)
        keys = dict(data.exchange_keys)
        self.measurements.append(Measurement("perturbation_accuracy", 100 * accuracy, "percent", items, keys))
        if examples is not None:
            pictures = drawn(examples.inputs, self.domain).cpu().numpy()
            maps = examples.before.cpu().numpy(), examples.after.cpu().numpy()
            self.arrays |= exchange_arrays(pictures, *maps, examples.labels, examples.expected, examples.decoded)

    def _measure_single_motifs(self, sparse: SparseLayer) -> None:
        """Measure how often the strongest channel misclassifies a single motif."""

        def scores(inputs: Tensor) -> Tensor:
            return strongest(sparse.above_threshold(self.encoder(inputs.to(self.device))))

        self.measurements += single_motif_errors(self.data, self.evaluation_config.single_items, scores, self.channels)
