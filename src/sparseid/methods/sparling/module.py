"""Sparling as a LightningModule: wires encoder, sparse layer, decoder, loss and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from pytorch_lightning import Callback, LightningModule
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.measurements import Evaluation, Measurement
from sparseid.methods.batch_statistics import share_of_mean
from sparseid.methods.sparling.callbacks import AdaptiveDensity
from sparseid.methods.sparling.losses import IGNORED, exactly_right, sequence_cross_entropy, teacher_forcing
from sparseid.methods.sparling.networks import Domain, build_decoder, build_encoder, build_sparse, motif_channels
from sparseid.methods.sparling.schedule import DensitySchedule, density_grid
from sparseid.metrics.edit_distance import cut_at_end, edit_distances, exact_match, without_padding
from sparseid.metrics.motifs import ChannelMap, MotifCounts, boxes_in_cells, channel_symbols, motif_errors
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.config.schema import OptimizerConfig, RunConfig, SparlingConfig

EXAMPLES = 12
"""Test items kept for pictures."""


class SparlingModule(LightningModule):
    """Encoder, sparse layer and decoder, trained end to end on label sequences.

    Parameters
    ----------
    method
        Sizes and schedule.
    domain
        Motif kinds, tokens and shape of the inputs.
    batch_size
        Training items per step, for counting samples.
    seed
        Seed of the weights of a second start; those of the first come from the global generator.

    Attributes
    ----------
    milestone
        Name under which the present weights are to be kept, set at the end of a validation; None if they are not.
    progress_note
        What the progress line should say beside the loss.
    evaluation
        The test under way, set by the run.
    measurements, arrays
        Results of the last test.
    """

    def __init__(
        self,
        method: SparlingConfig,
        domain: Domain,
        batch_size: int,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.streams = Streams(seed)
        self.batch_size = batch_size
        self.domain = domain
        self.channels = motif_channels(method, domain)
        self.optimizer_config: OptimizerConfig = method.optimizer
        self.schedule_config = schedule = method.schedule
        self.evaluation_config = method.evaluation
        self.evaluation: Evaluation | None = None
        self.encoder = build_encoder(method, domain)
        self.sparse = build_sparse(method, domain)
        self.decoder = build_decoder(method, domain)
        self.adaptive_density = AdaptiveDensity(
            DensitySchedule(
                schedule.start_density,
                schedule.min_density,
                schedule.cut_factor,
                schedule.target_fall_per_sample,
                min_target=schedule.min_target,
                restart_after=schedule.restart_after,
                restart_below=schedule.restart_below,
            )
        )
        self._fresh = lambda: SparlingModule(method, domain, batch_size, seed)
        self.milestone: str | None = None
        self.progress_note = ""
        self.measurements: list[Measurement] = []
        self.arrays: dict[str, np.ndarray] = {}

    @classmethod
    def from_config(cls, cfg: RunConfig, data: Any) -> SparlingModule:
        """Build the module of a run for the data module `data`, from which the domain is read."""
        return cls(cfg.method, Domain.of(data), cfg.trainer.batch_size, cfg.seed)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map inputs (N, in_channels, H, W) to motif maps (N, channels, cells high, cells wide), mostly zero."""
        return self.sparse(self.encoder(inputs))

    # training

    def configure_callbacks(self) -> list[Callback]:
        """Return the adaptive density."""
        return [self.adaptive_density]

    def configure_optimizers(self) -> Any:
        """Adam with linear warm-up (published: none)."""
        config = self.optimizer_config
        beta1, beta2 = config.betas
        adam = torch.optim.Adam(self.parameters(), lr=config.lr, betas=(beta1, beta2), foreach=True)
        warmup, density = max(config.warmup_steps, 1), self.adaptive_density.schedule

        def warm(step: int) -> float:
            return min(1.0, (step - density.started // self.batch_size + 1) / warmup)

        schedule = torch.optim.lr_scheduler.LambdaLR(adam, warm)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: Any, **__: Any) -> None:
        """Clip the gradient's norm where the configuration says so."""
        if self.optimizer_config.clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters(), self.optimizer_config.clip_norm)

    def training_step(self, batch: MotifBatch, batch_idx: int) -> Tensor:
        """Return the cross-entropy of the label under teacher forcing.

        Processes that share a batch average their losses; all tokens of the batch count alike.
        """
        inputs, targets = teacher_forcing(batch.labels, self.domain.vocabulary)
        loss = sequence_cross_entropy(self.decoder(self(batch.inputs), inputs), targets)
        return share_of_mean(loss, (targets != IGNORED).sum())

    def restart(self, start: int) -> None:
        """Begin again with new weights, those of start number `start` of this seed, and an optimiser without memory."""
        with torch.random.fork_rng():
            torch.manual_seed(self.streams.integer("init", start))
            self.load_state_dict(self._fresh().state_dict())
        for optimizer in self.trainer.optimizers:
            optimizer.state.clear()
            for group in optimizer.param_groups:
                group["lr"] = group["initial_lr"] / max(self.optimizer_config.warmup_steps, 1)

    # validation

    def on_validation_epoch_start(self) -> None:
        """Begin counting."""
        self._right = torch.zeros((), device=self.device)
        self._checked = 0

    def validation_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Count the items whose greedy decode would be exactly right."""
        inputs, targets = teacher_forcing(batch.labels, self.domain.vocabulary)
        self._right += exactly_right(self.decoder(self(batch.inputs), inputs), targets).sum()
        self._checked += len(batch.labels)

    def validation_accuracy(self) -> float:
        """Exact-match accuracy of the validation that just ended, in [0, 1]."""
        return float(self._right) / self._checked

    def on_validation_epoch_end(self) -> None:
        """Log what the schedule went by; the adaptive density, a callback, has decided by now."""
        density, target, accuracy = self.adaptive_density.trace[-1][1:]
        values = {"val_exact_accuracy": accuracy, "val_target": target, "val_density": density}
        self.log_dict(values, rank_zero_only=True)  # the same in all processes

    def on_validation_end(self) -> None:
        """Let the schedule's density take effect, now that a milestone has been saved with the one before."""
        self.sparse.density = self.adaptive_density.schedule.density

    # evaluation

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return one evaluation per density passed, the last (lowest) at the end with `steps_above` = 0.

        A run that passed no density is evaluated with its last weights.
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
        """Test items of all evaluations of a run that passes every density: what testing costs at most."""
        schedule, evaluation = self.schedule_config, self.evaluation_config
        densities = density_grid(schedule.start_density, schedule.min_density, schedule.cut_factor)
        return evaluation.items + (len(densities) - 1) * evaluation.curve_items

    def on_test_start(self) -> None:
        """Forget the last test."""
        self.measurements, self.arrays = [], {}
        self._counts = MotifCounts(self.domain.kinds, self.channels)
        self._labels: list[list[int]] = []
        self._decoded: list[list[int]] = []

    def test_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Decode greedily and match the motif map with the true sites."""
        maps = self(batch.inputs)
        tokens = self.decoder.greedy(maps, self.evaluation_config.decode_steps).cpu().numpy()
        sites = batch.sites.cpu().numpy()
        self._counts.add(maps.cpu().numpy(), boxes_in_cells(sites, self.encoder.stride))
        self._labels += without_padding(batch.labels.cpu().numpy())
        self._decoded += cut_at_end(tokens, self.domain.vocabulary - 1)
        if batch_idx == 0:
            self._keep_examples(batch, maps, sites)

    def on_test_epoch_end(self) -> None:
        """Turn counts into measurements, in percent."""
        channel_map = cast(ChannelMap, self.evaluation_config.channel_map)
        errors, items = motif_errors(self._counts, channel_map), len(self._labels)
        density = self._counts.density
        values = {
            "e2ee": float(np.mean(edit_distances(self._labels, self._decoded))),
            "exact_accuracy": exact_match(self._labels, self._decoded),
            "fpe": errors.fpe,
            "fne": errors.fne,
            "ce": errors.ce,
            "density": density,
            "sparsity": 1 - density,
        }
        self.measurements = [Measurement(name, 100 * value, "percent", items) for name, value in values.items()]
        in_force = self.sparse.density
        self.measurements += [
            Measurement("target_density", 100 * in_force, "percent", items),
            Measurement("density_over_minimum", in_force / self.adaptive_density.schedule.min_density, "ratio", items),
        ]
        self.arrays |= {
            "confusion": self._counts.matrix,
            "channel_kinds": channel_symbols(self._counts.matrix, channel_map),
            "kind_names": np.array(self.domain.kind_names),
            "token_names": np.array(self.domain.token_names),
        }
        self.arrays["density_trace"] = np.array(self.adaptive_density.trace, float).reshape(-1, 4)

    def _keep_examples(self, batch: MotifBatch, maps: Tensor, sites: np.ndarray) -> None:
        longest = max(map(len, self._decoded[:EXAMPLES]), default=0)
        # a sound is drawn as the picture of its bands and frames
        images = batch.inputs[:EXAMPLES, ..., 0] if self.domain.one_dimensional else batch.inputs[:EXAMPLES, 0]
        decoded = [row + [-1] * (longest - len(row)) for row in self._decoded[:EXAMPLES]]
        self.arrays |= {
            "example_images": images.cpu().numpy(),
            "example_maps": maps[:EXAMPLES].cpu().numpy(),
            "example_sites": sites[sites[:, 0] < EXAMPLES],
            "example_labels": batch.labels[:EXAMPLES].cpu().numpy(),
            "example_predictions": np.array(decoded, np.int64).reshape(len(decoded), longest),
        }
