"""Decoder of the Sparse VAE for a stack: feature j depends on the latents times row j of a selector matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from sparseid.stacking.chunking import parts
from sparseid.stacking.layers import StackedLinear

KEPT = {"cpu": 2**26, "cuda": 2**30}
"""Maximum number of activations stored for the backward pass; more are recomputed."""

threshold_backward = torch.ops.aten.threshold_backward  # several times faster than a mask by comparison


class MaskedDecoder(nn.Module):
    """Decoder of feature j from w_j * z: a common perceptron of two layers, and a linear head for each feature.

    Parameters
    ----------
    latents, hidden, features
        Sizes of z, of the two layers and of the output.
    generators
        One per member, for its initial values: standard normal selectors, and layers as in `torch.nn.Linear`.

    Attributes
    ----------
    selector
        Selectors W, (members, features, latents).

    Examples
    --------
    >>> decoder = MaskedDecoder(2, 8, features=5, generators=[torch.Generator()])
    >>> decoder(torch.zeros(1, 10, 2)).shape, decoder.selector.shape
    (torch.Size([1, 10, 5]), torch.Size([1, 5, 2]))
    """

    def __init__(self, latents: int, hidden: int, features: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        drawn = [torch.randn(features, latents, generator=generator) for generator in generators]
        self.selector = nn.Parameter(torch.stack(drawn))
        self.first = StackedLinear(latents, hidden, generators, bias=False)
        self.second = StackedLinear(hidden, hidden, generators)
        self.heads = StackedLinear(hidden, features, generators)  # column j is the head of feature j

    def forward(self, latents: Tensor, features: Tensor | None = None) -> Tensor:
        """Map latents (members, batch, latents) to all features or the given ones, (members, batch, features)."""
        assert self.second.bias is not None
        assert self.heads.bias is not None
        chosen = slice(None) if features is None else features
        return masked_decode(
            latents,
            self.selector[:, chosen],
            self.first.weight,
            self.second.weight,
            self.second.bias,
            self.heads.weight[..., chosen],
            self.heads.bias[..., chosen],
        )


def masked_decode(
    latents: Tensor,
    selector: Tensor,
    first: Tensor,
    second: Tensor,
    bias: Tensor,
    heads: Tensor,
    head_bias: Tensor,
) -> Tensor:
    """Return head_j . relu(relu((w_j * z) first) second + bias) + head_bias_j for every j, (members, batch, features).

    Computed for a few features at a time, so that the working set fits the cache; many activations are recomputed in
    the backward pass instead of stored, so that memory does not grow with the features.

    Parameters
    ----------
    latents
        (members, batch, latents)
    selector
        (members, features, latents)
    first, second
        (members, latents, hidden) and (members, hidden, hidden).
    bias
        (members, 1, hidden)
    heads, head_bias
        (members, hidden, features) and (members, 1, features).
    """
    return _MaskedDecode.apply(latents, selector, first, second, bias, heads, head_bias)


class _Hidden(NamedTuple):
    """The two layers for some members and features: both (members, hidden, features x batch).

    The batch is the last axis: all products then run along it, whatever the number of hidden units.
    """

    first: Tensor
    second: Tensor


def _maps(selector: Tensor, first: Tensor) -> Tensor:
    """Return the first layer's map of every feature, including w_j, (members, hidden x features, latents).

    `first` is (members, hidden, latents), contiguous.
    """
    return (first[:, :, None] * selector[:, None]).reshape(len(first), -1, first.shape[2])


def _hidden(latents: Tensor, maps: Tensor, second: Tensor, bias: Tensor) -> _Hidden:
    """Return the activations; `latents` is (members, latents, batch)."""
    members, hidden = second.shape[:2]
    one = torch.bmm(maps, latents).view(members, hidden, -1).relu_()
    return _Hidden(one, torch.baddbmm(bias.mT, second.mT, one).relu_())


class _MaskedDecode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        latents, selector, first, second, bias, heads, head_bias = inputs
        (members, batch, _), (features, hidden) = latents.shape, (selector.shape[1], second.shape[1])
        ctx.parts = list(parts(members, features, hidden * batch, latents.device))
        keep = any(ctx.needs_input_grad) and 2 * members * features * batch * hidden <= KEPT.get(
            latents.device.type, KEPT["cuda"]
        )
        ctx.kept = []
        columns, first = latents.mT.contiguous(), first.mT.contiguous()
        outputs = latents.new_empty(members, features, batch)
        for m, f in ctx.parts:
            layers = _hidden(columns[m], _maps(selector[m, f], first[m]), second[m], bias[m])
            four = layers.second.view(len(columns[m]), hidden, -1, batch)
            outputs[m, f] = torch.einsum("mdf,mdfb->mfb", heads[m, :, f], four)
            ctx.kept.append(layers if keep else None)
        ctx.save_for_backward(*inputs)
        return outputs.mT + head_bias

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, ...]:
        latents, selector, first, second, bias, heads, _ = ctx.saved_tensors
        batch, hidden = latents.shape[1], second.shape[1]
        columns, first = latents.mT.contiguous(), first.mT.contiguous()
        slopes = upstream[0].mT.contiguous()  # (members, features, batch)
        g_latents, g_first, g_second, g_bias = (torch.zeros_like(t) for t in (latents, first, second, bias))
        g_selector, g_heads = torch.empty_like(selector), torch.empty_like(heads)
        for (m, f), layers in zip(ctx.parts, ctx.kept, strict=True):
            maps = _maps(selector[m, f], first[m])
            one, two = layers or _hidden(columns[m], maps, second[m], bias[m])
            shape = len(one), hidden, -1, batch
            g_heads[m, :, f] = torch.einsum("mfb,mdfb->mdf", slopes[m, f], two.view(shape))
            inner = (slopes[m, f][:, None] * heads[m, :, f, None]).reshape(two.shape)
            inner = threshold_backward(inner, two, 0)
            g_second[m] += one @ inner.mT
            g_bias[m] += inner.sum(dim=2)[:, None]
            inner = threshold_backward(second[m] @ inner, one, 0).view(len(one), -1, batch)
            g_latents[m] += inner.mT @ maps
            of_maps = (inner @ latents[m]).view(len(one), hidden, -1, latents.shape[2])
            g_selector[m, f] = (of_maps * first[m, :, None]).sum(dim=1)
            g_first[m] += (of_maps * selector[m, None, f]).sum(dim=2)
        return g_latents, g_selector, g_first.mT, g_second, g_bias, g_heads, slopes.sum(dim=2)[:, None]
