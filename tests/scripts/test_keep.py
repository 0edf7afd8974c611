import subprocess
import sys
from pathlib import Path

from sparseid.training.rows import read_rows, write_rows
from sparseid.training.run_folder import RunFolder

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "keep.py"


def finished(outputs, name, rows):
    folder = outputs / "small" / "sparling" / name
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", rows)
    RunFolder(folder).write_status("done")


def test_clean_runs_of_presets_are_kept_and_others_named(tmp_path, sparling_rows):
    outputs, papers = tmp_path / "outputs", tmp_path / "papers"
    (papers / "sparling").mkdir(parents=True)
    finished(outputs, "clean", sparling_rows(0))
    (outputs / "small" / "sparling" / "clean" / "timing.json").write_text('{"prepare_s": 1.0, "train_s": 2.5}')
    finished(outputs, "dirty", sparling_rows(1, dirty=True))
    finished(outputs, "other", sparling_rows(2, recipe="00000000"))
    finished(outputs, "empty", [])
    command = [sys.executable, SCRIPT, "small", "--outputs", outputs, "--papers", papers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    kept = list((papers / "sparling" / "measured").iterdir())
    assert [path.name for path in kept] == ["small-clean.json"]
    *rows, seconds = read_rows(kept[0])
    assert rows == sparling_rows(0)
    assert (seconds.metric, seconds.value) == ("seconds", 3.5)  # timing.json is not kept
    for name, reason in (("dirty", "no commit"), ("other", "no preset"), ("empty", "no rows")):
        assert any(name in line and reason in line for line in done.stdout.splitlines())
