"""Local encoder g: a small convolutional network with a limited window around each position."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sparseid.methods.batch_statistics import ChannelNorm


class LocalEncoder(nn.Module):
    """Stem convolution, pre-activation residual units and a 1x1 convolution to one channel per motif (section 5.1).

    Parameters
    ----------
    channels
        Number of motif channels.
    width
        Number of channels of the residual units.
    blocks
        Number of residual units; each extends the window by two pixels in every direction (times the stride).
    stem_kernel, stride
        Side and stride of the first convolution; 1 and 1 as published.
    in_channels
        Number of channels of the input.
    bf16
        Compute in bfloat16, channels last; the result is float32 in any case.
    one_dimensional
        For inputs (N, in_channels, frames, 1): kernels and strides have width 1.
    """

    def __init__(
        self,
        channels: int,
        *,
        width: int = 64,
        blocks: int = 4,
        stem_kernel: int = 1,
        stride: int = 1,
        in_channels: int = 1,
        bf16: bool = False,
        one_dimensional: bool = False,
    ) -> None:
        super().__init__()
        self.bf16 = bf16
        self.stride = stride
        self.stem = _convolution(in_channels, width, stem_kernel, stride, one_dimensional)
        self.blocks = nn.Sequential(*[ResidualUnit(width, one_dimensional) for _ in range(blocks)])
        self.head = nn.Conv2d(width, channels, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Map (N, in_channels, H, W) to the dense motif map (N, channels, ceil(H / stride), ...), float32."""
        if not self.bf16:
            return self.head(self.blocks(self.stem(images)))
        with torch.autocast(images.device.type, torch.bfloat16):
            images = images.to(memory_format=torch.channels_last)
            return self.head(self.blocks(self.stem(images))).float().contiguous()

    @property
    def window(self) -> int:
        """Side of the square of input pixels (or number of frames) that a position of the motif map depends on."""
        return self.stem.kernel_size[0] + 4 * len(self.blocks) * self.stride


class ResidualUnit(nn.Module):
    """BN-ReLU-conv3x3-BN-ReLU-conv3x3 plus identity, zero padding (He et al. 2016); 3x1 in one dimension."""

    def __init__(self, width: int, one_dimensional: bool = False) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            ChannelNorm(width),
            nn.ReLU(),
            _convolution(width, width, 3, 1, one_dimensional),
            ChannelNorm(width),
            nn.ReLU(),
            _convolution(width, width, 3, 1, one_dimensional),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, width, H, W) to the same shape."""
        return x + self.layers(x)


def _convolution(channels: int, width: int, kernel: int, stride: int, one_dimensional: bool) -> nn.Conv2d:
    """Return a convolution with a square kernel, or one of width 1; zero padding preserves the size at stride 1."""
    across = 1 if one_dimensional else kernel
    strides = (stride, 1 if one_dimensional else stride)
    return nn.Conv2d(channels, width, (kernel, across), strides, padding=(kernel // 2, across // 2))
