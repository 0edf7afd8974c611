"""Position-specific affinity matrices (PSAMs) of RNA-binding proteins, as RBPamp writes them for RBNS experiments."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sparseid.errors import InputError
from sparseid.text import open_text

KEYS = ("data.path",)
HEADER = ["A", "C", "G", "U", "consensus"]
ANNOUNCED = re.compile(r"ModelSetParams with (\d+) PSAM")
TOLERANCE = 1e-3
"""Rounding of the printed affinities."""
FLOOR = 1e-30
"""Affinity in place of 0, so that its logarithm is finite."""


class Psam(NamedTuple):
    """A matrix of one binding mode.

    Attributes
    ----------
    a0
        Affinity of the best sequence.
    affinities : (width, 4) float64
        Affinity of A, C, G, U relative to the best base of the position.
    """

    a0: float
    affinities: NDArray[np.float64]


def read_psams(path: Path) -> list[Psam]:
    """Read the matrices of a protein.

    A matrix begins with a line ``# PSAM <number>``, followed by a line of ``key=value`` with ``A0``, the header of the
    columns (``# A C G U consensus``, separated by tabs) and a line per position with four affinities and the best base.
    It ends at an empty line. Rows are affinities relative to the best base, whose largest is 1, or probabilities, which
    sum to 1 and are divided by the largest. The number of rows (``n=<number>`` beside A0) and that of matrices (a line
    ``# ModelSetParams with <number> PSAMs``) show whether the file is complete; both may be missing.

    Raises
    ------
    InputError
        If the file cannot be read, has no matrix, or a line does not fit.
    """
    psams: list[Psam] = []
    with open_text(path, KEYS) as file:
        lines = list(enumerate((line.strip() for line in file), start=1))
    blocks = [place for place, (_, line) in enumerate(lines) if line.startswith("# PSAM")]
    if not blocks:
        raise InputError(f"{path} has no line '# PSAM 0': it is not a file of PSAMs, or it is truncated", KEYS)
    for first, end in zip(blocks, [*blocks[1:], len(lines)], strict=True):
        psams.append(_psam(lines[first:end], path))
    announced = next(filter(None, (ANNOUNCED.search(line) for _, line in lines[: blocks[0]])), None)
    if announced and int(announced[1]) != len(psams):
        text = f"{len(psams)} matrices instead of {announced[1]}, which it announces"
        raise InputError(f"{path} has {text}: it is truncated, copy it again", KEYS)
    return psams


def _psam(lines: list[tuple[int, str]], path: Path) -> Psam:
    if len(lines) < 4:
        raise InputError(f"{path} ends within the matrix of line {lines[0][0]}: it is truncated", KEYS)
    number, first = lines[1]
    settings = dict(part.split("=", 1) for part in first.replace(",", " ").split() if "=" in part)
    try:
        a0 = float(settings["A0"])
    except (KeyError, ValueError):
        a0 = 0.0
    if not 0 < a0 < np.inf:
        raise InputError(f"{path}, line {number}: A0=<positive number> expected, not {first!r}", KEYS)
    number, text = lines[2]
    if text.lstrip("#").replace("T", "U").split() != HEADER:
        text = f"columns {text!r} instead of # {' '.join(HEADER)}: bases must be in this order"
        raise InputError(f"{path}, line {number}: {text}", KEYS)
    rows = []
    for number, text in lines[3:]:
        if not text:
            break
        rows.append(_row(text.split(), f"{path}, line {number}"))
    if not rows:
        raise InputError(f"{path}, line {lines[2][0]}: no rows follow; the file is truncated", KEYS)
    if (announced := settings.get("n", str(len(rows)))) != str(len(rows)):
        text = f"n={announced} rows are announced, but {len(rows)} follow"
        raise InputError(f"{path}, line {lines[1][0]}: {text}: it is truncated, copy it again", KEYS)
    return Psam(a0, np.array(rows))


def _row(fields: list[str], where: str) -> NDArray[np.float64]:
    try:
        row = np.array([float(field) for field in fields[:4]])
    except ValueError:
        row = np.full(4, np.nan)
    if len(fields) != len(HEADER):
        text = f"four affinities and the best base expected, not {' '.join(fields)!r}"
        raise InputError(f"{where}: {text}; is the file truncated?", KEYS)
    if not np.isfinite(row).all() or (row < 0).any():
        raise InputError(f"{where}: four affinities of at least 0 expected, not {' '.join(fields)!r}", KEYS)
    largest, total = row.max(), row.sum()
    if abs(largest - 1) <= TOLERANCE:
        return row
    if abs(total - 1) <= TOLERANCE:
        return row / largest
    text = f"the largest of the four numbers is {largest:.4g} and they sum to {total:.4g}"
    remedy = "write affinities relative to the best base (largest 1) or probabilities (sum 1)"
    raise InputError(f"{where}: {text}; {remedy}", KEYS)


class ProteinMotifs:
    """Binding scores of proteins along a sequence.

    The score of a window is the sum over a protein's PSAMs of A0, relative to the largest one, times the product of the
    bases' affinities. A window counts for its centre. Narrower matrices are centred within the widest of the protein.

    Parameters
    ----------
    psams
        Matrices of each protein.
    """

    def __init__(self, psams: list[list[Psam]]) -> None:
        self.proteins = [_stacked(of_protein) for of_protein in psams]

    def scores(self, inputs: Tensor) -> Tensor:
        """Return scores (items, positions, proteins) of sequences (items, 4, positions), one-hot; N has four zeros.

        The score is 0 where a window exceeds the sequence and where its centre is N. Elsewhere an N does not change it.
        """
        known = inputs.sum(1) > 0
        columns = []
        for logarithms, weights in self.proteins:
            width = logarithms.shape[2]
            each = functional.conv1d(inputs, logarithms.to(inputs)).exp()
            total = torch.einsum("nkl,k->nl", each, weights.to(inputs))
            left = (width - 1) // 2
            columns.append(functional.pad(total, (left, width - 1 - left)) * known)
        return torch.stack(columns, dim=2)


def _stacked(psams: list[Psam]) -> tuple[Tensor, Tensor]:
    """Return logarithms of affinities (matrices, 4, width) and the relative A0 (matrices,) of a protein."""
    width = max(len(psam.affinities) for psam in psams)
    padded = []
    for psam in psams:
        left = (width - len(psam.affinities)) // 2
        right = width - len(psam.affinities) - left
        padded.append(np.pad(np.log(psam.affinities + FLOOR), ((left, right), (0, 0))).T)
    a0 = np.array([psam.a0 for psam in psams])
    return torch.from_numpy(np.stack(padded)).float(), torch.from_numpy(a0 / a0.max()).float()
