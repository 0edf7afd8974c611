"""The parts of Sparling in the sizes that a configuration and a domain ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sparseid.methods.sparling.decoder import SequenceDecoder
from sparseid.methods.sparling.encoder import LocalEncoder
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


def build_encoder(method: SparlingConfig, domain: Domain) -> LocalEncoder:
    """Return the local encoder g."""
    sizes = method.encoder
    return LocalEncoder(
        motif_channels(method, domain),
        sizes.width,
        sizes.blocks,
        sizes.stem_kernel,
        sizes.stride,
        domain.in_channels,
        sizes.bf16,
        domain.one_dimensional,
    )


def build_sparse(method: SparlingConfig, domain: Domain) -> SparseLayer:
    """Return the sparse layer at the density that training starts with."""
    sparse = method.sparse
    return SparseLayer(
        motif_channels(method, domain),
        method.schedule.start_density,
        sparse.thresholds,
        sparse.batch_norm,
        sparse.momentum,
        sparse.accumulate_motifs,
    )


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
