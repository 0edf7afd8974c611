"""Construction of Sparling's networks from settings and domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.densities import density_grid
from sparseid.methods.sparling.encoder import LocalEncoder
from sparseid.methods.sparling.penalised_layer import PenalisedLayer
from sparseid.methods.sparling.position_networks import DilatedDecoder, SequenceEncoder
from sparseid.methods.sparling.schedule import DensitySchedule
from sparseid.methods.sparling.sparse_layer import SparseLayer

if TYPE_CHECKING:
    from sparseid.methods.sparling.settings import SparlingSettings


class Domain(NamedTuple):
    """Properties of a data set that the networks need.

    Attributes
    ----------
    kinds
        Number of motif kinds, the classes of true sites.
    vocabulary
        Number of tokens; labels consist of 0 .. vocabulary - 3, followed by the start and the end token. Of labels of
        positions the number of classes.
    spatial
        Height and width of the inputs; sounds are (frames, 1), nucleotides (positions, 1).
    in_channels
        Number of channels of the inputs; for sounds the mel bands.
    kind_names, token_names
        Names of the kinds and of the tokens of labels.
    context
        Labels of positions: positions without a label on either side. None if the label is a sequence.
    background
        Kinds whose sites count as none in motif errors.
    partly_located
        True if items without sites have unknown ones, and are left out of motif errors.
    """

    kinds: int
    vocabulary: int
    spatial: tuple[int, int]
    in_channels: int
    kind_names: tuple[str, ...]
    token_names: tuple[str, ...]
    context: int | None = None
    background: tuple[int, ...] = ()
    partly_located: bool = False

    @classmethod
    def of(cls, data: Any) -> Domain:
        """Return the domain of a data module, which has these attributes; those with a default may be missing."""
        optional = {name: getattr(data, name, default) for name, default in cls._field_defaults.items()}
        return cls._make([optional[name] if name in optional else getattr(data, name) for name in cls._fields])

    @property
    def one_dimensional(self) -> bool:
        """True for inputs without width (sounds)."""
        return self.spatial[1] == 1


def motif_channels(method: SparlingSettings, domain: Domain) -> int:
    """Return the channels of the motif map: as configured, or one per kind."""
    return method.encoder.channels or domain.kinds


def build_encoder(method: SparlingSettings, domain: Domain, channels: int = 0) -> LocalEncoder | SequenceEncoder:
    """Return the local encoder g, with as many channels as the motif map, or `channels`."""
    sizes = method.encoder
    if domain.context is not None:
        return SequenceEncoder(
            channels or motif_channels(method, domain),
            width=sizes.width,
            blocks=sizes.blocks,
            pointwise_blocks=sizes.pointwise_blocks,
            in_channels=domain.in_channels,
        )
    return LocalEncoder(
        channels or motif_channels(method, domain),
        width=sizes.width,
        blocks=sizes.blocks,
        stem_kernel=sizes.stem_kernel,
        stride=sizes.stride,
        in_channels=domain.in_channels,
        bf16=sizes.bf16,
        one_dimensional=domain.one_dimensional,
    )


def build_sparse(method: SparlingSettings, domain: Domain) -> SparseLayer | PenalisedLayer:
    """Return the sparse layer at the initial density, or that of a penalised baseline."""
    sparse, channels = method.sparse, motif_channels(method, domain)
    if sparse.kind != "threshold":
        last = densities(method)[-1]
        return PenalisedLayer(
            channels, kind=sparse.kind, weight=sparse.penalty_weight, density=last, batch_norm=sparse.batch_norm
        )
    return SparseLayer(
        channels,
        method.schedule.start_density,
        thresholds=sparse.thresholds,
        batch_norm=sparse.batch_norm,
        momentum=sparse.momentum,
        accumulate_motifs=sparse.accumulate_motifs,
    )


def build_schedule(method: SparlingSettings) -> DensitySchedule:
    """Return the schedule of the density.

    A penalised baseline has no sequence of densities: it stops when its accuracy first exceeds the target, as
    published.
    """
    schedule = method.schedule
    return DensitySchedule(
        density=schedule.start_density,
        min_density=schedule.min_density if method.sparse.kind == "threshold" else schedule.start_density,
        cut_factor=schedule.cut_factor,
        target_fall_per_sample=schedule.target_fall_per_sample,
        min_target=schedule.min_target,
        restart_after=schedule.restart_after,
        restart_below=schedule.restart_below,
    )


def densities(method: SparlingSettings) -> list[float]:
    """Return the densities of a run, from the first to the last."""
    schedule = method.schedule
    return density_grid(schedule.start_density, schedule.min_density, schedule.cut_factor)


def build_decoder(method: SparlingSettings, domain: Domain) -> SequenceDecoder | DilatedDecoder:
    """Return the global decoder h."""
    sizes, stride = method.decoder, method.encoder.stride
    if domain.context is not None:
        return DilatedDecoder(
            motif_channels(method, domain),
            domain.vocabulary,
            width=sizes.width,
            kernels=sizes.kernels,
            dilations=sizes.dilations,
            units=sizes.units,
            crop=domain.context,
        )
    return SequenceDecoder(
        motif_channels(method, domain),
        cells=(-(-domain.spatial[0] // stride), -(-domain.spatial[1] // stride)),
        vocabulary=domain.vocabulary,
        width=sizes.width,
        pool=sizes.pool,
        positions=sizes.positions,
        encoder_layers=sizes.encoder_layers,
        decoder_layers=sizes.decoder_layers,
        heads=sizes.heads,
        feedforward=sizes.feedforward,
        dropout=sizes.dropout,
        norm_first=sizes.norm_first,
        one_dimensional=domain.one_dimensional,
    )
