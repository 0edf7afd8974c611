"""Sparling's variants and baselines as runs: seconds each, whose numbers mean nothing."""

import json

import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.identity import row_keys
from sparseid.config.parents import parent_run
from sparseid.reporting.summary import finish_run
from sparseid.training.errors import RunError
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

SMALLEST = (
    *("experiment=digitcircle", "scale=smoke", "trainer=cpu", "trainer.max_samples=512"),
    *(f"method.evaluation.{further}_items=0" for further in ("perturbed", "binned", "single")),
)
RETRAINED = ("method.training=retrained", "trainer.max_samples=256", "method.retrained.source_samples=1024")
ALWAYS = {"e2ee", "exact_accuracy"}
OF_MAPS = ALWAYS | {"fpe", "fne", "ce", "density", "sparsity"}
OF_DENSITIES = OF_MAPS | {"target_density", "density_over_minimum"}
OF_KINDS = {"diagonal_share", "none_share", "other_channel_share", "row_share"}
"""Of figure 8, with the keys symbol and to."""


@pytest.fixture
def rows_of(tmp_path):
    def run(*overrides):
        cfg = compose([*SMALLEST, f"outputs={tmp_path}", *overrides])
        return read_rows(execute(cfg) / "result.json")

    return run


VARIANTS = {
    "sparling_mt": ((), OF_DENSITIES),
    "sparling_st": (("method.sparse.thresholds=single",), OF_DENSITIES),
    "non_sparse": (("method.schedule.target_fall_per_sample=0",), OF_DENSITIES),
    "no_bn_mt": (("method.sparse.batch_norm=none",), OF_DENSITIES),
    "no_bn_st": (("method.sparse.batch_norm=none", "method.sparse.thresholds=single"), OF_DENSITIES),
    "no_annealing": (("method.schedule.start_density=0.0675",), OF_DENSITIES),
    "l1": (("method.sparse.kind=l1", "method.sparse.penalty_weight=0.1"), OF_MAPS | {"val_exact_accuracy"}),
    "kl": (("method.sparse.kind=kl", "method.sparse.penalty_weight=10"), OF_MAPS | {"val_exact_accuracy"}),
    "direct": (("method.training=direct",), {"direct_error"}),
}
VARIED = {"no_annealing": {"start": "final"}, "l1": {"lambda": 0.1}, "kl": {"lambda": 10}}


@pytest.mark.parametrize("method", VARIANTS)
def test_a_variant_is_trained_and_its_rows_have_the_published_names(rows_of, method, tmp_path):
    overrides, metrics = VARIANTS[method]
    rows = [row for row in rows_of(*overrides) if row.keys["steps_above"] == 0]
    if method in ("direct", "l1"):  # other arrays than those of a Sparling run: the report draws what there is
        finish_run(next(tmp_path.glob(f"smoke/sparling/digitcircle-{method}-*")), page=False)
    kinds = [row for row in rows if "symbol" in row.keys]
    assert {row.metric for row in kinds} == (OF_KINDS if metrics is OF_DENSITIES else set())
    assert {row.keys["symbol"] for row in kinds} <= {"0", "1", "2", "none"}
    rows = [row for row in rows if row not in kinds]
    assert {row.metric for row in rows} == metrics
    keys = {"domain": "digitcircle", "method": method, "steps_above": 0, **VARIED.get(method, {})}
    assert all(row.keys == keys for row in rows)
    assert all(row.value is not None and row.n > 0 for row in rows if row.metric in ALWAYS | {"density"})


def test_a_penalised_run_ends_when_its_accuracy_first_exceeds_the_target(tmp_path):
    cfg = compose([*SMALLEST, f"outputs={tmp_path}", *VARIANTS["l1"][0], "method.schedule.target_fall_per_sample=1"])
    folder = execute(cfg)  # the target is 0 at the first check, and the accuracy hardly so
    [milestone] = (folder / "checkpoints" / "milestones").iterdir()
    samples = (folder / "metrics.csv").read_text().splitlines()[-1].split(",")[1]
    assert milestone.name == "density-00.ckpt"
    assert int(samples) < 512


def test_further_evaluations(rows_of):
    rows = rows_of(
        "method.evaluation.binned_items=40",
        "method.evaluation.single_items=50",
        "method.evaluation.perturbed_items=5",
        "trainer.max_samples=1024",
    )
    densities = {row.keys["steps_above"] for row in rows}
    binned = {(row.keys["steps_above"], row.keys["bins"]): row for row in rows if row.metric == "binning_delta"}
    assert set(binned) == {(step, bins) for step in densities for bins in (2, 4, 8, 16)}
    assert {row.n for row in binned.values()} == {40}
    for metric in ("direct_error", "perturbation_accuracy"):
        [row] = [row for row in rows if row.metric == metric]
        assert row.keys == {"domain": "digitcircle", "method": "sparling_mt", "steps_above": 0}
        assert row.value is None or 0 <= row.value <= 100


def test_retrained_starts_from_the_run_it_needs_and_leaves_the_encoder_as_it_is(tmp_path, rows_of, capsys):
    cfg = compose([*SMALLEST, f"outputs={tmp_path}", *RETRAINED])
    assert row_keys(cfg) == {"domain": "digitcircle", "method": "retrained"}
    with pytest.raises(RunError, match=r"it does not exist yet.*method.training=sparling.*trainer.max_samples=1024"):
        execute(cfg)
    source = execute(parent_run(cfg))
    assert json.loads((source / "status.json").read_text())["state"] == "done"
    rows = rows_of(*RETRAINED)
    assert {row.metric for row in rows} == ALWAYS
    assert {row.keys["steps_above"] for row in rows} == {0}
    [folder] = source.parent.glob("digitcircle-retrained*")
    finish_run(folder, page=False)
    said = capsys.readouterr().out
    name = said.split("starting from ")[1].split("\n")[0]
    assert name.startswith(str(source / "checkpoints" / "milestones"))
    before, after = (torch.load(path)["state_dict"] for path in (name, folder / "checkpoints" / "last.ckpt"))
    same = {key: torch.equal(before[key], after[key]) for key in after}
    moving = ("running_mean", "running_var", "num_batches_tracked")
    of_encoder = {key: kept for key, kept in same.items() if key.startswith("encoder.")}
    assert all(kept != key.endswith(moving) for key, kept in of_encoder.items()), (
        "only the batch norm's statistics move"
    )
    assert not any(kept for key, kept in same.items() if key.startswith("decoder."))


def test_retrained_takes_the_density_asked_for_or_the_nearest_above(tmp_path):
    from sparseid.training.build import build_data, build_module

    def starting(steps_above):
        cfg = compose([*SMALLEST, "method.training=retrained", f"method.retrained.steps_above={steps_above}"])
        return build_module(cfg, build_data(cfg)).starting_weights(tmp_path)

    assert starting(0) is None
    milestones = tmp_path / "checkpoints" / "milestones"
    milestones.mkdir(parents=True)
    for cuts in (0, 1):  # of the three densities of this scale
        (milestones / f"density-{cuts:02d}.ckpt").touch()
    assert starting(0).name == "density-01.ckpt"
    assert starting(1).name == "density-01.ckpt"
    assert starting(2).name == "density-00.ckpt"
