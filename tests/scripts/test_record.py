import subprocess
import sys
from pathlib import Path

from sparseid.papers.recorded import read_recorded
from sparseid.papers.rows import keys_of
from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "record.py"


def finished(outputs, name, rows):
    folder = outputs / "small" / "sparling" / name
    folder.mkdir(parents=True)
    write_rows(folder / "result.json", rows)
    RunFolder(folder).write_status("done")


def record(outputs, recorded):
    command = [sys.executable, SCRIPT, "small", "--outputs", outputs, "--recorded", recorded]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_clean_runs_of_presets_are_recorded_and_others_named(tmp_path, sparling_rows):
    outputs, recorded = tmp_path / "outputs", tmp_path / "recorded"
    finished(outputs, "clean", sparling_rows(0))
    (outputs / "small" / "sparling" / "clean" / "timing.json").write_text('{"prepare_s": 1.0, "train_s": 2.5}')
    finished(outputs, "dirty", sparling_rows(1, dirty=True))
    finished(outputs, "other", sparling_rows(2, recipe="00000000"))
    finished(outputs, "empty", [])
    done = record(outputs, recorded)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in recorded.iterdir()) == ["runs.csv", "sparling.csv"]
    rows, _ = read_recorded(recorded)
    [seconds] = rows["value"][rows["metric"] == "seconds"]
    assert seconds == 3.5  # timing.json is not recorded
    found = rows[rows["metric"] != "seconds"]
    written = [(row.keys, row.metric, row.value) for row in sparling_rows(0)]
    kept = zip(keys_of(found), found["metric"], found["value"], strict=True)
    assert sorted(kept, key=str) == sorted(written, key=str)
    for name, reason in (("dirty", "uncommitted changes"), ("other", "match no preset"), ("empty", "no rows")):
        assert any(name in line and reason in line for line in done.stdout.splitlines())


def test_nothing_is_added_to_damaged_files(tmp_path, sparling_rows):
    outputs, recorded = tmp_path / "outputs", tmp_path / "recorded"
    finished(outputs, "clean", sparling_rows(0))
    recorded.mkdir()
    (recorded / "sparling.csv").write_text("<<<<<<< HEAD\n")
    done = record(outputs, recorded)
    assert done.returncode == 2
    assert f"{recorded / 'sparling.csv'}, line 1" in done.stderr
    assert (recorded / "sparling.csv").read_text() == "<<<<<<< HEAD\n"
