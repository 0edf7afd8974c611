import runpy
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "study.py"


def test_the_study_is_written_from_whatever_there_is(tmp_path, monkeypatch, capsys):
    file = tmp_path / "STUDY.md"
    arguments = ["--outputs", str(tmp_path / "none"), "--scale", "smoke", "--file", str(file)]
    monkeypatch.setattr(sys, "argv", ["study.py", *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ["scale=smoke: rows of 0 of 2 variants", f"Study: {file}"]
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# RegCL: what the headline of table 1 depends on\n")
    assert (SCRIPT.parents[1] / "src/sparseid/papers/regcl/study_notes.md").read_text(encoding="utf-8").strip() in text
