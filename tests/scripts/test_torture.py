"""The script of ``make torture``, with two kills and the cheapest kind of trial."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def test_kills_are_survived_and_counted():
    command = [sys.executable, "scripts/torture.py", "--kills", "2", "--only", "kills", "gpus"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    table = done.stdout.partition("tried")[2].splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:3] for line in table[1:3]] == [["kills", "2", "2"], ["gpus", "1", "1"]]
    assert table[3].startswith("all survived")
