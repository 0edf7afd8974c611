"""The typed schema of every configuration group; field docs carry units and sources.

Numbers that the paper or its code fixes are not defaults here: they stand in ``configs/`` beside their source.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import yaml
from omegaconf import MISSING

from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
from sparseid.config.ddl import DDLConfig
from sparseid.config.gtex import GtexConfig
from sparseid.config.latent_walk import ArraysConfig, LatentWalkConfig
from sparseid.config.latex_ocr import LatexOcrConfig
from sparseid.config.mlp_mixture import MLPMixtureConfig
from sparseid.config.movielens import MovielensConfig
from sparseid.config.peerread import PeerreadConfig, PeerreadShiftConfig
from sparseid.config.regcl import RegCLConfig
from sparseid.config.seven_features import SevenFeaturesConfig
from sparseid.config.sparse_vae import SparseVAEConfig
from sparseid.config.tbr import TBRConfig, TreeSimulationConfig
from sparseid.config.zeisel import ZeiselConfig

SCHEMA_VERSION = 1
"""Raised when a field changes its meaning; stored in every run's config.yaml."""


SEMANTIC = {"semantic": True}
"""Metadata of a trainer field that changes the numbers of a run and so belongs to its identity."""

FILE = {"file": True}
"""Metadata of a field that may name a file: a run's identity counts the file's content, not its path."""


SPATIAL = {"spatial": True}
"""Metadata of a field that the size of inputs with motifs comes from."""


@dataclass
class TrainerConfig:
    """How one run is trained: everything that is neither method nor data."""

    max_samples: int = field(default=MISSING, metadata=SEMANTIC)
    """Training samples after which training ends even if the method has not finished."""
    batch_size: int = field(default=MISSING, metadata=SEMANTIC)
    """Samples per optimiser step, summed over devices."""
    precision: str = field(default="32", metadata=SEMANTIC)
    """Lightning's precision flag of the whole module: 32 or bf16-mixed."""
    accelerator: str = "auto"
    """cpu, gpu or auto."""
    devices: int = 1
    """Processes, one per device."""
    strategy: str = "auto"
    """Lightning strategy: auto or ddp."""
    threads: int = 0
    """CPU threads of one process; 0 leaves torch's choice."""
    deterministic: bool = True
    """Ask torch for deterministic kernels where it has them."""
    save_every_s: float = 60.0
    """Seconds between checkpoints between two validations; what an interruption can cost."""
    stop_before_s: float = 60.0
    """Seconds before the end of a SLURM job at which a run saves and stops (at most half of the time it has)."""


@dataclass
class LoggerConfig:
    """Where step curves go beside the run folder's own metrics.csv."""

    name: str = "csv"
    """csv or wandb."""
    project: str = "sparseid"
    """Weights & Biases project."""
    entity: str = ""
    """Weights & Biases team or user; empty is your own default."""
    mode: str = "auto"
    """online, offline (uploaded later with wandb sync) or auto: online where you are logged in."""


@dataclass
class EncoderConfig:
    """Local convolutional encoder g: stem, residual units, 1x1 convolution to one channel per motif."""

    width: int = MISSING
    """Channels of the residual units."""
    blocks: int = MISSING
    """Pre-activation residual units of two 3x3 convolutions."""
    stem_kernel: int = 1
    """Side of the first convolution, pixels or frames (odd)."""
    stride: int = 1
    """Stride of the first convolution: a motif map cell covers stride x stride pixels."""
    bf16: bool = False
    """Run the encoder's convolutions in bfloat16."""
    channels: int = 0
    """Channels of the motif map; 0 has one per motif kind."""


@dataclass
class SparseLayerConfig:
    """The layer between encoder and decoder: batch norm, then what keeps the motif map sparse."""

    kind: str = "threshold"
    """threshold: ReLU(z - t), t a moving quantile (the method). Baselines that are made sparse by a penalty instead: l1
    (ReLU, mean absolute activation) and kl (sigmoid, divergence of the mean activation from the last density)."""
    penalty_weight: float = 0.0
    """Lambda: weight of the penalty of l1 or kl beside the cross-entropy."""
    thresholds: str = "per_channel"
    """per_channel (multiple thresholds, MT) or single (ST)."""
    batch_norm: str = "affine"
    """Batch norm before the threshold: affine, plain or none."""
    momentum: float = 0.1
    """Weight of the newest quantile in the moving threshold."""
    accumulate_motifs: int = 0
    """Gather rows until rows x density reaches this before an update; 0 updates with every batch."""


@dataclass
class DecoderConfig:
    """Global decoder h: embed, pool, row encoder, transformer encoder and decoder."""

    width: int = MISSING
    """Model width d."""
    pool: int = MISSING
    """Side of the max-pooling window, motif map cells."""
    positions: str = MISSING
    """rows_lstm (published for images: bidirectional LSTM along rows, row number encoded), frames (published for
    sounds: time encoded) or grid (learned position per cell)."""
    encoder_layers: int = MISSING
    decoder_layers: int = MISSING
    heads: int = MISSING
    feedforward: int = MISSING
    dropout: float = 0.0
    norm_first: bool = False
    """Pre-norm (True) or post-norm transformer layers."""


@dataclass
class DensityScheduleConfig:
    """Adaptive density (Algorithm 1): cut the density when validation accuracy exceeds a slowly falling target."""

    start_density: float = MISSING
    """At most one cut above the last density there is no annealing to speak of, and the run is named so."""
    min_density: float = MISSING
    """The run is finished once the density would fall below this."""
    cut_factor: float = MISSING
    target_fall_per_sample: float = MISSING
    """Fall of the accuracy target per training sample; 0 never cuts: the dense baseline (Non-Sparse)."""
    min_target: float = 0.0
    """The accuracy target does not fall below this: a density is passed only with an accuracy above it."""
    check_every: int = MISSING
    """Training samples between validations."""
    check_items: int = MISSING
    """Validation items of one check."""
    restart_after: int = 0
    """Training samples after which a start that has not reached restart_below is given up for a new one; 0 is never."""
    restart_below: float = 0.5
    """Validation accuracy that a start must have reached by then."""


@dataclass
class OptimizerConfig:
    """Adam."""

    lr: float = MISSING
    betas: list[float] = field(default_factory=lambda: [0.9, 0.999])
    warmup_steps: int = 0
    """Steps of linear warm-up."""
    clip_norm: float = 0.0
    """Largest gradient norm; 0 does not clip."""


@dataclass
class EvaluationConfig:
    """Size of the final evaluation."""

    items: int = MISSING
    """Test items at the final density."""
    curve_items: int = MISSING
    """Test items at each earlier density."""
    decode_steps: int = 30
    """Longest greedy decode, tokens."""
    channel_map: str = "one_to_one"
    """Which kinds channels stand for in CE: one_to_one (DigitCircle) or many_to_one (LaTeX-OCR, audio)."""
    perturbed_items: int = 0
    """Test items, decoded rightly, in which a motif is exchanged at the final density (section 5.2); 0 does not."""
    binned_items: int = 0
    """Test items whose activations are binned at each of the five lowest densities (appendix I); 0 does not."""
    single_items: int = 0
    """Single motifs to name at the final density (Table 2); 0 does not."""


@dataclass
class RetrainedConfig:
    """The Sparling run that training=retrained starts from: the one with otherwise the same settings and seed."""

    source_samples: int = 0
    """trainer.max_samples of that run; 0 is the same as here."""
    steps_above: int = 0
    """Cuts above the last density at which its weights are taken; the nearest higher one if it was not reached."""


@dataclass
class SparlingConfig:
    """Sparling: motifs through extreme activation sparsity."""

    name: str = "sparling"
    training: str = "sparling"
    """sparling: the whole, end to end (baselines in sparse and schedule, too). retrained: the decoder trained on, on
    the dense outputs of a Sparling run's encoder. direct: the encoder alone, on images of single motifs."""
    retrained: RetrainedConfig = field(default_factory=RetrainedConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    sparse: SparseLayerConfig = field(default_factory=SparseLayerConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    schedule: DensityScheduleConfig = field(default_factory=DensityScheduleConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


@dataclass
class DigitCircleConfig:
    """DigitCircle images: noisy digits on a circle, labelled counter-clockwise from the smallest."""

    name: str = "digit_circle"
    glyphs: str = field(default=MISSING, metadata=FILE)
    """Glyph set: tall (12-row boxes, the published statistics), compact (9x7 boxes) or a path to a glyph file."""
    canvas: int = field(default=MISSING, metadata=SPATIAL)
    """Image side, pixels."""
    classes: int = MISSING
    """Digits 0 .. classes-1 occur."""
    min_digits: int = MISSING
    max_digits: int = MISSING
    """Digits per image, uniform in [min_digits, max_digits]."""
    min_radius: int = MISSING
    max_radius: int = MISSING
    """Circle radius, uniform integer in [min_radius, max_radius], pixels."""
    margin: int = MISSING
    """Distance of the circle from the edge, pixels; at least jitter + half a glyph box."""
    jitter: int = MISSING
    """Each digit moves by a uniform integer in [-jitter, jitter] per axis, pixels."""
    min_gap: float = MISSING
    """Smallest angular gap as a share of 1/k, k the number of digits."""
    pre_noise: float = MISSING
    """Flip probability of background pixels, as a multiple of the mean ink share of a glyph box."""
    post_noise: float = MISSING
    """Flip probability of every pixel after the digits are drawn."""
    rarest: float = 1.0
    """Weight of the last digit in the draw beside 1 of the first, geometric between; 1 (published) draws all alike."""

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, pixels."""
        return self.canvas, self.canvas


@dataclass
class RunConfig:
    """The root of a run's configuration."""

    experiment: str = MISSING
    """Preset that was asked for (a name under configs/experiment)."""
    scale: str = MISSING
    """smoke, small or paper."""
    paper: str = MISSING
    """Paper whose method is run; names the output folder."""
    seed: int = 0
    """Seed of every random stream of the run."""
    seeds: list[int] = field(default_factory=list)
    """Seeds of the members of a stack, trained as one in the place of one run per seed; empty is a run of `seed`."""
    force: bool = False
    """Make a run again that is already done."""
    outputs: str = "outputs"
    """Folder of runs and reports."""
    paired: list[list[str]] = field(default_factory=list)
    """Groups of swept keys that advance together instead of being multiplied: [[seed, data.canvas]]."""
    variants: list[str] = field(default_factory=list)
    """Overrides that a sweep is repeated with, as they are typed; the empty text is the sweep as it stands:
    ["", "data.mixing=additive", "data.gain_x1=3 data.gain_x2=3"]."""
    schema: int = SCHEMA_VERSION
    """Version of this schema; config.yaml files of runs carry it."""
    method: Any = MISSING
    data: Any = MISSING
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)


GROUPS: dict[str, dict[str, type]] = {
    "method": {
        "ddl": DDLConfig,
        "regcl": RegCLConfig,
        "sparling": SparlingConfig,
        "sparse_vae": SparseVAEConfig,
        "tbr": TBRConfig,
    },
    "data": {
        "arrays": ArraysConfig,
        "audio_mnist_sequence": AudioMNISTSequenceConfig,
        "digit_circle": DigitCircleConfig,
        "gtex": GtexConfig,
        "latent_walk": LatentWalkConfig,
        "latex_ocr": LatexOcrConfig,
        "mlp_mixture": MLPMixtureConfig,
        "movielens": MovielensConfig,
        "peerread": PeerreadConfig,
        "peerread_shift": PeerreadShiftConfig,
        "seven_features": SevenFeaturesConfig,
        "tree_simulation": TreeSimulationConfig,
        "zeisel": ZeiselConfig,
    },
    "trainer": {},
    "logger": {},
}
"""Schema of every choice of every group; ``trainer`` and ``logger`` have one schema for all their choices."""


STACKED = (DDLConfig, RegCLConfig, SparseVAEConfig, TBRConfig)
"""Methods that train several seeds as one stack."""

SPARSE_VAE_DATA = (SevenFeaturesConfig, MovielensConfig, PeerreadConfig, PeerreadShiftConfig, ZeiselConfig)
FEATURE_MATRICES = (*SPARSE_VAE_DATA, MLPMixtureConfig)
"""Data sets that are a matrix of samples by features, and those of the Sparse VAE among them."""

FITTING: dict[type, tuple[type, ...]] = {
    DDLConfig: (MLPMixtureConfig,),
    RegCLConfig: (LatentWalkConfig, ArraysConfig),
    SparlingConfig: (DigitCircleConfig, LatexOcrConfig, AudioMNISTSequenceConfig),
    SparseVAEConfig: SPARSE_VAE_DATA,
    TBRConfig: (TreeSimulationConfig, GtexConfig),
}
"""The data sets that each method can be trained on."""


def run_config_text(cfg: RunConfig) -> str:
    """Return a configuration as YAML, every value resolved; ``config.stored.parse_run_config`` is its inverse."""
    return yaml.safe_dump(asdict(cfg), sort_keys=False)
