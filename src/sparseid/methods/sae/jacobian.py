r"""Jacobian of an MLP between the sparse codes of its input and of its output, where both are active.

For the decoder :math:`D` of the input's code, the encoder :math:`E` of the output's code and an MLP
:math:`W_2 \phi(W_1 x + b_1) + b_2` the block is :math:`E W_2 \,\mathrm{diag}(\phi'(W_1 x + b_1))\, W_1 D`, of k x k
entries for each token. The MLP is taken at the true input, not at its reconstruction, as in the code of JSAE.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sparseid.data.mlp_block import MLPBlock

TOKENS_AT_ONCE = {"cpu": 16, "cuda": 512}
"""Tokens whose rows are gathered at a time, (tokens, k, hidden) numbers twice: few enough for the cache of a CPU."""


def through_hidden(decoder: Tensor, encoder: Tensor, mlp: MLPBlock) -> tuple[Tensor, Tensor]:
    """Return the effect (features, hidden) of each input feature on the hidden layer, and of this on output features.

    Parameters
    ----------
    decoder, encoder
        (features, width) each: of the input's autoencoder, and of the output's.
    mlp
        The MLP between them.
    """
    return decoder @ mlp.up_weight.T, encoder @ mlp.down_weight


def jacobian_block(into: Tensor, out: Tensor, slopes: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:
    """Return the Jacobian (tokens, active outputs, active inputs) where the codes are active.

    Parameters
    ----------
    into, out
        (features, hidden) each, from `through_hidden`.
    slopes
        (tokens, hidden) derivatives of the activation.
    inputs, outputs
        (tokens, active) int64: active features of the codes of the MLP's input and output.
    """
    return torch.einsum("toh,th,tih->toi", out[outputs], slopes, into[inputs])


class _MeanAbsolute(torch.autograd.Function):
    """Mean of the absolute entries of all blocks; its gradient is computed on the way, a few tokens at a time."""

    @staticmethod
    def forward(ctx: Any, into: Tensor, out: Tensor, slopes: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:
        wanted = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        entries = inputs.shape[0] * inputs.shape[1] * outputs.shape[1]
        total, of_into, of_out = into.new_zeros(()), torch.zeros_like(into), torch.zeros_like(out)
        size = TOKENS_AT_ONCE.get(into.device.type, 64)
        for slope, i, o in zip(*(each.split(size) for each in (slopes, inputs, outputs)), strict=True):
            sent, received = into[i], out[o].mul_(slope[:, None])
            block = received @ sent.transpose(1, 2)
            total += block.abs().sum()
            if wanted:
                signs = block.sign_().div_(entries)
                of_into.index_add_(0, i.flatten(), (signs.transpose(1, 2) @ received).flatten(0, 1))
                of_out.index_add_(0, o.flatten(), (signs @ sent).mul_(slope[:, None]).flatten(0, 1))
        ctx.save_for_backward(of_into, of_out)
        return total / entries

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        of_into, of_out = ctx.saved_tensors
        return gradient * of_into, gradient * of_out, None, None, None


def mean_absolute_jacobian(into: Tensor, out: Tensor, slopes: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:
    """Return the mean of the absolute entries of `jacobian_block`, over all tokens, without keeping the blocks.

    The parameters are those of `jacobian_block`; the result is differentiable in `into` and `out`.
    """
    mean: Tensor = _MeanAbsolute.apply(into, out, slopes, inputs, outputs)
    return mean
