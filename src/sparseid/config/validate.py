"""Settings that cannot work, found before anything heavy is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from sparseid.config import data_sets
from sparseid.config.ddl import DDLConfig, ddl_problems
from sparseid.config.gtex import GtexConfig
from sparseid.config.latent_walk import ArraysConfig, LatentWalkConfig
from sparseid.config.problems import Problem, between, one_of
from sparseid.config.regcl import RegCLConfig
from sparseid.config.schema import (
    FITTING,
    STACKED,
    DigitCircleConfig,
    RunConfig,
    SparlingConfig,
    TBRConfig,
    TrainerConfig,
    TreeSimulationConfig,
)
from sparseid.config.sparling_check import sparling_problems
from sparseid.config.sparse_vae import SparseVAEConfig
from sparseid.config.sparse_vae_check import sparse_vae_problems
from sparseid.errors import InputError

DEEPEST_TREE = 12
"""Arcs from the root to a leaf: the incidence matrix of a deeper tree would fill gigabytes."""
FEWEST_SAMPLES = 4
"""Samples of an environment of which each of three splits gets one."""


def problems(run: RunConfig) -> list[Problem]:
    """Return everything that makes `run` impossible, most general first; empty if it can be run.

    What a data set can be, it knows itself: it is asked, and so are the files it reads.
    """
    found = [*_root(run), *_stack(run), *_trainer(run.trainer)]
    if type(run.data) not in FITTING.get(type(run.method), (type(run.data),)):
        text = f"{run.method.name} cannot be trained on {run.data.name}: pick another method or other data"
        return [Problem(("method.name", "data.name"), text)]
    found.extend(Problem(*fault) for fault in data_sets.faults(run.data))
    for settings in (run.data, run.method):
        if check := CHECKS.get(type(settings)):
            found.extend(check(run))
    return found


def absent(run: RunConfig) -> list[Problem]:
    """Return which data that only the user can place are not there, or cannot be used.

    No part of `problems`: what a preset would run is planned and reported without them, too.
    """
    if isinstance(run.data, ArraysConfig):
        from sparseid.data.arrays.reader import absent_file

        return [Problem(*fault) for fault in absent_file(run.data)]
    return [Problem(*fault) for fault in data_sets.absent_files(run.data)]


def _root(run: RunConfig) -> Iterator[Problem]:
    yield from between(run, "", 0, math.inf, "seed")
    yield from one_of(run.logger, "logger.", name=("csv", "wandb"), mode=("auto", "online", "offline"))
    if not run.outputs.strip():
        yield Problem(("outputs",), "outputs must name a folder")


def _stack(run: RunConfig) -> Iterator[Problem]:
    if isinstance(run.method, STACKED) and run.trainer.devices > 1:
        text = "a stack is trained on one device: write trainer.devices=1"
        yield Problem(("trainer.devices",), text)
    if not run.seeds:
        return
    if not isinstance(run.method, STACKED):
        text = f"{run.method.name} trains one seed per run: sweep over seeds with seed=0,1,2 instead of seeds=[0,1,2]"
        yield Problem(("seeds",), text)
    if run.seed:
        yield Problem(("seed", "seeds"), f"the seeds of a stack are in seeds: write seeds=[{run.seed}]")
    if min(run.seeds) < 0:
        yield Problem(("seeds",), "seeds must be at least 0")
    if len(set(run.seeds)) < len(run.seeds):
        yield Problem(("seeds",), "seeds names a seed twice: its member would be the same again")


def _trainer(trainer: TrainerConfig) -> Iterator[Problem]:
    yield from between(trainer, "trainer.", 1, math.inf, "max_samples", "batch_size", "devices")
    yield from between(trainer, "trainer.", 0, math.inf, "threads", "save_every_s", "stop_before_s")
    yield from one_of(
        trainer,
        "trainer.",
        precision=("32", "bf16-mixed"),
        accelerator=("auto", "cpu", "gpu"),
        strategy=("auto", "ddp"),
    )
    if 1 <= trainer.max_samples < trainer.batch_size:
        text = "not even one batch would be trained: raise trainer.max_samples or lower trainer.batch_size"
        yield Problem(("trainer.max_samples", "trainer.batch_size"), text)
    if trainer.devices > 1 and trainer.batch_size % trainer.devices:
        keys = ("trainer.batch_size", "trainer.devices")
        yield Problem(keys, "the batch cannot be split evenly: make trainer.batch_size a multiple of trainer.devices")


def _digit_circle(run: RunConfig) -> Iterator[Problem]:
    from sparseid.data.digit_circle.generator import distribution  # NumPy, which other commands do without

    try:
        distribution(run.data)
    except InputError as error:
        yield Problem(error.keys or ("data.glyphs",), str(error))  # without keys: something is wrong in the glyph file


def _tree_simulation(run: RunConfig) -> Iterator[Problem]:
    data: TreeSimulationConfig = run.data
    yield from one_of(data, "data.", observed=("nodes", "leaves"), map=("tanh", "linear"))
    yield from one_of(data, "data.", changes=("sparse", "bernoulli"))
    yield from between(data, "data.", 1, DEEPEST_TREE, "depth")
    yield from between(data, "data.", 1, math.inf, "features", "latents")
    yield from between(data, "data.", 0, math.inf, "delta_std", "noise_std_z", "noise_std_y")
    yield from between(data, "data.", 0, 1, "pi")
    if data.changes == "sparse" and data.pi > 0:
        text = "data.pi does nothing where exactly data.S weights change: write data.changes=bernoulli, or leave it 0"
        yield Problem(("data.pi", "data.changes"), text)
    if data.samples < FEWEST_SAMPLES:
        text = f"training, validation and test each need a sample: make data.samples at least {FEWEST_SAMPLES}"
        yield Problem(("data.samples",), text)
    if not 0 <= data.S <= data.latents:
        text = f"along an arc 0 to {data.latents} weights can change, one per latent: data.S must lie between"
        yield Problem(("data.S", "data.latents"), text)
    if 1 <= data.depth <= DEEPEST_TREE:
        environments = 2**data.depth if data.observed == "leaves" else 2 ** (data.depth + 1) - 2
        items = environments * (data.samples // 2)
        if 0 < items < run.trainer.batch_size:
            text = f"a seed has {items} training samples, less than one batch: lower trainer.batch_size"
            yield Problem(("trainer.batch_size", "data.samples", "data.depth"), text)


def _gtex(run: RunConfig) -> Iterator[Problem]:
    from sparseid.data.gtex.settings import faults

    for fault in faults(run.data):
        yield Problem(*fault)
    if isinstance(run.method, TBRConfig) and run.method.estimator != "joint":
        text = (
            f"method.estimator={run.method.estimator} compares pairs of types that are each other's nearest, and a "
            "tree of cell types has too few of them: write method.estimator=joint"
        )
        yield Problem(("method.estimator", "data.name"), text)


def _latent_walk(run: RunConfig) -> Iterator[Problem]:
    from sparseid.data.latent_walk.settings import faults

    for fault in faults(run.data, run.trainer.batch_size):
        yield Problem(*fault)
    yield from _labels_in_reach(run, run.data.box, "data.box")


def _arrays(run: RunConfig) -> Iterator[Problem]:
    from sparseid.data.arrays.reader import faults, largest_label  # NumPy

    for fault in faults(run.data, run.trainer.batch_size):
        yield Problem(*fault)
    yield from _labels_in_reach(run, largest_label(run.data), "data.path")


def _labels_in_reach(run: RunConfig, largest: float, source: str) -> Iterator[Problem]:
    """Yield that supervised outputs are bounded below what they should be; contrastive ones are no labels."""
    method = run.method
    if not isinstance(method, RegCLConfig) or method.training != "supervised" or method.head == "identity":
        return
    if largest > method.head_scale:
        bound = f"method.head_scale={method.head_scale:g}"
        text = f"labels reach {largest:g}, outputs are bounded by {bound}: raise it or write method.head=identity"
        yield Problem(("method.head_scale", "method.head", source), text)


def _tbr(run: RunConfig) -> Iterator[Problem]:
    method: TBRConfig = run.method
    yield from one_of(method, "method.", variant=("tbr", "baseline"), estimator=("joint", "two_stage", "warm_start"))
    yield from one_of(method, "method.", latent_norm=("none", "in_penalty", "batchnorm"), penalty=("l1", "prox_l1"))
    yield from one_of(method, "method.", test_weights=("last", "best"))
    yield from between(method, "method.", 1, math.inf, "latents")
    yield from between(method, "method.", 0, math.inf, "slope", "root_weights_std", "penalty_weight")
    if not 0 < method.lr < math.inf:
        yield Problem(("method.lr",), "method.lr must be above 0")
    if min(method.hidden, default=1) < 1:
        yield Problem(("method.hidden",), "method.hidden lists the units of each hidden layer, at least 1")
    if method.variant == "baseline" and method.estimator != "joint":
        text = (
            f"the baseline has no deltas to make sparse: method.estimator={method.estimator} needs method.variant=tbr"
        )
        yield Problem(("method.variant", "method.estimator"), text)
    if (method.estimator == "warm_start") != (method.warm_up_samples > 0) or method.warm_up_samples < 0:
        text = "a warm start needs method.warm_up_samples above 0, the other estimators have none"
        yield Problem(("method.warm_up_samples", "method.estimator"), text)
    elif method.estimator == "warm_start":
        if not run.trainer.batch_size <= method.warm_up_samples < run.trainer.max_samples:
            text = "a warm start ends between the first batch and the last: mend method.warm_up_samples"
            yield Problem(("method.warm_up_samples", "trainer.max_samples", "trainer.batch_size"), text)
        if method.latent_norm == "batchnorm":
            text = "batch norm would undo the rotation of a warm start: write method.latent_norm=none or in_penalty"
            yield Problem(("method.latent_norm", "method.estimator"), text)
    if method.latent_norm != "none" and run.trainer.batch_size < 2:
        text = (
            "the scale of latents needs two samples or more: raise trainer.batch_size or write method.latent_norm=none"
        )
        yield Problem(("trainer.batch_size", "method.latent_norm"), text)


def _regcl(run: RunConfig) -> Iterator[Problem]:
    method: RegCLConfig = run.method
    yield from one_of(method, "method.", training=("supervised", "supervised_contrastive", "hybrid"))
    yield from one_of(method, "method.", width_from=("output", "latents"), head=("clip", "tanh", "identity"))
    yield from one_of(method, "method.", similarity=("euclidean", "cosine"), penalty_form=("code", "paper"))
    yield from one_of(method, "method.", penalty_estimator=("exact", "projection"))
    yield from between(method, "method.", 0, math.inf, "penalty_weight", "penalty_samples")
    yield from between(method, "method.", 0, 1, "ramp_on", "ramp_off")
    for name in ("head_scale", "temperature", "lr"):
        if not 0 < getattr(method, name) < math.inf:
            yield Problem((f"method.{name}",), f"method.{name} must be above 0")
    if method.ramp_on > method.ramp_off:
        text = "the penalty's weight ends its rise after it begins: make method.ramp_off at least method.ramp_on"
        yield Problem(("method.ramp_on", "method.ramp_off"), text)
    if method.penalty_samples > run.trainer.batch_size:
        text = (
            f"a batch has {run.trainer.batch_size} references: method.penalty_samples can be no more (0: all of them)"
        )
        yield Problem(("method.penalty_samples", "trainer.batch_size"), text)
    if method.training != "supervised" and run.trainer.batch_size == 1:
        text = "contrastive training needs others to tell apart: make trainer.batch_size at least 2"
        yield Problem(("trainer.batch_size", "method.training"), text)
    unbounded = method.head == "identity" and method.similarity == "euclidean" and not method.positive_in_denominator
    if unbounded and method.training != "supervised":
        text = (
            "without a bounded head this loss has no minimum and the embedding grows for ever: write method.head=clip "
            "or tanh, or method.positive_in_denominator=true"
        )
        yield Problem(("method.head", "method.positive_in_denominator"), text)
    if method.training != "hybrid" and getattr(run.data, "setting", "a") == "b":
        text = "in setting b the scored latents have no labels: only method.training=hybrid learns them, in time"
        yield Problem(("method.training", "data.setting"), text)
    if run.trainer.precision != "32":
        text = "squared distances and Jacobians of RegCL need single precision: write trainer.precision=32"
        yield Problem(("trainer.precision",), text)


CHECKS: dict[type, Callable[[RunConfig], Iterator[Problem]]] = {
    ArraysConfig: _arrays,
    DDLConfig: ddl_problems,
    DigitCircleConfig: _digit_circle,
    GtexConfig: _gtex,
    LatentWalkConfig: _latent_walk,
    RegCLConfig: _regcl,
    SparlingConfig: sparling_problems,
    SparseVAEConfig: sparse_vae_problems,
    TreeSimulationConfig: _tree_simulation,
    TBRConfig: _tbr,
}
"""The checks of each data set's and method's settings; what has none is only typed."""
