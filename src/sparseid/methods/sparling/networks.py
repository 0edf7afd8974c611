"""The parts of Sparling in the sizes that a configuration and a domain ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.densities import density_grid
from sparseid.methods.sparling.encoder import LocalEncoder
from sparseid.methods.sparling.penalised_layer import PenalisedLayer
from sparseid.methods.sparling.schedule import DensitySchedule
from sparseid.methods.sparling.sparse_layer import SparseLayer

if TYPE_CHECKING:
    from sparseid.config.schema import SparlingConfig


class Domain(NamedTuple):
    """What the networks need to know about a data set.

    Attributes
    ----------
    kinds
        Motif kinds: what a site of the truth can be.
    vocabulary
        Tokens; labels are made of 0 .. vocabulary - 3, then come the start and the end token.
    spatial
        Height and width of the inputs; sounds are (frames, 1).
    in_channels
        Channels of the inputs; for sounds the mel bands.
    kind_names, token_names
        How to write the kinds and the tokens of labels.
    """

    kinds: int
    vocabulary: int
    spatial: tuple[int, int]
    in_channels: int
    kind_names: tuple[str, ...]
    token_names: tuple[str, ...]

    @classmethod
    def of(cls, data: Any) -> Domain:
        """Return the domain of a data module, which has attributes of these names."""
        return cls(*(getattr(data, name) for name in cls._fields))

    @property
    def one_dimensional(self) -> bool:
        """Whether the inputs have no width."""
        return self.spatial[1] == 1


def motif_channels(method: SparlingConfig, domain: Domain) -> int:
    """Return the channels of the motif map: as configured, or one per kind."""
    return method.encoder.channels or domain.kinds


def build_encoder(method: SparlingConfig, domain: Domain, channels: int = 0) -> LocalEncoder:
    """Return the local encoder g, with as many channels as the motif map or as given."""
    sizes = method.encoder
    return LocalEncoder(
        channels or motif_channels(method, domain),
        sizes.width,
        sizes.blocks,
        sizes.stem_kernel,
        sizes.stride,
        domain.in_channels,
        sizes.bf16,
        domain.one_dimensional,
    )


def build_sparse(method: SparlingConfig, domain: Domain) -> SparseLayer | PenalisedLayer:
    """Return the sparse layer at the density that training starts with, or that of a penalised baseline."""
    sparse, channels = method.sparse, motif_channels(method, domain)
    if sparse.kind != "threshold":
        last = densities(method)[-1]
        return PenalisedLayer(channels, sparse.kind, sparse.penalty_weight, last, sparse.batch_norm)
    return SparseLayer(
        channels,
        method.schedule.start_density,
        sparse.thresholds,
        sparse.batch_norm,
        sparse.momentum,
        sparse.accumulate_motifs,
    )


def build_schedule(method: SparlingConfig) -> DensitySchedule:
    """Return the schedule of the density.

    A penalised baseline has no densities to pass: it ends when its accuracy first exceeds the target, as published.
    """
    schedule = method.schedule
    return DensitySchedule(
        schedule.start_density,
        schedule.min_density if method.sparse.kind == "threshold" else schedule.start_density,
        schedule.cut_factor,
        schedule.target_fall_per_sample,
        min_target=schedule.min_target,
        restart_after=schedule.restart_after,
        restart_below=schedule.restart_below,
    )


def densities(method: SparlingConfig) -> list[float]:
    """Return the densities that a run passes, from the first to the last."""
    schedule = method.schedule
    return density_grid(schedule.start_density, schedule.min_density, schedule.cut_factor)


def build_decoder(method: SparlingConfig, domain: Domain) -> SequenceDecoder:
    """Return the global decoder h."""
    sizes, stride = method.decoder, method.encoder.stride
    return SequenceDecoder(
        motif_channels(method, domain),
        (-(-domain.spatial[0] // stride), -(-domain.spatial[1] // stride)),
        domain.vocabulary,
        sizes.width,
        sizes.pool,
        sizes.positions,
        sizes.encoder_layers,
        sizes.decoder_layers,
        sizes.heads,
        sizes.feedforward,
        sizes.dropout,
        sizes.norm_first,
        domain.one_dimensional,
    )
