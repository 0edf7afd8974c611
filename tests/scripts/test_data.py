"""``make data``: what to place where, and whether it is right."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def run(*arguments, **environment):
    command = [sys.executable, str(PROJECT / "scripts" / "data.py"), *arguments]
    left = {name: value for name, value in os.environ.items() if name not in ("GTEX_H5AD", "TF_TARGETS")}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=left | environment)


def test_without_the_atlas_it_says_how_to_get_it(tmp_path):
    done = run("gtex", SPARSEID_DATA=str(tmp_path))
    assert done.returncode == 2
    for word in ("gtexportal.org", "GTEX_H5AD=/path/to/it", "TF-Target-information.txt", "data.source=semi_synthetic"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_atlas_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "atlas.h5ad"
    path.write_text("no")
    done = run("gtex", GTEX_H5AD=str(path))
    assert done.returncode == 2
    assert "cannot be read as an .h5ad file" in done.stderr


def test_an_unknown_data_set_is_answered_with_those_there_are():
    done = run("imagenet")
    assert done.returncode == 2
    assert "gtex" in done.stderr
