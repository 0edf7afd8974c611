"""The help of ``make``, and its error without a usable Python."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]


def make(*arguments, folder=PROJECT):
    # as typed: these tests may themselves be run by make, which passes its settings on
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, timeout=60, env=environment)


def test_make_lists_every_target_in_one_line_each():
    listed = make().stdout.splitlines()
    phony = re.search(r"^\.PHONY: (.*)$", (PROJECT / "Makefile").read_text(), re.M).group(1).split()
    assert [line.split()[0] for line in listed] == phony
    assert all(re.fullmatch(r"[a-z-]+ +\S.*", line) for line in listed)


@pytest.mark.parametrize(
    ("answer", "said"), [("exit 1", "is no Python that runs"), ("", "is no Python that runs"), ("echo False", "older")]
)
def test_wrong_python_is_named_with_what_to_do(tmp_path, answer, said):
    shutil.copy(PROJECT / "Makefile", tmp_path)
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    done = make(f"PYTHON={python}", "report", folder=tmp_path)
    assert done.returncode == 2
    first, second = done.stdout.splitlines()
    assert str(python) in first
    assert said in first
    assert second == "Use: make PYTHON=/path/to/python3.11 report"
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["plan"], "scripts/plan.py --scale small"),
        (["plan", "SCALE=paper", "EXPERIMENT=sparling/fig3"], "scripts/plan.py --scale paper experiment=sparling/fig3"),
        (["reproduce-all"], "scripts/reproduce.py --scale small --launcher local"),
        (
            ["reproduce-all", "SCALE=paper", "LAUNCHER=slurm", "ARGS=hydra.launcher.partition=gpu", "FORCE=1"],
            "scripts/reproduce.py --scale paper --launcher slurm --again-recorded hydra.launcher.partition=gpu",
        ),
        (["costs", "SCALE=smoke"], "scripts/costs.py --scale smoke"),
    ],
)
def test_settings_reach_the_scripts(arguments, command):
    shown = make("--dry-run", *arguments).stdout.splitlines()[-1]
    assert " ".join(shown.split()) == f".venv/bin/python {command}"
