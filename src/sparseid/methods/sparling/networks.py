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
    from sparseid.methods.sparling.settings import SparlingSettings


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


def motif_channels(method: SparlingSettings, domain: Domain) -> int:
    """Return the channels of the motif map: as configured, or one per kind."""
    return method.encoder.channels or domain.kinds


def build_encoder(method: SparlingSettings, domain: Domain, channels: int = 0) -> LocalEncoder:
    """Return the local encoder g, with as many channels as the motif map or as given."""
    sizes = method.encoder
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
    """Return the sparse layer at the density that training starts with, or that of a penalised baseline."""
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

    A penalised baseline has no densities to pass: it ends when its accuracy first exceeds the target, as published.
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
    """Return the densities that a run passes, from the first to the last."""
    schedule = method.schedule
    return density_grid(schedule.start_density, schedule.min_density, schedule.cut_factor)


def build_decoder(method: SparlingSettings, domain: Domain) -> SequenceDecoder:
    """Return the global decoder h."""
    sizes, stride = method.decoder, method.encoder.stride
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
