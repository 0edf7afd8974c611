"""The layout that src/sparseid/README.md describes: who imports whom, what starts without torch."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

PROJECT = Path(__file__).resolve().parents[1]


def test_imports_keep_the_contracts(tmp_path, capsys):
    status = lint_imports(str(PROJECT / "pyproject.toml"), cache_dir=str(tmp_path), no_logo=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize(
    "modules",
    [
        "sparseid.launching.main, sparseid.launching.one_run, sparseid.launching.launch",
        "sparseid.config.sweep, sparseid.config.stored, sparseid.config.validate, sparseid.config.identity",
        "sparseid.training.run, sparseid.data.digit_circle.generator, sparseid.reporting.summary",
    ],
)
def test_what_answers_at_once_loads_no_torch(modules):
    code = f"import sys, {modules}; print([name for name in ('torch', 'pytorch_lightning') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
