"""Milliseconds of one threshold update: ours, the PyPI package `sparling` (extra `peers`), and sorting."""

from __future__ import annotations

from collections.abc import Callable

import torch
from timing import report, seconds
from torch import Tensor

from sparseid.methods.sparling.sparse_layer import SparseLayer, kth_smallest
from sparseid.printing import protect_output

SHAPES = {
    "DigitCircle 10x100x100x10": ((10, 10, 100, 100), 0.5 * 0.75**32),
    "LaTeX-OCR 8x120x360x32": ((8, 32, 120, 360), 0.5 * 0.75**38),
    "DigitCircle, first density 0.5": ((10, 10, 100, 100), 0.5),
}
"""Batch x height x width x channels in the paper's order, given channels first; the current density."""


def main() -> None:
    """Measure every shape; the peer and ours must return the same threshold."""
    try:
        from sparling.sparsity import EnforceSparsityPerChannel2D
    except ImportError:
        raise SystemExit("The benchmark compares with a peer: pip install '.[peers]' (make bench does it)") from None

    lines = ["Threshold update (training-mode forward of the layer without batch norm), ms"]
    values = {}
    for name, (shape, density) in SHAPES.items():
        z = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        ours = SparseLayer(shape[1], density, batch_norm="none", momentum=1.0)
        peer = EnforceSparsityPerChannel2D(1 - density, shape[1], momentum=1.0)
        ours(z), peer(z)
        threshold = next(value for key, value in peer.state_dict().items() if "threshold" in key).flatten()
        assert torch.equal(ours.threshold, threshold), "the peer computes another threshold"

        work: dict[str, Callable[[], object]] = {
            "ours": lambda z=z, layer=ours: layer(z),  # type: ignore[misc]
            "peer": lambda z=z, layer=peer: layer(z),  # type: ignore[misc]
            "ours, quantile only": lambda z=z, density=density: kth_smallest(z.flatten(2), density),  # type: ignore[misc]
            "sort": lambda z=z: by_sorting(z),  # type: ignore[misc]
        }
        with torch.no_grad():
            times = {key: 1e3 * value for key, value in seconds(work, repeats=5).items()}
        ratio = times["peer"] / times["ours"]
        lines.append(
            f"  {name:32s}" + "".join(f"{key} {ms:8.2f}   " for key, ms in times.items()) + f"ratio {ratio:.1f}"
        )
        values[name] = times | {"ratio": ratio}
    report("threshold", lines, values)


def by_sorting(z: Tensor) -> Tensor:
    """Sort every channel, the straightforward implementation."""
    return z.transpose(0, 1).flatten(1).sort(dim=1).values


if __name__ == "__main__":
    protect_output()
    main()
