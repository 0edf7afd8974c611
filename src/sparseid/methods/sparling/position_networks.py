"""Networks for a label per position of a sequence: local encoder, and decoder of dilated convolutions (appendix M)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from sparseid.methods.batch_statistics import ChannelNorm


class SequenceEncoder(nn.Module):
    """Convolution of width 1, residual units of width 3, then of width 1, and a convolution to one channel per motif.

    Parameters
    ----------
    channels
        Number of motif channels.
    width
        Number of channels of the residual units.
    blocks
        Number of residual units of width 3; each extends the window by two positions on either side.
    pointwise_blocks
        Number of residual units of width 1.
    in_channels
        Number of channels of the input.
    """

    stride = 1
    bf16 = False

    def __init__(
        self, channels: int, *, width: int = 80, blocks: int = 5, pointwise_blocks: int = 5, in_channels: int = 4
    ) -> None:
        super().__init__()
        self.stem = nn.Conv1d(in_channels, width, 1)
        local = [ResidualUnit(width, 3) for _ in range(blocks)]
        self.blocks = nn.Sequential(*local, *[ResidualUnit(width, 1) for _ in range(pointwise_blocks)])
        self.head = nn.Conv1d(width, channels, 1)
        self.window = 1 + 4 * blocks

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (N, in_channels, positions) to the dense motif map (N, channels, positions)."""
        return self.head(self.blocks(self.stem(inputs)))


class DilatedDecoder(nn.Module):
    """SpliceAI's network: stages of residual units of dilated convolutions, added up through convolutions of width 1.

    Parameters
    ----------
    channels
        Number of motif channels.
    classes
        Number of classes of a position.
    width
        Number of filters.
    kernels, dilations
        Of the convolutions of each stage.
    units
        Number of residual units per stage; after each stage its output is added to the result.
    crop
        Positions to leave out on either side.
    """

    def __init__(
        self,
        channels: int,
        classes: int,
        *,
        width: int = 32,
        kernels: Sequence[int] = (11, 11, 21, 41),
        dilations: Sequence[int] = (1, 4, 10, 25),
        units: int = 4,
        crop: int = 5000,
    ) -> None:
        super().__init__()
        self.crop = crop
        self.embed = nn.Conv1d(channels, width, 1)
        self.first_skip = nn.Conv1d(width, width, 1)
        self.stages = nn.ModuleList(
            nn.Sequential(*[ResidualUnit(width, kernel, dilation) for _ in range(units)])
            for kernel, dilation in zip(kernels, dilations, strict=True)
        )
        self.skips = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in kernels)
        self.head = nn.Conv1d(width, classes, 1)

    def forward(self, motifs: Tensor) -> Tensor:
        """Map motif maps (N, channels, positions) to logits (N, positions - 2 crop, classes)."""
        x = self.embed(motifs)
        total = self.first_skip(x)
        for stage, skip in zip(self.stages, self.skips, strict=True):
            x = stage(x)
            total = total + skip(x)
        return self.head(total[:, :, self.crop : total.shape[2] - self.crop]).transpose(1, 2)


class ResidualUnit(nn.Module):
    """BN-ReLU-conv-BN-ReLU-conv plus identity, zero padding (He et al. 2016), in one dimension."""

    def __init__(self, width: int, kernel: int, dilation: int = 1) -> None:
        super().__init__()
        padding = kernel // 2 * dilation
        self.layers = nn.Sequential(
            ChannelNorm(width),
            nn.ReLU(),
            nn.Conv1d(width, width, kernel, padding=padding, dilation=dilation),
            ChannelNorm(width),
            nn.ReLU(),
            nn.Conv1d(width, width, kernel, padding=padding, dilation=dilation),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, width, positions) to the same shape."""
        return x + self.layers(x)
