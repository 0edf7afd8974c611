"""Dependency sparsity by tangent propagation against torch.func.jacfwd, forward and backward."""

from __future__ import annotations

from collections.abc import Callable

import torch
from timing import report, seconds
from torch import Tensor
from torch.func import jacfwd, vmap
from torch.nn.functional import leaky_relu

from sparseid.methods.ddl.networks import SLOPE, StackedVAE
from sparseid.methods.ddl.penalties import dependency_sparsity, value_and_tangents
from sparseid.printing import protect_output
from sparseid.stacking.members import generators

LATENTS, HIDDEN, LAYERS, FEATURES, BATCH = 3, 64, 2, 6, 256
STACK = 5
"""Number of members of the stack; a run of one seed is a stack of one."""


def penalty_work(members: int) -> dict[str, Callable[[], object]]:
    """Return ours and torch.func's gradient of the penalty of a stack, after a check that they agree."""
    decoder = StackedVAE(FEATURES, LATENTS, HIDDEN, LAYERS, generators(range(members), "init")).decoder
    latents = torch.randn(members, BATCH, LATENTS, generator=torch.Generator().manual_seed(0))
    parameters = list(decoder.parameters())
    weights = parameters[::2]

    def decode(maps: list[Tensor], sample: Tensor) -> Tensor:  # of one member, one sample
        for weight, bias in zip(maps[:-2:2], maps[1:-2:2], strict=True):
            sample = leaky_relu(sample @ weight + bias[0], SLOPE)
        return sample @ maps[-2] + maps[-1][0]

    jacobian = vmap(vmap(jacfwd(decode, argnums=1), in_dims=(None, 0)))

    def ours() -> list[Tensor]:
        tangents = value_and_tangents(decoder, latents)[1]
        return list(torch.autograd.grad(dependency_sparsity(tangents, LATENTS).sum(), weights))

    def theirs() -> list[Tensor]:
        return list(torch.autograd.grad(jacobian(parameters, latents).abs().sum() / BATCH, weights))

    torch.testing.assert_close(ours(), theirs(), rtol=1e-5, atol=1e-5)
    return {"tangents": ours, "torch.func.jacfwd": theirs}


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    sizes = "-".join(map(str, (LATENTS, *[HIDDEN] * LAYERS, FEATURES)))
    lines, values = (
        [f"L1 norm of a decoder's Jacobian with its gradient, ms on one CPU thread: {sizes}, batch {BATCH}"],
        {},
    )
    for name, members in (("one member", 1), (f"stack of {STACK}", STACK)):
        times = {key: 1e3 * value for key, value in seconds(penalty_work(members)).items()}
        ratio = times["torch.func.jacfwd"] / times["tangents"]
        lines.append(
            f"  {name:12s}" + "   ".join(f"{key} {ms:.2f}" for key, ms in times.items()) + f"   ratio {ratio:.1f}"
        )
        values[name] = times | {"ratio": ratio}
    report("ddl", lines, values)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
