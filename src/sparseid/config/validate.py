"""Settings that cannot work, found before anything heavy is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.config.schema import DigitCircleConfig, RunConfig, SparlingConfig, TrainerConfig
from sparseid.errors import InputError


@dataclass(frozen=True)
class Problem:
    """One thing that cannot work: the dotted keys that clash, and why, with what to do."""

    keys: tuple[str, ...]
    text: str


def problems(run: RunConfig) -> list[Problem]:
    """Return everything that makes `run` impossible, most general first; empty if it can be run.

    What a data set can be, it knows itself: it is asked, and so are the files it reads.
    """
    found = [*_root(run), *_trainer(run.trainer)]
    for settings in (run.data, run.method):
        if check := CHECKS.get(type(settings)):
            found.extend(check(run))
    return found


def one_of(settings: Any, prefix: str, **allowed: tuple[Any, ...]) -> Iterator[Problem]:
    """Yield the fields of `settings` whose value is not among the allowed ones."""
    for name, values in allowed.items():
        if getattr(settings, name) not in values:
            yield Problem((f"{prefix}{name}",), f"{prefix}{name} must be {' or '.join(map(str, values))}")


def between(
    settings: Any, prefix: str, low: float, high: float, *names: str, open_ends: bool = False
) -> Iterator[Problem]:
    """Yield the fields of `settings` outside [low, high], or outside (low, high); NaN is always outside."""
    for name in names:
        value = getattr(settings, name)
        if not (low < value < high if open_ends else low <= value <= high) or math.isinf(value):
            bounds = (
                f"at least {low}"
                if high == math.inf and not open_ends
                else f"{'strictly ' if open_ends else ''}between {low} and {high}"
            )
            yield Problem((f"{prefix}{name}",), f"{prefix}{name} must be {bounds}")


def _root(run: RunConfig) -> Iterator[Problem]:
    yield from between(run, "", 0, math.inf, "seed")
    yield from one_of(run.logger, "logger.", name=("csv", "wandb"), mode=("auto", "online", "offline"))
    if not run.outputs.strip():
        yield Problem(("outputs",), "outputs must name a folder")


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


def _sparling(run: RunConfig) -> Iterator[Problem]:
    method: SparlingConfig = run.method
    encoder, sparse, decoder, schedule = method.encoder, method.sparse, method.decoder, method.schedule
    yield from between(encoder, "method.encoder.", 1, math.inf, "width", "blocks", "stride")
    if encoder.stem_kernel < 1 or encoder.stem_kernel % 2 == 0:
        text = "method.encoder.stem_kernel must be odd: an even kernel has no centre pixel"
        yield Problem(("method.encoder.stem_kernel",), text)

    yield from one_of(
        sparse, "method.sparse.", thresholds=("per_channel", "single"), batch_norm=("affine", "plain", "none")
    )
    yield from between(sparse, "method.sparse.", 0, 1, "momentum")
    yield from between(sparse, "method.sparse.", 0, math.inf, "accumulate_motifs")

    yield from one_of(decoder, "method.decoder.", positions=("rows_lstm", "grid"))
    names = ("width", "pool", "encoder_layers", "decoder_layers", "heads", "feedforward")
    yield from between(decoder, "method.decoder.", 1, math.inf, *names)
    yield from between(decoder, "method.decoder.", 0, 1, "dropout")
    if decoder.heads > 0 and decoder.width % decoder.heads:
        keys = ("method.decoder.width", "method.decoder.heads")
        yield Problem(
            keys,
            "every attention head has the same width: make method.decoder.width a multiple of method.decoder.heads",
        )

    if decoder.positions == "rows_lstm" and decoder.width % 2:
        text = "the two directions of the LSTM share method.decoder.width: make it even"
        yield Problem(("method.decoder.width", "method.decoder.positions"), text)
    side = map_side(run)
    if side and 1 <= side < decoder.pool:
        text = f"the motif map is {side} cells wide, less than one pooling window: lower method.decoder.pool"
        yield Problem(("method.decoder.pool", "method.encoder.stride", "data.canvas"), text)

    betas = method.optimizer.betas
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        yield Problem(("method.optimizer.betas",), "method.optimizer.betas must be two numbers in [0, 1)")
    yield from between(method.optimizer, "method.optimizer.", 0, math.inf, "lr", "warmup_steps", "clip_norm")
    yield from between(method.evaluation, "method.evaluation.", 1, math.inf, "items", "curve_items", "decode_steps")
    if method.evaluation.decode_steps <= getattr(run.data, "max_digits", 0):
        keys = ("method.evaluation.decode_steps", "data.max_digits")
        yield Problem(
            keys, "the longest label and its end token do not fit into method.evaluation.decode_steps tokens: raise it"
        )
    yield from _density_schedule(run, schedule.start_density, schedule.min_density)


def _density_schedule(run: RunConfig, start: float, minimum: float) -> Iterator[Problem]:
    schedule, prefix = run.method.schedule, "method.schedule."
    yield from between(schedule, prefix, 0, 1, "start_density", "min_density", "cut_factor", open_ends=True)
    yield from between(schedule, prefix, 0, math.inf, "target_fall_per_sample")
    yield from between(schedule, prefix, 1, math.inf, "check_every", "check_items")
    yield from between(schedule, prefix, 0, math.inf, "restart_after")
    yield from between(schedule, prefix, 0, 1, "min_target", "restart_below")
    if start < minimum:
        yield Problem(
            (f"{prefix}start_density", f"{prefix}min_density"),
            "the density only ever falls: start_density must be at least min_density",
        )
    if run.trainer.batch_size > 0 and schedule.check_every % run.trainer.batch_size:
        text = f"validation comes between two batches: make {prefix}check_every a multiple of trainer.batch_size"
        yield Problem((f"{prefix}check_every", "trainer.batch_size"), text)
    side = map_side(run)
    if side is None:
        return
    rows = run.trainer.batch_size * side**2
    if not run.method.sparse.accumulate_motifs and 0 < minimum * rows < 1:
        text = (
            f"a batch has {rows} positions (batch x map side {side} squared): the density {minimum:g} leaves less than "
            f"one active entry per channel and no threshold. Raise {prefix}min_density to {1 / rows:.3g} or more, "
            "enlarge trainer.batch_size, or gather batches with method.sparse.accumulate_motifs=10"
        )
        yield Problem((f"{prefix}min_density", "trainer.batch_size", "method.encoder.stride", "data.canvas"), text)


def map_side(run: RunConfig) -> int | None:
    """Return the side of the motif map in cells; None where data or stride do not say."""
    if run.method.encoder.stride < 1 or not hasattr(run.data, "canvas"):
        return None
    return math.ceil(run.data.canvas / run.method.encoder.stride)


CHECKS: dict[type, Callable[[RunConfig], Iterator[Problem]]] = {
    DigitCircleConfig: _digit_circle,
    SparlingConfig: _sparling,
}
"""The checks of each data set's and method's settings; what has none is only typed."""
