"""Statistics of the whole batch when several processes train on parts of it, equal to those of a single process.

All parts have the same size. With one process there is no communication.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def processes() -> int:
    """Return the number of processes that train together."""
    return torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1


def share_of_mean(mean: Tensor, count: Tensor) -> Tensor:
    """Scale a mean over `count` terms so that the average over processes is the mean over the terms of all of them."""
    if processes() == 1:
        return mean
    total = _SumOverProcesses.apply(count)
    return mean * (count.to(mean.dtype) * processes() / total)


def mean_over_processes(mean: Tensor) -> Tensor:
    """Return the mean of the means of equal parts; its gradient reaches the parts of all processes."""
    return mean if processes() == 1 else _SumOverProcesses.apply(mean) / processes()


class _SumOverProcesses(torch.autograd.Function):
    """Sum over processes; its gradient is the sum of their gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone(memory_format=torch.contiguous_format)
        torch.distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _SumOverProcesses.forward(ctx, gradient)


def largest_per_channel(z: Tensor, count: int) -> Tensor:
    """Return the `count` largest values (C, count) of each channel over all parts z (N, C, L), in descending order."""
    channels, length = z.shape[1:]
    own = min(count, z.shape[0] * length)
    if own * 8 <= length:  # first within each item: two small selections are faster than one large one
        z = z.topk(own, dim=2, sorted=False).values
    largest = z.transpose(0, 1).reshape(channels, -1).topk(own, dim=1).values
    if processes() == 1:
        return largest
    shares = [torch.empty_like(largest) for _ in range(processes())]
    torch.distributed.all_gather(shares, largest)
    return torch.cat(shares, dim=1).topk(count, dim=1).values


class ChannelNorm(nn.modules.batchnorm._BatchNorm):
    """Batch norm over all axes but the channels, for any number of spatial axes (eps 1e-5, momentum 0.1).

    Unlike ``torch.nn.SyncBatchNorm`` it also synchronises processes on the CPU.
    """

    def __init__(self, channels: int, affine: bool = True) -> None:
        super().__init__(channels, affine=affine)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 3:
            raise ValueError(f"expected (N, C, *spatial), got {tuple(input.shape)}")

    def forward(self, input: Tensor) -> Tensor:
        """Map (N, C, *spatial) to the same shape: each channel with mean 0 and variance 1, then scaled and shifted."""
        if not self.training or processes() == 1:
            return super().forward(input)
        self._check_input_dim(input)
        axes = [0, *range(2, input.dim())]
        x = input.float() if input.dtype == torch.bfloat16 else input
        mean = _SumOverProcesses.apply(x.mean(axes, keepdim=True)) / processes()
        centred = x - mean
        variance = _SumOverProcesses.apply(centred.square().mean(axes, keepdim=True)) / processes()
        self._track(mean.detach().flatten(), variance.detach().flatten(), x.numel() // x.shape[1] * processes())
        normal = centred * torch.rsqrt(variance + self.eps)
        if self.affine:
            normal = normal * self.weight.view_as(mean) + self.bias.view_as(mean)
        return normal.to(input.dtype)

    def _track(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Update the running statistics, with the unbiased variance as in torch."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.momentum is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * count / (count - 1), self.momentum)
