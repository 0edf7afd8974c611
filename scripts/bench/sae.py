"""Sparse autoencoders: a step with sparse products against the dense form of BatchTopK's code, and that of the pair."""

from __future__ import annotations

from collections.abc import Callable

import torch
from timing import report, seconds
from torch import Tensor

from sparseid.data.mlp_block import MLPBlock
from sparseid.methods.sae.jacobian import mean_absolute_jacobian, through_hidden
from sparseid.methods.sae.losses import squared_error
from sparseid.methods.sae.networks import SparseAutoencoder
from sparseid.printing import protect_output

TOKENS, WIDTH, HIDDEN, FEATURES, K = 2048, 384, 1536, 3072, 32
"""Those of ddl/table3 at scale=small."""
REPEATS = 5


def dense_error(network: SparseAutoencoder, tokens: Tensor) -> Tensor:
    """Return the error of a centred autoencoder, with codes as a matrix (tokens, features) and dense products."""
    scores = torch.relu((tokens - network.decoder_bias) @ network.encoder.T)
    flat = scores.flatten() if network.per_batch else scores
    top = flat.topk(network.k * len(tokens) if network.per_batch else network.k)
    codes = torch.zeros_like(flat).scatter(-1, top.indices, top.values).view_as(scores)
    return squared_error(codes @ network.decoder + network.decoder_bias, tokens)


def work() -> dict[str, Callable[[], object]]:
    """Return forward and backward passes of both forms, after a check that they agree, and of the pair."""
    torch.manual_seed(0)
    shapes = {"up_weight": (HIDDEN, WIDTH), "up_bias": (HIDDEN,), "down_weight": (WIDTH, HIDDEN), "down_bias": (WIDTH,)}
    mlp = MLPBlock(**{name: torch.randn(shape) / 20 for name, shape in shapes.items()}, activation="gelu")
    inputs = torch.randn(TOKENS, WIDTH)
    both = inputs, mlp(inputs)
    made: dict[str, Callable[[], object]] = {}
    for name, per_batch in (("TopK", False), ("BatchTopK", True)):
        network = SparseAutoencoder(WIDTH, FEATURES, K, per_batch)
        weights: list[Tensor] = [network.encoder, network.decoder, network.decoder_bias]

        def ours(network: SparseAutoencoder = network, weights: list[Tensor] = weights) -> tuple[Tensor, ...]:
            return torch.autograd.grad(squared_error(network(inputs), inputs), weights)

        def dense(network: SparseAutoencoder = network, weights: list[Tensor] = weights) -> tuple[Tensor, ...]:
            return torch.autograd.grad(dense_error(network, inputs), weights)

        torch.testing.assert_close(ours(), dense(), rtol=1e-3, atol=1e-6)
        made |= {f"{name}, ours": ours, f"{name}, dense": dense}
    pair = [SparseAutoencoder(WIDTH, FEATURES, K, centred=False) for _ in both]
    parameters = [parameter for network in pair for parameter in network.parameters()]

    def jacobian_pair() -> tuple[Tensor, ...]:
        codes = [network.encode(tokens).codes for network, tokens in zip(pair, both, strict=True)]
        parts = zip(pair, codes, both, strict=True)
        errors = [squared_error(network.decode(code), tokens) for network, code, tokens in parts]
        active = [code.active.features.view(TOKENS, K) for code in codes]
        maps = through_hidden(pair[0].decoder, pair[1].encoder, mlp)
        penalty = mean_absolute_jacobian(*maps, mlp.slopes(inputs), *active)
        return torch.autograd.grad(errors[0] + errors[1] + penalty, parameters)

    return made | {"JSAE": jacobian_pair}


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    times = {name: 1e3 * value for name, value in seconds(work(), REPEATS).items()}
    ratios = {
        f"{name}, dense / ours": times[f"{name}, dense"] / times[f"{name}, ours"] for name in ("TopK", "BatchTopK")
    }
    ratios |= {f"JSAE / two TopK, {form}": times["JSAE"] / (2 * times[f"TopK, {form}"]) for form in ("dense", "ours")}
    sizes = f"{TOKENS} tokens of {WIDTH}, dictionary {FEATURES}, k {K}, hidden {HIDDEN}"
    lines = [f"Sparse autoencoders, forward and backward, ms on one CPU thread: {sizes}"]
    lines += ["  " + "   ".join(f"{name} {ms:.0f}" for name, ms in times.items())]
    lines += ["  " + "   ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())]
    report("sae", lines, times | ratios)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
