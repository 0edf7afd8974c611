"""The style of docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
CLAUSE = re.compile(r"(What|Which|How|Where|When|Who|Whether)\b")
"""Beginning of a clause; a summary line is an imperative or a noun phrase."""

NOT_YET = {
    "sparseid/__init__.py",
    "sparseid/config/audio_mnist_sequence.py",
    "sparseid/config/cells.py",
    "sparseid/config/choices.py",
    "sparseid/config/data_sets.py",
    "sparseid/config/ddl.py",
    "sparseid/config/diagnose.py",
    "sparseid/config/gtex.py",
    "sparseid/config/identity.py",
    "sparseid/config/latent_walk.py",
    "sparseid/config/mlp_mixture.py",
    "sparseid/config/movielens.py",
    "sparseid/config/needs.py",
    "sparseid/config/origin.py",
    "sparseid/config/peerread.py",
    "sparseid/config/problems.py",
    "sparseid/config/regcl.py",
    "sparseid/config/schema.py",
    "sparseid/config/sparling_check.py",
    "sparseid/config/sparse_vae.py",
    "sparseid/config/sweep.py",
    "sparseid/config/tbr.py",
    "sparseid/config/zeisel.py",
    "sparseid/data/audio_mnist_sequence/settings.py",
    "sparseid/data/contrastive.py",
    "sparseid/data/environments.py",
    "sparseid/data/feature_matrix.py",
    "sparseid/data/gtex/settings.py",
    "sparseid/data/kept.py",
    "sparseid/data/latent_walk/settings.py",
    "sparseid/data/latex_ocr/settings.py",
    "sparseid/data/mlp_mixture/settings.py",
    "sparseid/data/movielens/settings.py",
    "sparseid/data/peerread/settings.py",
    "sparseid/data/peerread_shift/settings.py",
    "sparseid/data/places.py",
    "sparseid/data/seven_features/settings.py",
    "sparseid/data/zeisel/settings.py",
    "sparseid/densities.py",
    "sparseid/launching/cell.py",
    "sparseid/launching/estimate.py",
    "sparseid/launching/kept.py",
    "sparseid/launching/launch.py",
    "sparseid/launching/machine.py",
    "sparseid/launching/overview.py",
    "sparseid/launching/plan.py",
    "sparseid/launching/reproduce.py",
    "sparseid/launching/slurm/job.py",
    "sparseid/launching/slurm/launch.py",
    "sparseid/launching/slurm/queue.py",
    "sparseid/launching/slurm/settings.py",
    "sparseid/methods/ddl/evaluation.py",
    "sparseid/methods/regcl/evaluation.py",
    "sparseid/methods/sparling/binned.py",
    "sparseid/methods/sparling/evaluation.py",
    "sparseid/methods/sparling/exchange_arrays.py",
    "sparseid/methods/sparling/perturbation.py",
    "sparseid/methods/sparling/single_motifs.py",
    "sparseid/methods/sparse_vae/evaluation.py",
    "sparseid/methods/tbr/evaluation.py",
    "sparseid/methods/tbr/module.py",
    "sparseid/papers/artefact.py",
    "sparseid/papers/claims.py",
    "sparseid/papers/convention.py",
    "sparseid/papers/ddl/artefacts.py",
    "sparseid/papers/names.py",
    "sparseid/papers/presets.py",
    "sparseid/papers/regcl/artefacts.py",
    "sparseid/papers/regcl/beside.py",
    "sparseid/papers/regcl/study_text.py",
    "sparseid/papers/registry.py",
    "sparseid/papers/sparling/claims_evaluations.py",
    "sparseid/papers/sparling/meanings.py",
    "sparseid/papers/sparse_vae/artefacts.py",
    "sparseid/papers/sparse_vae/features.py",
    "sparseid/papers/targets.py",
    "sparseid/papers/tbr/figures.py",
    "sparseid/reporting/__init__.py",
    "sparseid/reporting/collect.py",
    "sparseid/reporting/content.py",
    "sparseid/reporting/provenance.py",
    "sparseid/reporting/seconds.py",
    "sparseid/reporting/sections.py",
    "sparseid/reporting/summary.py",
    "sparseid/reporting/tables.py",
    "sparseid/reporting/verdicts.py",
    "sparseid/training/build.py",
    "sparseid/training/environment.py",
    "sparseid/training/preemption.py",
    "sparseid/training/run_folder.py",
    "sparseid/training/runtime.py",
}
"""Files that still have such summary lines; entries may only be removed."""


def summaries(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line number and first line of every docstring in a file, those of constants and fields included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip().partition("\n")[0]


def test_summary_lines_are_imperatives_or_noun_phrases():
    paths = sorted(SOURCE.rglob("*.py"))
    assert paths
    clauses = [
        f"{path.relative_to(SOURCE)}:{line}: {summary}"
        for path in paths
        if path.relative_to(SOURCE).as_posix() not in NOT_YET
        for line, summary in summaries(path)
        if CLAUSE.match(summary)
    ]
    assert clauses == []
