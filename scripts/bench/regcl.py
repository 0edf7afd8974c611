"""RegCL: Jacobian penalty against torch.func, a training step against the PyPI package `cebra` (extra `peers`)."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch
from timing import optimiser_steps, report, seconds
from torch import Tensor
from torch.func import jacrev, vmap
from torch.nn.functional import gelu, hardtanh

from sparseid.config.compose import compose
from sparseid.data.latent_walk.datamodule import LatentWalkData
from sparseid.methods.regcl.encoder import StackedEncoder
from sparseid.methods.regcl.module import RegCLModule
from sparseid.methods.regcl.penalty import exact_penalty, penalty_terms
from sparseid.printing import protect_output
from sparseid.stacking.members import generators
from sparseid.training.build import run_numbers

BATCH, FEATURES, TRAINING_SAMPLES = 2048, 50, 20_000
STACK = 4
"""Number of members of the stack whose penalty is compared with torch.func's."""
MEMBERS = 10
"""Number of members of the stack whose training step is compared with that of one."""
REPEATS = 5
Work = dict[str, Callable[[], object]]


def penalty_work(members: int, latents: int = 8) -> Work:
    """Return ours and torch.func's penalty of a stack, forward and backward, after a check that they agree."""
    encoder = StackedEncoder(FEATURES, latents, latents, generators(range(members), "init"))
    inputs = torch.randn(members, BATCH, FEATURES, generator=torch.Generator().manual_seed(0))
    terms = penalty_terms([slice(0, latents)], latents, "code")
    parameters = list(encoder.parameters())
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))  # weight and bias of each map

    def encode(maps: list[tuple[Tensor, Tensor]], sample: Tensor) -> Tensor:
        *hidden, last = maps
        for weight, bias in hidden:
            sample = gelu(sample @ weight + bias)
        return hardtanh(sample @ last[0] + last[1], -5.0, 5.0)

    jacobian = vmap(jacrev(encode, argnums=1), in_dims=(None, 0))  # of one member
    stacked = vmap(jacobian)

    def ours() -> list[Tensor]:
        penalty = exact_penalty(encoder, encoder.trace(inputs), terms).sum()
        return list(torch.autograd.grad(penalty, encoder.weights))

    def theirs() -> list[Tensor]:
        if members == 1:
            squares = jacobian([(weight[0], bias[0, 0]) for weight, bias in pairs], inputs[0]).square()
        else:
            squares = stacked([(weight, bias[:, 0]) for weight, bias in pairs], inputs).square()
        return list(torch.autograd.grad(0.5 * squares.sum() / BATCH, encoder.weights))

    torch.testing.assert_close(ours(), theirs(), rtol=1e-3, atol=1e-6)
    return {"ours": ours, "torch.func.jacrev": theirs}


def stack_step(seeds: list[int], *overrides: str) -> Callable[[], None]:
    """Return a function that performs the next optimiser step of a regularised hybrid stack."""
    module, data = prepared(seeds, *overrides)
    return optimiser_steps(module, data)


def prepared(seeds: list[int], *overrides: str) -> tuple[RegCLModule, LatentWalkData]:
    """Return the published model of six latents at the size measured here, with an active penalty, and its data."""
    cfg = compose(
        [
            *("experiment=regcl/table1", "scale=paper", "hydra.mode=RUN", "method.training=hybrid"),
            *("data.latents=6", f"data.samples={TRAINING_SAMPLES * 10 // 9 + 1}", "data.held_out=0.1"),
            *(f"trainer.batch_size={BATCH}", "method.penalty_weight=0.1", "method.ramp_on=0", "method.ramp_off=0"),
            *overrides,
        ]
    )
    data = LatentWalkData(cfg.data, seeds, BATCH)
    module = RegCLModule.from_settings(cfg.method, data, run_numbers(cfg)).train()
    data.setup()
    return module, data


def peer_step(data: LatentWalkData, projections: int) -> Callable[[], object]:
    """Return a function that draws a batch and performs a step of the same model with cebra's multi-objective solver.

    Parameters
    ----------
    data
        Data of one member.
    projections
        Number of random directions of the penalty; -1 for the exact penalty.
    """
    import cebra
    from cebra.models.jacobian_regularizer import JacobianReg

    series = data.train
    dataset = cebra.data.DatasetxCEBRA(neural=series.inputs[0], z2=series.labels[0])
    loader = cebra.data.ContrastiveMultiObjectiveLoader(dataset=dataset, num_steps=1, batch_size=BATCH)
    objectives = cebra.solver.MultiObjectiveConfig(loader)
    first, last = data.label_rows.start, data.label_rows.stop
    for rows, name, settings in (
        ((0, data.latents), "time", {"time_offset": 1}),
        ((first, last), "time_delta", {"time_delta": 1, "label_name": "z2"}),
    ):
        objectives.set_slice(*rows)
        objectives.set_loss("FixedEuclideanInfoNCE", temperature=1.0)
        objectives.set_distribution(name, **settings)
        objectives.push()
    objectives.finalize()
    model = cebra.models.init("offset1-model-mse-clip-5-5", num_neurons=FEATURES, num_units=1, num_output=data.latents)
    dataset.configure_for(model)
    solver: Any = cebra.solver.init(
        "multiobjective-solver",
        model=model,
        criterion=objectives.criterion,
        optimizer=torch.optim.Adam(model.parameters(), lr=3e-4),
        feature_ranges=objectives.feature_ranges,
        renormalize=False,
        regularizer=JacobianReg(n=projections),
        tqdm_on=False,
    )
    solver.model.train()

    def step() -> object:
        batch = dataset.load_batch_contrastive(loader.get_indices(BATCH))
        return solver.step(batch, weights_regularizer=[0.1, 0.1])

    return step


def peer_work() -> Work:
    """Return ours and cebra's training step with the exact penalty, and with one projection."""
    ours = {"ours, exact": "exact", "ours, projection": "projection"}
    work: Work = {name: stack_step([0], f"method.penalty_estimator={kind}") for name, kind in ours.items()}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        data = prepared([0])[1]
        work |= {"cebra, exact": peer_step(data, -1), "cebra, projection": peer_step(data, 1)}
    return work


def timed(title: str, work: Work, ratios: dict[str, tuple[str, str]]) -> tuple[str, dict[str, float]]:
    """Return a line and the values: ms of each piece of work, and the ratios of two of them."""
    times = {name: 1e3 * value for name, value in seconds(work, REPEATS).items()}
    quotients = {name: times[above] / times[below] for name, (above, below) in ratios.items()}
    parts = [*(f"{name} {ms:.1f}" for name, ms in times.items()), *(f"{n} {q:.1f}" for n, q in quotients.items())]
    return f"  {title:34s}" + "   ".join(parts), times | quotients


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    faster = {"ratio": ("torch.func.jacrev", "ours")}
    peers = {f"ratio, {kind}": (f"cebra, {kind}", f"ours, {kind}") for kind in ("exact", "projection")}
    members: Work = {"one member": stack_step([0]), "stack": stack_step(list(range(MEMBERS)))}
    measured = {
        "penalty, one member": timed("exact penalty, d = 8, one member", penalty_work(1), faster),
        "penalty, stack": timed(f"exact penalty, d = 8, {STACK} members", penalty_work(STACK), faster),
        **({"step": timed("training step, d = 6", peer_work(), peers)} if find_spec("cebra") else {}),
        "members": timed(f"training step, {MEMBERS} members", members, {"stack / one": ("stack", "one member")}),
    }
    title = f"RegCL, ms on one CPU thread: batch {BATCH}, {FEATURES} features, {TRAINING_SAMPLES} training samples"
    lines = [title, *(line for line, _ in measured.values())]
    if "step" not in measured:
        lines.append("  not compared with cebra: pip install '.[peers]' (make bench does it)")
    report("regcl", lines, {name: values for name, (_, values) in measured.items()} | {"members": MEMBERS})
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
