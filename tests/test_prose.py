"""The style of docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
CLAUSE = re.compile(r"(What|Which|How|Where|When|Who|Whether)\b")
"""Beginning of a clause; a summary line is an imperative or a noun phrase."""

NOT_YET = {
    "sparseid/launching/cell.py",
    "sparseid/launching/estimate.py",
    "sparseid/launching/kept.py",
    "sparseid/launching/launch.py",
    "sparseid/launching/machine.py",
    "sparseid/launching/overview.py",
    "sparseid/launching/plan.py",
    "sparseid/launching/slurm/job.py",
    "sparseid/launching/slurm/launch.py",
    "sparseid/launching/slurm/queue.py",
    "sparseid/launching/slurm/settings.py",
    "sparseid/papers/aggregation.py",
    "sparseid/papers/artefact.py",
    "sparseid/papers/ddl/artefacts.py",
    "sparseid/papers/paper.py",
    "sparseid/papers/presets.py",
    "sparseid/papers/regcl/artefacts.py",
    "sparseid/papers/sparling/run_pictures.py",
    "sparseid/papers/sparse_vae/artefacts.py",
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
