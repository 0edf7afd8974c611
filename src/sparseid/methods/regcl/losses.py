"""Losses of RegCL, one per member of the stack: generalised InfoNCE (Eq. 2), and that of the supervised baseline."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sparseid.stacking.chunking import parts


def mean_squared_error(outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean squared error (members,) over batch and outputs; arguments (members, batch, outputs)."""
    return (outputs - labels).square().mean(dim=(1, 2))


def info_nce(
    reference: Tensor,
    positive: Tensor,
    negative: Tensor,
    similarity: str = "euclidean",
    temperature: float = 1.0,
    positive_in_denominator: bool = False,
) -> Tensor:
    """Return the generalised InfoNCE loss (members,).

    mean_i[-phi(r_i, p_i)] + mean_i[log sum_j exp phi(r_i, n_j)], where phi is the negative squared Euclidean distance
    (euclidean) or the inner product (cosine), divided by the temperature. As published, the sum excludes the
    positive and is not divided by the number of negatives: the loss of an uninformative encoder is the logarithm of
    that number, and with an unbounded encoder it has no minimum.

    Parameters
    ----------
    reference, positive
        (members, batch, dims) embeddings; for `cosine` the caller normalises them to unit length.
    negative
        (members, negatives, dims), the same for all references of a member.
    similarity
        euclidean or cosine.
    temperature
        Temperature of the similarity.
    positive_in_denominator
        Whether the sum includes the positive, which bounds the loss from below by 0.

    Examples
    --------
    >>> nothing = torch.zeros(1, 4, 2)  # an encoder that tells nothing
    >>> info_nce(nothing, nothing, torch.zeros(1, 8, 2)).exp().round().tolist()
    [8.0]
    """
    if similarity == "cosine":
        aligned = (reference * positive).sum(dim=-1) / temperature
        queries, keys, offset = reference / temperature, negative, torch.zeros_like(aligned)
    else:
        # -|r - n|^2 = 2 r.n - |n|^2 - |r|^2: the last term is the same for all negatives, the others are one matrix
        # product
        aligned = (reference - positive).square().sum(dim=-1) / -temperature
        queries = torch.cat([2 * reference, torch.ones_like(reference[..., :1])], dim=-1) / temperature
        keys = torch.cat([negative, -negative.square().sum(dim=-1, keepdim=True)], dim=-1)
        offset = reference.square().sum(dim=-1) / -temperature
    extra = aligned - offset if positive_in_denominator else None
    return (offset - aligned).mean(dim=1) + mean_log_sum_exp(queries, keys, extra)


def mean_log_sum_exp(queries: Tensor, keys: Tensor, extra: Tensor | None = None) -> Tensor:
    """Return the mean (members,) over i of log sum_j exp(queries_i . keys_j).

    The matrix of all pairs is computed a part at a time, and the gradient of each part while it is in the cache, so
    that every exponential is computed only once.

    Parameters
    ----------
    queries
        (members, batch, dims)
    keys
        (members, others, dims)
    extra
        (members, batch) an additional logit of each query, or None.
    """
    return _MeanLogSumExp.apply(queries, keys, extra)


class _MeanLogSumExp(torch.autograd.Function):
    """Mean log-sum-exp with powers of two instead of e and short sides first, both several times faster on a CPU."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, extra: Tensor | None) -> Tensor:
        members, batch, _ = queries.shape
        queries_t, keys_t = queries.transpose(1, 2).contiguous(), keys.transpose(1, 2).contiguous()
        inputs = [queries_t, keys_t] if extra is None else [queries_t, keys_t, extra]
        grads = [torch.zeros_like(tensor) for tensor in inputs] if any(ctx.needs_input_grad) else []
        total = queries.new_zeros(members)
        for part, rows in parts(members, batch, keys.shape[1], queries.device):
            query_t, key_t = queries_t[part, :, rows], keys_t[part]
            weights = torch.bmm(queries[part, rows] / math.log(2), key_t)
            top = weights.amax(dim=-1, keepdim=True)
            if extra is not None:
                more = extra[part, rows, None] / math.log(2)
                top = torch.maximum(top, more)
            sums = weights.sub_(top).exp2_().sum(dim=-1, keepdim=True)
            if extra is not None:
                more = more.sub_(top).exp2_()
                sums += more
            total[part] += (sums.log2() + top).sum(dim=(1, 2))
            if grads:
                scale = 1 / (batch * sums)  # turns the weights into fractions of the sum, divided by the batch size
                grads[0][part, :, rows] = torch.bmm(key_t, weights.transpose(1, 2)).mul_(scale.transpose(1, 2))
                grads[1][part].baddbmm_(query_t * scale.transpose(1, 2), weights)
            if grads and extra is not None:
                grads[2][part, rows] = (more * scale)[..., 0]
        ctx.save_for_backward(*grads)
        return total * (math.log(2) / batch)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        queries_t, keys_t, *extra = ctx.saved_tensors
        weight = upstream[0][:, None, None]
        grads = (queries_t * weight).transpose(1, 2), (keys_t * weight).transpose(1, 2)
        return *grads, extra[0] * weight[..., 0] if extra else None
