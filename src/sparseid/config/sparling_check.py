"""What settings of Sparling cannot be."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sparseid.config.problems import Problem, between, one_of
from sparseid.methods.sparling.densities import cuts_above

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig, SparlingConfig


def sparling_problems(run: RunConfig) -> Iterator[Problem]:
    """Yield what makes the settings of Sparling impossible, by themselves or with the data."""
    method: SparlingConfig = run.method
    encoder, sparse, decoder, schedule = method.encoder, method.sparse, method.decoder, method.schedule
    yield from between(encoder, "method.encoder.", 1, math.inf, "width", "blocks", "stride")
    yield from between(encoder, "method.encoder.", 0, math.inf, "channels")
    if encoder.stem_kernel < 1 or encoder.stem_kernel % 2 == 0:
        text = "method.encoder.stem_kernel must be odd: an even kernel has no centre pixel"
        yield Problem(("method.encoder.stem_kernel",), text)

    yield from one_of(method, "method.", training=("sparling", "retrained", "direct"))
    yield from one_of(
        sparse, "method.sparse.", thresholds=("per_channel", "single"), batch_norm=("affine", "plain", "none")
    )
    yield from _variant(run)
    yield from between(sparse, "method.sparse.", 0, 1, "momentum")
    yield from between(sparse, "method.sparse.", 0, math.inf, "accumulate_motifs")

    yield from one_of(decoder, "method.decoder.", positions=("rows_lstm", "frames", "grid"))
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
    yield from _map(run)

    betas = method.optimizer.betas
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        yield Problem(("method.optimizer.betas",), "method.optimizer.betas must be two numbers in [0, 1)")
    yield from between(method.optimizer, "method.optimizer.", 0, math.inf, "lr", "warmup_steps", "clip_norm")
    yield from between(method.evaluation, "method.evaluation.", 1, math.inf, "items", "curve_items", "decode_steps")
    further = ("perturbed_items", "binned_items", "single_items")
    yield from between(method.evaluation, "method.evaluation.", 0, math.inf, *further)
    yield from one_of(method.evaluation, "method.evaluation.", channel_map=("one_to_one", "many_to_one"))
    steps = method.evaluation.decode_steps
    if steps <= getattr(run.data, "max_digits", 0):
        keys = ("method.evaluation.decode_steps", "data.max_digits")
        yield Problem(
            keys, "the longest label and its end token do not fit into method.evaluation.decode_steps tokens: raise it"
        )
    if steps < getattr(run.data, "longest", 0):  # as published, formulas of 30 tokens are decoded in 30 steps
        text = "the longest formula does not fit into method.evaluation.decode_steps tokens: raise it"
        yield Problem(("method.evaluation.decode_steps", "data.longest"), text)
    yield from _density_schedule(run, schedule.start_density, schedule.min_density)


def _variant(run: RunConfig) -> Iterator[Problem]:
    """Yield what settings of a baseline cannot be together."""
    method = run.method
    sparse, retrained = method.sparse, method.retrained
    yield from one_of(sparse, "method.sparse.", kind=("threshold", "l1", "kl"))
    yield from between(sparse, "method.sparse.", 0, math.inf, "penalty_weight")
    yield from between(retrained, "method.retrained.", 0, math.inf, "source_samples", "steps_above")
    if sparse.kind == "threshold" and sparse.penalty_weight:
        text = (
            "a threshold needs no penalty: leave method.sparse.penalty_weight 0, or write method.sparse.kind=l1 or kl"
        )
        yield Problem(("method.sparse.penalty_weight", "method.sparse.kind"), text)
    if sparse.kind != "threshold" and method.training != "sparling":
        text = f"method.training={method.training} has no sparse layer: leave method.sparse.kind=threshold"
        yield Problem(("method.sparse.kind", "method.training"), text)
    if sparse.thresholds == "single" and sparse.kind != "threshold":
        text = f"method.sparse.kind={sparse.kind} has no thresholds: leave method.sparse.thresholds=per_channel"
        yield Problem(("method.sparse.thresholds", "method.sparse.kind"), text)
    if sparse.thresholds == "single" and sparse.accumulate_motifs:
        text = "rows are gathered for a threshold per channel only: write method.sparse.accumulate_motifs=0"
        yield Problem(("method.sparse.thresholds", "method.sparse.accumulate_motifs"), text)
    if method.training != "retrained" and (retrained.source_samples or retrained.steps_above):
        text = "method.retrained says where method.training=retrained starts from: write that, or leave it 0"
        yield Problem(("method.retrained.source_samples", "method.retrained.steps_above", "method.training"), text)
    if 0 < retrained.source_samples < run.trainer.batch_size:
        text = "not even one batch of the run to start from would be trained: raise method.retrained.source_samples"
        yield Problem(("method.retrained.source_samples", "trainer.batch_size"), text)
    if method.training == "retrained" and not method.schedule.target_fall_per_sample:
        text = "the run to start from would never cut its density: make method.schedule.target_fall_per_sample positive"
        yield Problem(("method.schedule.target_fall_per_sample", "method.training"), text)
    yield from _retrained_density(run)


def _retrained_density(run: RunConfig) -> Iterator[Problem]:
    """Yield it if Retrained is to start from a density that its Sparling run does not pass."""
    schedule, above = run.method.schedule, run.method.retrained.steps_above
    if not (0 < schedule.min_density <= schedule.start_density and 0 < schedule.cut_factor < 1):
        return
    cuts = cuts_above(schedule.min_density, schedule.start_density, schedule.cut_factor)
    if above > cuts:
        text = f"the run to start from cuts its density {cuts} times at most: lower method.retrained.steps_above"
        keys = ("method.retrained.steps_above", "method.schedule.start_density", "method.schedule.min_density")
        yield Problem(keys, text)


def _map(run: RunConfig) -> Iterator[Problem]:
    """Yield what decoder and motif map cannot be together."""
    decoder = run.method.decoder
    sound = run.data.spatial[1] == 1
    if (decoder.positions == "frames" and not sound) or (decoder.positions == "rows_lstm" and sound):
        fitting = "frames or grid" if sound else "rows_lstm or grid"
        text = f"{run.data.name} has {'frames and no rows' if sound else 'rows and no frames'}: positions are {fitting}"
        yield Problem(("method.decoder.positions", "data.name"), text)
    if run.method.encoder.stride < 1:
        return
    cells = map_cells(run)
    side = cells[0] if sound else min(cells)
    if 1 <= side < decoder.pool:
        what = "long" if sound else "wide" if side == cells[1] else "high"
        text = f"the motif map is {side} cells {what}, less than one pooling window: lower method.decoder.pool"
        yield Problem(("method.decoder.pool", "method.encoder.stride", *_size_keys(run)), text)


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
    if run.method.encoder.stride < 1:
        return
    rows = run.trainer.batch_size * math.prod(map_cells(run))
    if not run.method.sparse.accumulate_motifs and 0 < minimum * rows < 1:
        text = (
            f"a batch has {rows} positions (batch x cells of the motif map): the density {minimum:g} leaves less than "
            f"one active entry per channel and no threshold. Raise {prefix}min_density to {1 / rows:.3g} or more, "
            "enlarge trainer.batch_size, or gather batches with method.sparse.accumulate_motifs=10"
        )
        yield Problem((f"{prefix}min_density", "trainer.batch_size", "method.encoder.stride", *_size_keys(run)), text)


def map_cells(run: RunConfig) -> tuple[int, int]:
    """Return height and width of the motif map in cells; the width is 1 for sounds."""
    height, width = run.data.spatial
    stride = run.method.encoder.stride
    return math.ceil(height / stride), math.ceil(width / stride)


def _size_keys(run: RunConfig) -> list[str]:
    """Return the settings that the size of the inputs comes from."""
    return [f"data.{field.name}" for field in dataclasses.fields(run.data) if field.metadata.get("spatial")]
