"""Two-stage estimator: for latents known up to a linear map, the map with the sparsest deltas.

Without the penalty every environment has its own weights, and the learned latents are a linear map of the true ones
(Proposition 3.4). The second stage minimises the paper's L1 norm over the remaining k x k matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sparseid.data.trees import Tree
from sparseid.stacking.members import generators

RESTARTS, STEPS, LEARNING_RATE = 8, 600, 0.05
"""Number of random initial rotations, steps of Adam from each, and learning rate (cosine decay to zero)."""
RIDGE = 1e-6
"""Ridge relative to the mean second moment of the latents: keeps least squares solvable for constant latents."""


def second_moments(latents: Tensor, labels: Tensor, environments: Tensor, count: int) -> Tensor:
    """Return sums (members, count, k + 2, k + 2) over samples of the outer product of (z, y, 1), per environment.

    The moments of several parts of the samples add up to those of all.

    Parameters
    ----------
    latents
        (members, samples, k)
    labels
        (members, samples)
    environments
        (members, samples) int64, from 0 to count - 1, the same for all members.
    count
        Number of environments.
    """
    row = torch.cat([latents, labels[..., None], torch.ones_like(labels)[..., None]], dim=-1).double()
    sums = row.new_zeros(len(row), count, row.shape[-1], row.shape[-1])
    return sums.index_add_(1, environments[0], row[..., :, None] * row[..., None, :])


def environment_weights(moments: Tensor) -> Tensor:
    """Return the least-squares weights (members, environments, k) of the labels on the latents, per environment."""
    k = moments.shape[-1] - 2
    squares, cross = moments[..., :k, :k], moments[..., :k, k]
    size = squares.diagonal(dim1=-2, dim2=-1).mean(dim=-1)[..., None, None]
    size = torch.where(size > 0, size, 1.0)
    return torch.linalg.solve(squares + RIDGE * size * torch.eye(k, dtype=size.dtype, device=size.device), cross)


def pooled_covariance(moments: Tensor) -> Tensor:
    """Return the covariance (members, k, k) of the latents over all environments."""
    k = moments.shape[-1] - 2
    sums = moments.sum(dim=1)
    n, mean = sums[:, -1:, -1:], sums[:, :k, -1:] / sums[:, -1:, -1:]
    return sums[:, :k, :k] / n - mean @ mean.transpose(1, 2)


def contrasts(tree: Tree) -> Tensor:
    """Return the contrasts (rows, environments): differences of weights that are sums of few arc deltas.

    For two observed environments with an arc between them: child minus parent, the delta of the arc. If no arc has both
    ends observed (leaves only): differences of sibling environments, the sum of two deltas.
    """
    pairs = tree.observed_arcs
    if not len(pairs):
        order = np.argsort(tree.parents[tree.observed], kind="stable")
        parents = tree.parents[tree.observed][order]
        same = np.flatnonzero(parents[1:] == parents[:-1])
        pairs = np.stack([order[same], order[same + 1]], axis=1)
    rows = torch.zeros(len(pairs), len(tree.observed))
    numbers = torch.arange(len(pairs))
    rows[numbers, torch.from_numpy(pairs[:, 0])] = -1.0
    rows[numbers, torch.from_numpy(pairs[:, 1])] = 1.0
    return rows


def sparsest_basis(differences: Tensor, covariance: Tensor, seeds: Sequence[int], restarts: int = RESTARTS) -> Tensor:
    """Return the matrix B (members, k, k) that minimises sum |D B^-1| with latents B z of variance 1.

    Parameters
    ----------
    differences
        Differences D of weights on latents z, (members, rows, k).
    covariance
        Covariance of z, (members, k, k).
    seeds
        One per member, for its restarts.
    restarts
        Number of initial random rotations of whitened latents; the best result is returned.

    Notes
    -----
    B is the identity for a member whose numbers are not finite.
    """
    with torch.inference_mode(False), torch.enable_grad():  # tests run in inference mode; this needs gradients
        return _sparsest_basis(differences.double().clone(), covariance.double().clone(), seeds, restarts)


def _sparsest_basis(differences: Tensor, covariance: Tensor, seeds: Sequence[int], restarts: int) -> Tensor:
    members, k, _ = covariance.shape
    finite = torch.isfinite(differences).all(dim=(1, 2)) & torch.isfinite(covariance).all(dim=(1, 2))
    eye = torch.eye(k, dtype=torch.float64, device=covariance.device)
    rows = torch.where(finite[:, None, None], differences, 0.0)[:, None]
    cov = torch.where(finite[:, None, None], covariance, eye)[:, None]
    free = _whitening_rotations(cov, seeds, restarts).requires_grad_()
    adam = torch.optim.Adam([free], lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, STEPS)

    def basis() -> Tensor:
        variance = ((free @ cov) * free).sum(dim=-1, keepdim=True)
        return free / variance.sqrt()

    def objective() -> Tensor:  # (members, restarts)
        return torch.linalg.solve(basis(), rows, left=False).abs().sum(dim=(-2, -1))

    for _ in range(STEPS):
        adam.zero_grad()
        objective().sum().backward()
        adam.step()
        schedule.step()
    best = objective().detach().nan_to_num(nan=torch.inf).argmin(dim=1)
    chosen = basis().detach()[torch.arange(members, device=eye.device), best]
    return torch.where(finite[:, None, None], chosen, eye)


def _whitening_rotations(covariance: Tensor, seeds: Sequence[int], restarts: int) -> Tensor:
    """Return random rotations (members, restarts, k, k) of the whitened latents; covariance (members, 1, k, k)."""
    k = covariance.shape[-1]
    drawn = [torch.randn(restarts, k, k, generator=g, dtype=torch.float64) for g in generators(seeds, "rotation")]
    rotation = torch.linalg.qr(torch.stack(drawn).to(covariance.device))[0]
    values, vectors = torch.linalg.eigh(covariance)
    values = values.clamp(min=torch.finfo(values.dtype).tiny)
    return rotation @ (vectors / values.sqrt()[..., None, :]).transpose(-1, -2)
