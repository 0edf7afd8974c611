import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "report.py"


def test_what_could_not_be_read_is_said_on_the_terminal_too(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "smoke" / "sparling" / "damaged"
    folder.mkdir(parents=True)
    (folder / "status.json").write_text(json.dumps({"state": "done"}))
    (folder / "result.json").write_text('{"rows": [')
    monkeypatch.setattr(sys, "argv", ["report.py", "--outputs", str(tmp_path), "--scale", "smoke"])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    problem, said = capsys.readouterr().out.splitlines()
    assert problem.startswith(f"not used: {folder / 'result.json'} cannot be read")
    assert problem.endswith("Repeat the run with force=true.")
    assert said == f"Report: {tmp_path / 'report' / 'index.html'}"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "report").touch()  # in the place of the folder
    done = subprocess.run([sys.executable, SCRIPT, "--outputs", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the report cannot be written: [Errno 17] File exists:")
    assert len(done.stderr.splitlines()) == 1
