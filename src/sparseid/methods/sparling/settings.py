"""Settings of Sparling and its baselines; values of the paper and its code are in ``configs/``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.methods.sparling.densities import cuts_above
from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class EncoderSettings:
    """Local convolutional encoder g: stem, residual units, 1x1 convolution to one channel per motif."""

    width: int = setting("Number of channels of the residual units.", at_least=1)
    blocks: int = setting("Number of pre-activation residual units of two 3x3 convolutions.", at_least=1)
    pointwise_blocks: int = setting(
        "Number of further residual units, of two convolutions of width 1 (published for splicing only).",
        default=0,
        at_least=0,
    )
    stem_kernel: int = setting("Side of the first convolution in pixels or frames (odd).", default=1)
    stride: int = setting(
        "Stride of the first convolution: a position of the motif map covers stride x stride pixels.",
        default=1,
        at_least=1,
    )
    bf16: bool = setting("Compute the encoder's convolutions in bfloat16.", default=False)
    channels: int = setting("Number of channels of the motif map; 0 for one per motif kind.", default=0, at_least=0)


@dataclass
class SparseLayerSettings:
    """Layer between encoder and decoder: batch norm, then a threshold or a penalty that makes the motif map sparse."""

    kind: str = setting(
        "threshold: ReLU(z - t), t a moving quantile (the method). Baselines with a penalty instead: l1 (ReLU, mean "
        "absolute activation) and kl (sigmoid, divergence of the mean activation from the last density).",
        default="threshold",
        choices=("threshold", "l1", "kl"),
    )
    penalty_weight: float = setting(
        "Lambda: weight of the penalty of l1 or kl relative to the cross-entropy.", default=0.0, at_least=0
    )
    thresholds: str = setting(
        "Thresholds: per_channel (multiple thresholds, MT) or single (ST).",
        default="per_channel",
        choices=("per_channel", "single"),
    )
    batch_norm: str = setting("Batch norm before the threshold.", default="affine", choices=("affine", "plain", "none"))
    momentum: float = setting(
        "Weight of the newest quantile in the moving threshold.", default=0.1, at_least=0, at_most=1
    )
    accumulate_motifs: int = setting(
        "Collect rows until rows x density reaches this before an update; 0 updates with every batch.",
        default=0,
        at_least=0,
    )


@dataclass
class DecoderSettings:
    """Global decoder h: embed, pool, row encoder, transformer; for a label per position dilated convolutions."""

    width: int = setting("Model width d; filters of dilated convolutions.", at_least=1)
    positions: str = setting(
        "Position codes: rows_lstm (published for images: bidirectional LSTM along rows, row number encoded), frames "
        "(published for sounds: time encoded) or grid (a learned vector per position). For labels of positions, "
        "dilated: residual units of dilated convolutions instead of a transformer (published for splicing).",
        choices=("rows_lstm", "frames", "grid", "dilated"),
    )
    pool: int = setting("Side of the max-pooling window, in positions of the motif map.", default=0, at_least=0)
    encoder_layers: int = setting("Number of layers of the transformer encoder.", default=0, at_least=0)
    decoder_layers: int = setting("Number of layers of the transformer decoder.", default=0, at_least=0)
    heads: int = setting("Number of attention heads of each layer.", default=0, at_least=0)
    feedforward: int = setting("Hidden units of each feed-forward block.", default=0, at_least=0)
    dropout: float = setting("Dropout of the transformer.", default=0.0, at_least=0, at_most=1)
    norm_first: bool = setting("Pre-norm (true) or post-norm transformer layers.", default=False)
    kernels: list[int] = setting("Widths of the dilated convolutions, one per stage (odd).", default=[])
    dilations: list[int] = setting("Their dilations, one per stage.", default=[])
    units: int = setting("Number of residual units, of two convolutions each, per stage.", default=0, at_least=0)

    @property
    def reach(self) -> int:
        """Positions on either side that an output of the dilated convolutions depends on."""
        pairs = zip(self.kernels, self.dilations, strict=False)
        return self.units * sum((kernel - 1) * dilation for kernel, dilation in pairs)


@dataclass
class DensityScheduleSettings:
    """Adaptive density (Algorithm 1): cut the density when validation accuracy exceeds a slowly falling target."""

    start_density: float = setting(
        "Initial density; if it is at most one cut above the last density, the run is labelled no_annealing.",
        above=0,
        below=1,
    )
    min_density: float = setting("Minimum density: the run ends when a cut would fall below it.", above=0, below=1)
    min_per_token: float = setting(
        "Minimum density as activations per token of a mean label, for data that are read from files; the larger of "
        "this and min_density counts. 0 for min_density alone.",
        default=0.0,
        at_least=0,
    )
    cut_factor: float = setting("Factor of the density at each cut.", above=0, below=1)
    target_fall_per_sample: float = setting(
        "Fall of the accuracy target per training sample; 0 never cuts: the dense baseline (Non-Sparse).", at_least=0
    )
    min_target: float = setting(
        "Minimum of the accuracy target: the density is cut only at an accuracy above it.",
        default=0.0,
        at_least=0,
        at_most=1,
    )
    check_every: int = setting("Training samples between validations.", at_least=1)
    check_items: int = setting("Number of items of each validation.", at_least=1)
    restart_after: int = setting(
        "Training samples after which a start below the accuracy restart_below is replaced by a new one; 0 for never.",
        default=0,
        at_least=0,
    )
    restart_below: float = setting(
        "Validation accuracy that a start must reach by then.", default=0.5, at_least=0, at_most=1
    )


@dataclass
class OptimizerSettings:
    """Settings of Adam."""

    lr: float = setting("Learning rate.", at_least=0)
    betas: list[float] = setting("Decay of the two moments.", default=[0.9, 0.999])
    warmup_steps: int = setting("Steps of linear warm-up.", default=0, at_least=0)
    clip_norm: float = setting("Maximum gradient norm; 0 disables clipping.", default=0.0, at_least=0)


@dataclass
class EvaluationSettings:
    """Size of the final evaluation."""

    items: int = setting("Number of test items at the final density.", at_least=1)
    curve_items: int = setting("Number of test items at each earlier density.", at_least=1)
    decode_steps: int = setting("Maximum number of tokens of a greedy decode.", default=30, at_least=1)
    channel_map: str = setting(
        "Map from channels to kinds in CE: one_to_one (DigitCircle) or many_to_one (LaTeX-OCR, audio).",
        default="one_to_one",
        choices=("one_to_one", "many_to_one"),
    )
    perturbed_items: int = setting(
        "Number of correctly decoded test items for the exchange of motifs at the final density (section 5.2).",
        default=0,
        at_least=0,
    )
    binned_items: int = setting(
        "Number of test items for the binning of activations at the five lowest densities (appendix I).",
        default=0,
        at_least=0,
    )
    single_items: int = setting(
        "Number of single motifs to classify at the final density (Table 2).", default=0, at_least=0
    )
    matched_items: int = setting(
        "Number of test items whose motifs are compared with the true ones (splicing only); 0 for all.",
        default=0,
        at_least=0,
    )
    repetitions: int = setting(
        "Number of randomised motif maps and predictions to compare with at the final density (splicing, Figure 12).",
        default=0,
        at_least=0,
    )


@dataclass
class RetrainedSettings:
    """Sparling run that training=retrained starts from; all other settings and the seed are the same."""

    source_samples: int = setting("trainer.max_samples of that run; 0 for the same as here.", default=0, at_least=0)
    steps_above: int = setting(
        "Number of cuts before the last density at which its weights are used; the next higher one if not reached.",
        default=0,
        at_least=0,
    )


@dataclass
class SparlingSettings(MethodSettings):
    """Sparling: motifs through extreme activation sparsity."""

    name: str = "sparling"
    training: str = setting(
        "sparling: end to end (also for baselines by sparse and schedule). retrained: continued training of the "
        "decoder on the dense outputs of a Sparling run's encoder. direct: the encoder alone, on single motifs.",
        default="sparling",
        choices=("sparling", "retrained", "direct"),
    )
    retrained: RetrainedSettings = setting("Run that retrained starts from.", default=RetrainedSettings)
    encoder: EncoderSettings = setting("Encoder.", default=EncoderSettings)
    sparse: SparseLayerSettings = setting("Sparse layer.", default=SparseLayerSettings)
    decoder: DecoderSettings = setting("Decoder.", default=DecoderSettings)
    schedule: DensityScheduleSettings = setting("Adaptive density.", default=DensityScheduleSettings)
    optimizer: OptimizerSettings = setting("Optimiser (Adam).", default=OptimizerSettings)
    evaluation: EvaluationSettings = setting("Final evaluation.", default=EvaluationSettings)

    loads = "sparseid.methods.sparling.variants"
    interfaces = ("motifs", "position_labels")
    stacked = False

    def validation(self) -> tuple[int, int]:
        """Return training samples between two validations and validation items."""
        return self.schedule.check_every, self.schedule.check_items

    def parent_run(self, run: Run) -> dict[str, Any]:
        """Return the settings of the Sparling run that Retrained starts from; empty for other variants."""
        if self.training != "retrained":
            return {}
        return {
            "method.training": "sparling",
            "method.retrained.source_samples": 0,
            "method.retrained.steps_above": 0,
            "trainer.max_samples": self.retrained.source_samples or run.trainer.max_samples,
        }

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the name of the variant or baseline as in the paper's tables, and the settings that they vary."""
        sparse, schedule = self.sparse, self.on(data).schedule
        thresholds = "st" if sparse.thresholds == "single" else "mt"
        if self.training != "sparling":
            return {"method": self.training}
        if sparse.kind != "threshold":
            return {"method": sparse.kind, "lambda": sparse.penalty_weight}
        if not schedule.target_fall_per_sample:
            return {"method": "non_sparse"}
        if schedule.start_density * schedule.cut_factor**2 < schedule.min_density:  # starts at the last or second last
            at_last = schedule.start_density * schedule.cut_factor < schedule.min_density
            return {"method": "no_annealing", "start": "final" if at_last else "penultimate"}
        return {"method": f"{'no_bn' if sparse.batch_norm == 'none' else 'sparling'}_{thresholds}"}

    def on(self, data: Any) -> SparlingSettings:
        """Return the settings with the minimum density on `data`, settings of a data set or a data module."""
        schedule = self.schedule
        if not schedule.min_per_token or not data.mean_label:
            return self
        entries = (self.encoder.channels or data.kinds) * math.prod(self.map_size(data))
        lowest = max(schedule.min_density, schedule.min_per_token * data.mean_label / entries)
        return dataclasses.replace(self, schedule=dataclasses.replace(schedule, min_density=lowest))

    def map_size(self, data: Any) -> tuple[int, int]:
        """Return height and width of the motif map in positions; the width is 1 for sounds."""
        height, width = data.spatial
        return math.ceil(height / self.encoder.stride), math.ceil(width / self.encoder.stride)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        here = self.on(run.data)
        yield from here._networks()
        yield from here._betas()
        yield from here._variant(run)
        yield from here._map(run)
        yield from here._labels(run)
        yield from here._density_schedule(run)

    def _networks(self) -> Iterator[SettingsError]:
        decoder = self.decoder
        if self.encoder.stem_kernel < 1 or self.encoder.stem_kernel % 2 == 0:
            text = "method.encoder.stem_kernel must be odd: an even kernel has no centre pixel"
            yield SettingsError(("method.encoder.stem_kernel",), text)
        if decoder.positions == "dilated":
            yield from self._dilated()
            return
        yield from self._of_sequences()
        if decoder.heads and decoder.width % decoder.heads:
            text = "all attention heads have the same width: set method.decoder.width to a multiple of "
            yield SettingsError(("method.decoder.width", "method.decoder.heads"), f"{text}method.decoder.heads")
        if decoder.positions == "rows_lstm" and decoder.width % 2:
            text = "the two directions of the LSTM share method.decoder.width: set it to an even number"
            yield SettingsError(("method.decoder.width", "method.decoder.positions"), text)

    def _betas(self) -> Iterator[SettingsError]:
        betas = self.optimizer.betas
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            text = "method.optimizer.betas must be two numbers in [0, 1)"
            yield SettingsError(("method.optimizer.betas",), text)

    def _of_sequences(self) -> Iterator[SettingsError]:
        """Yield missing or surplus settings of a decoder of sequences."""
        decoder = self.decoder
        for name in ("pool", "encoder_layers", "decoder_layers", "heads", "feedforward"):
            if getattr(decoder, name) < 1:
                yield SettingsError((f"method.decoder.{name}",), f"method.decoder.{name} must be at least 1")
        if decoder.kernels or decoder.dilations or decoder.units or self.encoder.pointwise_blocks:
            names = ("decoder.kernels", "decoder.dilations", "decoder.units", "encoder.pointwise_blocks")
            keys = tuple(f"method.{name}" for name in names)
            text = f"{', '.join(keys)} only have an effect with method.decoder.positions=dilated: remove them"
            yield SettingsError((*keys, "method.decoder.positions"), text)
        evaluation = self.evaluation
        if evaluation.matched_items or evaluation.repetitions:
            keys = ("method.evaluation.matched_items", "method.evaluation.repetitions")
            text = f"{' and '.join(keys)} only have an effect with method.decoder.positions=dilated: set them to 0"
            yield SettingsError((*keys, "method.decoder.positions"), text)

    def _dilated(self) -> Iterator[SettingsError]:
        """Yield invalid settings of a decoder of dilated convolutions, and those that it has no use for."""
        decoder, encoder, evaluation = self.decoder, self.encoder, self.evaluation
        kernels, dilations = decoder.kernels, decoder.dilations
        if not kernels or len(kernels) != len(dilations) or decoder.units < 1:
            text = "set method.decoder.units, and method.decoder.kernels and dilations to lists of one number per stage"
            yield SettingsError(("method.decoder.kernels", "method.decoder.dilations", "method.decoder.units"), text)
        elif any(kernel < 1 or kernel % 2 == 0 for kernel in kernels) or min(dilations) < 1:
            text = "method.decoder.kernels must be odd and positive, method.decoder.dilations positive"
            yield SettingsError(("method.decoder.kernels", "method.decoder.dilations"), text)
        if self.training != "sparling":
            text = f"method.training={self.training} needs labels that are sequences: set method.training=sparling"
            yield SettingsError(("method.training", "method.decoder.positions"), text)
        if (encoder.stem_kernel, encoder.stride, encoder.bf16) != (1, 1, False):
            text = "the encoder of nucleotides has method.encoder.stem_kernel=1, stride=1 and bf16=false"
            keys = ("method.encoder.stem_kernel", "method.encoder.stride", "method.encoder.bf16")
            yield SettingsError((*keys, "method.decoder.positions"), text)
        for name in ("perturbed_items", "binned_items", "single_items"):
            if getattr(evaluation, name):
                text = f"labels of positions have no such test: set method.evaluation.{name}=0"
                yield SettingsError((f"method.evaluation.{name}", "method.decoder.positions"), text)

    def _variant(self, run: Run) -> Iterator[SettingsError]:
        """Yield incompatible settings of baselines."""
        sparse, retrained = self.sparse, self.retrained
        if sparse.kind == "threshold" and sparse.penalty_weight:
            text = "a threshold has no penalty: set method.sparse.penalty_weight=0, or "
            keys = ("method.sparse.penalty_weight", "method.sparse.kind")
            yield SettingsError(keys, f"{text}method.sparse.kind=l1 or kl")
        if sparse.kind != "threshold" and self.training != "sparling":
            text = f"method.training={self.training} has no sparse layer: set method.sparse.kind=threshold"
            yield SettingsError(("method.sparse.kind", "method.training"), text)
        if sparse.thresholds == "single" and sparse.kind != "threshold":
            text = f"method.sparse.kind={sparse.kind} has no thresholds: set method.sparse.thresholds=per_channel"
            yield SettingsError(("method.sparse.thresholds", "method.sparse.kind"), text)
        if sparse.thresholds == "single" and sparse.accumulate_motifs:
            text = "rows are only collected for thresholds per channel: set method.sparse.accumulate_motifs=0"
            yield SettingsError(("method.sparse.thresholds", "method.sparse.accumulate_motifs"), text)
        if self.training != "retrained" and (retrained.source_samples or retrained.steps_above):
            text = "method.retrained has no effect here: set method.training=retrained, or its settings to 0"
            sources = ("method.retrained.source_samples", "method.retrained.steps_above")
            yield SettingsError((*sources, "method.training"), text)
        if 0 < retrained.source_samples < run.trainer.batch_size:
            text = "not even one batch of the parent run would be trained: raise method.retrained.source_samples"
            yield SettingsError(("method.retrained.source_samples", "trainer.batch_size"), text)
        if not getattr(run.data, "single_motifs", True) and (self.training == "direct" or self.evaluation.single_items):
            text = f"{run.data.name} has no single motifs: set method.evaluation.single_items=0 and method.training to "
            tests = ("method.training", "method.evaluation.single_items", "data.name")
            yield SettingsError(tests, f"{text}sparling or retrained")
        if self.training == "retrained" and not self.schedule.target_fall_per_sample:
            text = "the parent run would never cut its density: raise method.schedule.target_fall_per_sample above 0"
            keys = ("method.schedule.target_fall_per_sample", "method.training")
            yield SettingsError(keys, text)
        yield from self._retrained_density()

    def _retrained_density(self) -> Iterator[SettingsError]:
        """Yield an error if Retrained should start from a density that its Sparling run cannot reach."""
        schedule = self.schedule
        if schedule.min_density > schedule.start_density:
            return
        cuts = cuts_above(schedule.min_density, schedule.start_density, schedule.cut_factor)
        if self.retrained.steps_above > cuts:
            text = f"the parent run cuts its density at most {cuts} times: lower method.retrained.steps_above"
            keys = ("method.retrained.steps_above", "method.schedule.start_density", "method.schedule.min_density")
            yield SettingsError(keys, text)

    def _map(self, run: Run) -> Iterator[SettingsError]:
        """Yield an error for a decoder that does not match the motif map."""
        decoder, data = self.decoder, run.data
        per_position = data.interface == "position_labels"
        if per_position != (decoder.positions == "dilated"):
            what = "a label per position" if per_position else "a sequence as label"
            fitting = "dilated" if per_position else "rows_lstm, frames or grid"
            text = f"{data.name} has {what}: set method.decoder.positions to {fitting}"
            yield SettingsError(("method.decoder.positions", "data.name"), text)
            return
        if per_position:
            if decoder.reach > data.context:
                text = (
                    f"the decoder reads {decoder.reach} positions on either side of a label: set data.context to that"
                )
                keys = ("method.decoder.kernels", "method.decoder.dilations", "method.decoder.units", "data.context")
                yield SettingsError(keys, f"{text}, or take fewer or smaller method.decoder.kernels or dilations")
            return
        sound = data.spatial[1] == 1
        if (decoder.positions == "frames" and not sound) or (decoder.positions == "rows_lstm" and sound):
            fitting = "frames or grid" if sound else "rows_lstm or grid"
            found = "frames, not rows" if sound else "rows, not frames"
            text = f"{data.name} has {found}: set method.decoder.positions to {fitting}"
            yield SettingsError(("method.decoder.positions", "data.name"), text)
        size = self.map_size(data)
        side = size[0] if sound else min(size)
        if 1 <= side < decoder.pool:
            what = "long" if sound else "wide" if side == size[1] else "high"
            text = f"the motif map is {side} positions {what}, less than one pooling window: lower method.decoder.pool"
            yield SettingsError(("method.decoder.pool", "method.encoder.stride", *_size_keys(data)), text)

    def _labels(self, run: Run) -> Iterator[SettingsError]:
        steps = self.evaluation.decode_steps
        longest, item = run.data.longest_label() if hasattr(run.data, "longest_label") else (0, "")
        if steps <= longest:
            text = (
                f"the label of {item} has {longest} tokens, which with its end exceed method.evaluation.decode_steps="
                f"{steps}: set it to {longest + 1} or more"
            )
            yield SettingsError(("method.evaluation.decode_steps", "data.path"), text)
        if steps <= getattr(run.data, "max_digits", 0):
            text = "the longest label and its end token exceed method.evaluation.decode_steps tokens: raise it"
            yield SettingsError(("method.evaluation.decode_steps", "data.max_digits"), text)
        if steps < getattr(run.data, "longest", 0):  # as published, formulas of 30 tokens are decoded in 30 steps
            text = "the longest formula exceeds method.evaluation.decode_steps tokens: raise it"
            yield SettingsError(("method.evaluation.decode_steps", "data.longest"), text)

    def _density_schedule(self, run: Run) -> Iterator[SettingsError]:
        schedule, batch_size, prefix = self.schedule, run.trainer.batch_size, "method.schedule."
        start, minimum = schedule.start_density, schedule.min_density
        if start < minimum:
            text = f"the density only decreases: start_density must be at least min_density, here {minimum:.3g}"
            per_token = [f"{prefix}min_per_token"] if schedule.min_per_token else []
            yield SettingsError((f"{prefix}start_density", f"{prefix}min_density", *per_token), text)
        if batch_size > 0 and schedule.check_every % batch_size:
            text = f"validations are between two batches: set {prefix}check_every to a multiple of trainer.batch_size"
            yield SettingsError((f"{prefix}check_every", "trainer.batch_size"), text)
        rows = batch_size * math.prod(self.map_size(run.data))
        if not self.sparse.accumulate_motifs and 0 < minimum * rows < 1:
            text = (
                f"a batch has {rows} positions (items x positions of the motif map): at density {minimum:g} a channel "
                f"has less than one active entry and no threshold. Raise {prefix}min_density to {1 / rows:.3g} or "
                "more, raise trainer.batch_size, or collect batches with method.sparse.accumulate_motifs=10"
            )
            keys = (f"{prefix}min_density", "trainer.batch_size", "method.encoder.stride", *_size_keys(run.data))
            yield SettingsError(keys, text)


def _size_keys(data: Any) -> list[str]:
    """Return the settings that determine the size of the inputs."""
    return [f"data.{field.name}" for field in dataclasses.fields(data) if field.metadata.get("spatial")]
