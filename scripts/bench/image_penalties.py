"""A training step of FactorVAE with each penalty on its images, against a step without one."""

from __future__ import annotations

from collections.abc import Callable

import torch
from timing import report, seconds

from sparseid.config.compose import compose
from sparseid.data.factor_images import FactorImageData
from sparseid.methods.factor_vae.module import FactorVAEModule
from sparseid.printing import protect_output
from sparseid.training.build import build_data, build_module

PENALTIES = {
    "none": ["method.penalty=none", "method.alpha=0"],
    "latent": ["method.penalty=latent"],
    "dependency, one coordinate": ["method.penalty=dependency"],
    "dependency, finite differences": ["method.penalty=dependency", "method.estimator=finite_difference"],
    "dependency, three coordinates": ["method.penalty=dependency", "method.coordinates=3"],
    "OroJAR": ["method.penalty=orojar"],
    "Hessian penalty": ["method.penalty=hessian_penalty"],
}
PRESET = ["experiment=ddl/table1", "scale=small", "hydra.mode=RUN", "seed=100", "trainer=cpu", "method.alpha=1"]


def step_of(overrides: list[str]) -> Callable[[], None]:
    """Return a function that performs the next gradient of both networks' losses on the next batch."""
    cfg = compose([*PRESET, *overrides])
    data = build_data(cfg)
    data.setup("fit")
    module = build_module(cfg, data)
    assert isinstance(data, FactorImageData)
    assert isinstance(module, FactorVAEModule)
    images = data.training_batch(0).inputs

    def step() -> None:
        module.zero_grad()
        losses = module.losses(images, 0)
        (module.autoencoder_loss(losses) + losses.discriminator).backward()

    return step


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    times = seconds({name: step_of(overrides) for name, overrides in PENALTIES.items()}, repeats=5)
    ratios = {name: of / times["none"] for name, of in times.items()}
    lines = [
        "Losses of FactorVAE on images of 32 pixels with their gradients (scale=small, one CPU thread), to no penalty"
    ]
    lines += [f"  {name:32s} {1e3 * times[name]:7.1f} ms   {ratio:.2f}" for name, ratio in ratios.items()]
    report("image_penalties", lines, {"ms": {name: 1e3 * of for name, of in times.items()}, "ratio": ratios})
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
