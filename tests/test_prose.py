"""The style of docstrings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
CLAUSE = re.compile(r"(What|Which|How|Where|When|Who|Whether)\b")
"""Beginning of a clause; a summary line is an imperative or a noun phrase."""


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
        for line, summary in summaries(path)
        if CLAUSE.match(summary)
    ]
    assert clauses == []
