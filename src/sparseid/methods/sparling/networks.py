"""Networks of Sparling in the sizes of a configuration and a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sparseid.densities import density_grid
from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.encoder import LocalEncoder
from sparseid.methods.sparling.penalised_layer import PenalisedLayer
from sparseid.methods.sparling.schedule import DensitySchedule
from sparseid.methods.sparling.sparse_layer import SparseLayer

if TYPE_CHECKING:
    from sparseid.config.schema import SparlingConfig


class Domain(NamedTuple):
    """Properties of a data set that the networks need.

    Attributes
    ----------
    kinds
        Number of motif kinds, the classes of true sites.
    vocabulary
        Number of tokens; labels consist of 0 .. vocabulary - 3, then come the start and the end token.
    spatial
        Height and width of the inputs; sounds are (frames, 1).
    in_channels
        Number of channels of the inputs; for sounds the mel bands.
    kind_names, token_names
        Names of the kinds and of the tokens of labels.
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
        """True for inputs without width (sounds)."""
        return self.spatial[1] == 1


def motif_channels(method: SparlingConfig, domain: Domain) -> int:
    """Return the channels of the motif map: as configured, or one per kind."""
    return method.encoder.channels or domain.kinds


def build_encoder(method: SparlingConfig, domain: Domain, channels: int = 0) -> LocalEncoder:
    """Return the local encoder g, with the channels of the motif map or a given number."""
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
    """Return the sparse layer at the initial density, or that of a penalised baseline."""
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

    A penalised baseline has no sequence of densities: it stops when its accuracy first exceeds the target, as
    published.
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
    """Return the densities of a run, from the first to the last."""
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
