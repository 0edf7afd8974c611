"""The style of docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
CLAUSE = re.compile(r"(What|Which|How|Where|When|Who|Whether)\b")
"""Beginning of a clause; a summary line is an imperative or a noun phrase."""

NOT_YET = {
    "sparseid/config/cells.py",
    "sparseid/config/diagnose.py",
    "sparseid/config/identity.py",
    "sparseid/config/origin.py",
    "sparseid/config/schema.py",
    "sparseid/config/sweep.py",
    "sparseid/data/contrastive.py",
    "sparseid/data/feature_matrix.py",
    "sparseid/data/mlp_mixture/settings.py",
    "sparseid/data/movielens/settings.py",
    "sparseid/methods/ddl/evaluation.py",
    "sparseid/methods/regcl/evaluation.py",
    "sparseid/methods/sparling/perturbation.py",
    "sparseid/methods/sparling/single_motifs.py",
    "sparseid/methods/sparse_vae/evaluation.py",
    "sparseid/methods/tbr/evaluation.py",
    "sparseid/methods/tbr/module.py",
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
