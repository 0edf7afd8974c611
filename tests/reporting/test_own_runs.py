"""Own runs in the report: their curves, the pictures of the newest one, their links."""

import json
import os

import pytest
import yaml

from sparseid.reporting.own_runs import own_table
from sparseid.reporting.page import build_report
from sparseid.reporting.runs_table import runs_tables
from sparseid.training.rows import Row, write_rows

PICTURE = '<svg viewBox="0 0 72 36"/>'


@pytest.fixture
def make(tmp_path):
    """Make the folder of a finished run of tbr/arrays."""

    def finished(S, seed, written):
        folder = tmp_path / "small" / "tbr" / f"S{S}-{seed}"
        (folder / "figures").mkdir(parents=True)
        (folder / "figures" / "deltas.svg").write_text(PICTURE)
        (folder / "status.json").write_text(json.dumps({"state": "done"}))
        settings = {"experiment": "tbr/arrays", "seed": seed, "method": {"latents": S}}
        (folder / "config.yaml").write_text(yaml.safe_dump(settings))
        (folder / "metrics.csv").write_text(f"step,samples,name,value\n1,8,loss,{seed + 1}\n2,16,loss,{S}\n")
        fields = {"unit": "", "n": 5, "commit": "a", "dirty": False, "device": "cpu"}
        row = Row(folder.name, "tbr", "small", f"of{S}", {}, seed, "mse", 0.5, written=f"2026-05-0{seed + 1}", **fields)
        write_rows(folder / "result.json", [row])
        os.utime(folder / "result.json", (written, written))
        return folder

    return finished


def test_a_table_has_the_curves_of_its_runs_and_the_pictures_of_its_newest(make, tmp_path):
    folders = [make(2, 0, 100), make(3, 0, 300), make(3, 1, 200)]
    [table] = runs_tables(folders)
    shown = own_table(table, tmp_path / "report")
    assert shown.newest.run == "S3-0"
    assert [picture.path for picture in shown.newest.pictures] == ["small/tbr-arrays-own/deltas.svg"]
    drawn = tmp_path / "report" / shown.curves.path
    assert drawn.name == "curves.svg"
    before = drawn.stat().st_mtime_ns
    assert own_table(table, tmp_path / "report") == shown
    assert drawn.stat().st_mtime_ns == before, "the same curves are not drawn again"
    (folders[0] / "metrics.csv").write_text("step,samples,name,value\n1,8,loss,7\n")
    own_table(table, tmp_path / "report")
    assert drawn.stat().st_mtime_ns > before


def test_pictures_of_own_runs_are_on_the_page_once(make, tmp_path):
    make(2, 0, 100)
    build_report(tmp_path, papers=["tbr"])
    html = (tmp_path / "report" / "tbr.html").read_text()
    assert html.count('<img src="small/tbr-arrays-own/deltas.svg"') == 1
    assert html.count('<img src="small/tbr-arrays-own/curves.svg"') == 1
    assert "The newest finished run" not in html


def test_runs_without_curves_have_tables_only(make, tmp_path):
    folder = make(2, 0, 100)
    (folder / "metrics.csv").unlink()
    (folder / "figures" / "deltas.svg").unlink()
    [table] = runs_tables([folder])
    shown = own_table(table, tmp_path / "report")
    assert (shown.curves, shown.newest.pictures) == (None, [])
