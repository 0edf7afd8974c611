"""Settings of the Sparse VAE and its baselines that cannot work."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sparseid.config.problems import Problem, between, one_of
from sparseid.config.seven_features import SevenFeaturesConfig
from sparseid.config.sparse_vae import SparseVAEConfig
from sparseid.config.zeisel import ZeiselConfig

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig


def sparse_vae_problems(run: RunConfig) -> Iterator[Problem]:
    """Yield what makes the settings of the Sparse VAE, or of a model beside it, impossible."""
    method: SparseVAEConfig = run.method
    prior = method.prior
    yield from one_of(method, "method.", model=("sparse_vae", "vae", "vsc", "oi_vae", "nmf"))
    yield from one_of(method, "method.", kl_reduction=("mean", "sum"))
    yield from one_of(prior, "method.prior.", laplace_normaliser=("code", "paper"))
    yield from one_of(method.vsc, "method.vsc.", variant=("authors", "original"))
    yield from between(method, "method.", 1, math.inf, "latents", "hidden", "restarts")
    yield from between(method.oi_vae, "method.oi_vae.", 1, math.inf, "units")
    yield from between(method.oi_vae, "method.oi_vae.", 0, math.inf, "penalty_weight", "selector_lr")
    yield from between(method, "method.", 0, math.inf, "beta")
    yield from between(prior, "method.prior.", 0, math.inf, "a", "b")
    yield from between(prior, "method.prior.", 0, 1, "warm_up")
    for settings, prefix, name in ((method, "", "lr"), (prior, "prior.", "lambda0"), (prior, "prior.", "lambda1")):
        if not 0 < getattr(settings, name) < math.inf:
            yield Problem((f"method.{prefix}{name}",), f"method.{prefix}{name} must be above 0")
    if prior.lambda0 <= prior.lambda1:
        text = "the spike is narrower than the slab: make method.prior.lambda0 larger than method.prior.lambda1"
        yield Problem(("method.prior.lambda0", "method.prior.lambda1"), text)
    if not 0 < method.feature_share <= 1:
        yield Problem(("method.feature_share",), "method.feature_share must be above 0 and at most 1")
    gaussian = isinstance(run.data, SevenFeaturesConfig | ZeiselConfig)
    if method.feature_share < 1 and not (gaussian and method.model == "sparse_vae"):
        text = "only the Sparse VAE on Gaussian features can leave features out of a step: write method.feature_share=1"
        yield Problem(("method.feature_share", "method.model", "data.name"), text)
    if method.beta != 1 and method.model != "vae":
        yield Problem(("method.beta", "method.model"), f"{method.model} has no beta: write method.beta=1 or model=vae")
    if method.model in ("oi_vae", "nmf") and not gaussian:
        text = f"{method.model} has no likelihood of counts: pick another method.model for {run.data.name}"
        yield Problem(("method.model", "data.name"), text)
    if method.model == "nmf" and isinstance(run.data, SevenFeaturesConfig):
        text = "NMF needs data that are nowhere negative: pick another method.model for seven_features"
        yield Problem(("method.model", "data.name"), text)
    if method.model == "nmf" and method.restarts > 1:
        yield Problem(
            ("method.restarts", "method.model"), "every restart of NMF ends the same: write method.restarts=1"
        )
    if run.trainer.precision != "32":
        text = "the masked decoder needs single precision: write trainer.precision=32"
        yield Problem(("trainer.precision",), text)
