"""The inverted Jacobian, RegCL's attribution method (RegCL, theorem 2)."""

from __future__ import annotations

import torch
from torch import Tensor

WELL_CONDITIONED = 1e8
"""Largest condition number of J J^T at which it is inverted: the result then has 8 of double precision's 16 digits."""

ROUNDING = torch.finfo(torch.float32).eps
"""Rounding error of the Jacobians that encoders are trained and read in; times max(outputs, D), and relative to the
largest singular value, the cut-off below which a singular value counts as zero, in both precisions."""


def inverted(jacobian: Tensor) -> Tensor:
    """Return the pseudo-inverse of every Jacobian, transposed back to the Jacobian's shape, in double precision.

    For well-conditioned rows it is (J J^T)^-1 J, the transpose of J^T (J J^T)^-1. Rows that are exactly zero (saturated
    outputs) stay zero and do not change the others. Otherwise it is computed from the singular values; those at most
    max(outputs, D) x `ROUNDING`, relative to the largest, count as zero, in double precision, too: rows of a saturated
    encoder that are 1e-13 of the others would have an inverse of 1e13, which says nothing about the encoder. This
    covers more outputs than features: the pseudo-inverse exists.

    Parameters
    ----------
    jacobian
        (..., outputs, D), single or double precision.

    Returns
    -------
    Tensor
        (..., outputs, D) float64; NaN for a Jacobian with a value that is not finite.

    Examples
    --------
    >>> inverted(torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    *leading, outputs, features = jacobian.shape
    cut_off = ROUNDING * max(outputs, features)
    rows = jacobian.detach().double().reshape(-1, outputs, features)
    finite = torch.isfinite(rows).all(dim=-1).all(dim=-1)
    rows = torch.where(finite[:, None, None], rows, 0.0)
    gram = rows @ rows.mT  # (n, outputs, outputs)
    zero = (rows == 0).all(dim=-1)
    scale = gram.diagonal(dim1=-2, dim2=-1).amax(dim=-1, keepdim=True)  # keeps zero rows out of the condition number
    gram = gram + torch.diag_embed(torch.where(zero, torch.where(scale > 0, scale, 1.0), 0.0))
    inverse, failed = torch.linalg.inv_ex(gram)
    condition = torch.linalg.matrix_norm(gram) * torch.linalg.matrix_norm(inverse)  # Frobenius: never too small
    result = inverse @ rows
    rest = (failed != 0) | ~(condition <= min(WELL_CONDITIONED, cut_off**-2))
    if rest.any():
        result[rest] = torch.linalg.pinv(rows[rest], rtol=cut_off).mT
    return torch.where(finite[:, None, None], result, torch.nan).reshape(*leading, outputs, features)


def rank_deficient(jacobian: Tensor) -> Tensor:
    """Return (...,) bool: whether rows of a Jacobian (..., outputs, D) are linearly dependent, rows of zeros included.

    The rank uses the cut-off of :func:`inverted`. True for more outputs than features and for values that are not
    finite.
    """
    *_, outputs, features = jacobian.shape
    rows = jacobian.detach().double()
    finite = torch.isfinite(rows).all(dim=-1).all(dim=-1)
    rows = torch.where(finite[..., None, None], rows, 0.0)
    cut_off = ROUNDING * max(outputs, features)
    squares = torch.linalg.eigvalsh(rows @ rows.mT)  # squared singular values, ascending
    return ~finite | (squares[..., 0] <= cut_off**2 * squares[..., -1])
