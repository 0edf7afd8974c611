"""One training epoch of the Sparse VAE against a straightforward implementation, feature by feature."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import torch
from timing import report, seconds
from torch import Tensor, nn

from sparseid.methods.sparse_vae.losses import multinomial_error, standard_divergence
from sparseid.methods.sparse_vae.model import Given, SparseVAE
from sparseid.methods.sparse_vae.networks import RestartNoise
from sparseid.methods.sparse_vae.settings import SparseVAESettings, SpikeAndSlabSettings
from sparseid.methods.sparse_vae.spike_and_slab import selector_penalty
from sparseid.printing import protect_output
from sparseid.stacking.batches import StackedBatches
from sparseid.stacking.members import generators

SAMPLES, FEATURES, LATENTS, HIDDEN, BATCH = 2000, 500, 20, 50, 128
"""The size of PeerRead with domain shift, with fewer documents."""
LR, REPEATS = 0.01, 5


class Loop(nn.Module):
    """The same model as modules of torch: one head per feature, decoded one after the other.

    Parameters
    ----------
    model
        Model whose weights are copied.
    """

    def __init__(self, model: SparseVAE) -> None:
        super().__init__()
        ours = model.decoder
        self.encoder, self.selector = deepcopy(model.encoder), nn.Parameter(ours.selector[0].detach().clone())
        first, second = nn.Linear(LATENTS, HIDDEN, bias=False), nn.Linear(HIDDEN, HIDDEN)
        self.trunk = nn.Sequential(first, nn.ReLU(), second, nn.ReLU())
        heads = [nn.Linear(HIDDEN, 1) for _ in range(FEATURES)]
        self.heads = nn.ModuleList(heads)
        assert ours.second.bias is not None
        assert ours.heads.bias is not None
        with torch.no_grad():
            first.weight.copy_(ours.first.weight[0].T)
            second.weight.copy_(ours.second.weight[0].T)
            second.bias.copy_(ours.second.bias[0, 0])
            for j, head in enumerate(heads):
                head.weight.copy_(ours.heads.weight[0, :, j][None])
                head.bias.copy_(ours.heads.bias[0, 0, j])
        self.probability, self.share = model.slab_probability[0].clone(), model.slab_share[0].clone()

    def loss(self, inputs: Tensor, normal: Tensor) -> Tensor:
        """Return the objective of a batch (1, batch, features) with standard normal noise."""
        posterior = self.encoder(inputs / inputs.sum(dim=-1, keepdim=True).clamp(min=1))
        z = (posterior.mean + normal * (0.5 * posterior.log_variance).exp())[0]
        outputs = torch.cat([head(self.trunk(z * self.selector[j])) for j, head in enumerate(self.heads)], dim=1)
        divergence = standard_divergence(posterior.mean, posterior.log_variance)
        penalty = selector_penalty(self.selector[None], self.probability[None], 5.0, 0.01, BATCH)
        return (multinomial_error(outputs[None], inputs) + divergence + penalty).sum()

    @torch.no_grad()
    def after_step(self) -> None:
        """Perform the E and the M step, latent by latent."""
        for k in range(LATENTS):
            slab = self.share[k] * torch.exp(-0.01 * self.selector[:, k].abs())
            spike = (1 - self.share[k]) * torch.exp(-5.0 * self.selector[:, k].abs())
            self.probability[:, k] = slab / (slab + spike)
            self.share[k] = self.probability[:, k].sum() / (2 * FEATURES - 1)


def model() -> SparseVAE:
    """Return ours with the settings of PeerRead with domain shift."""
    prior = SpikeAndSlabSettings(lambda0=5.0, lambda1=0.01)
    method = SparseVAESettings(latents=LATENTS, hidden=HIDDEN, lr=LR, prior=prior)
    given = Given(FEATURES, gaussian=False, row_normalised=True, batch_size=BATCH, steps=1)
    return SparseVAE(method, given, generators([0], "init"))


def counts() -> Tensor:
    """Return (1, samples, features) word counts."""
    rates = torch.rand(1, SAMPLES, FEATURES, generator=torch.Generator().manual_seed(0)).pow(8)
    return torch.poisson(rates, generator=torch.Generator().manual_seed(1))


def epochs() -> dict[str, Callable[[], object]]:
    """Return ours and the loop's epoch of training, after a check that they start with the same loss and gradients."""
    data, ours = counts(), model()
    loop = Loop(ours)
    batches, noise = StackedBatches([0], SAMPLES, BATCH, drop_last=False), RestartNoise([0], 1, BATCH, LATENTS)
    networks = [parameter for name, parameter in loop.named_parameters() if name != "selector"]
    work: dict[str, tuple[SparseVAE | Loop, list[torch.optim.Adam]]] = {
        "ours": (ours, [torch.optim.Adam(ours.trained(), lr=LR, fused=True)]),
        "feature by feature": (loop, [torch.optim.Adam(networks, lr=LR), torch.optim.Adam([loop.selector], lr=LR)]),
    }

    def loss_of(trained: SparseVAE | Loop, step: int) -> Tensor:
        inputs = data[:, batches.indices(step)[0]]
        drawn = noise.at(step, inputs.shape[1], inputs.device)
        if isinstance(trained, Loop):
            return trained.loss(inputs, drawn.normal)
        return trained.terms(inputs, drawn, step).total.sum()

    def epoch(trained: SparseVAE | Loop, adams: list[torch.optim.Adam]) -> None:
        for step in range(len(batches)):
            trained.zero_grad()
            loss_of(trained, step).backward()
            for adam in adams:
                adam.step()
            trained.after_step()

    losses = [loss_of(ours, 0), loss_of(loop, 0)]
    torch.testing.assert_close(*losses, rtol=1e-5, atol=0)
    slopes = [
        torch.autograd.grad(loss, selector)
        for loss, selector in zip(losses, (ours.decoder.selector, loop.selector), strict=True)
    ]
    torch.testing.assert_close(slopes[0][0][0], slopes[1][0], rtol=1e-3, atol=1e-5)
    return {name: partial(epoch, *parts) for name, parts in work.items()}


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    times = seconds(epochs(), REPEATS)
    ratio = times["ours"] / times["feature by feature"]
    sizes = f"N {SAMPLES}, G {FEATURES}, K {LATENTS}, D {HIDDEN}, B {BATCH}"
    lines = [f"One epoch of the Sparse VAE, s on one CPU thread ({sizes})"]
    lines.append("  " + "   ".join(f"{name} {time:.2f}" for name, time in times.items()) + f"   ratio {ratio:.2f}")
    report("sparse_vae", lines, times | {"ratio": ratio})
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
