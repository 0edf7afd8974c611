"""Recorded results: what is written is read back, what is damaged is named, and none changes unnoticed."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.errors import InputError
from sparseid.papers.presets import RECORDED, artefact_recipes
from sparseid.papers.recorded import key_text, parse_key, read_recorded, read_runs, record, run_digests
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import COLUMNS, keys_of, rows_frame
from sparseid.training.rows import Row

ROW = Row(
    run="one", paper="tbr", scale="small", recipe="0a", keys={"S": 1, "domain": "gtex"}, seed=0, metric="mcc",
    value=0.1, unit="correlation in [0,1]", n=5, commit="c" * 40, dirty=False, device="cpu",
    written="2026-05-01T10:00:00+00:00",
)  # fmt: skip


@pytest.fixture(scope="module")
def recorded():
    rows, damaged = read_recorded(RECORDED)
    assert damaged == {}
    return rows


def read(folder):
    rows, damaged = read_recorded(folder)
    assert damaged == {}
    entries = zip(rows[COLUMNS].to_dict("records"), keys_of(rows), strict=True)
    return sorted((Row(**entry, keys=keys) for entry, keys in entries), key=lambda row: (row.run, row.metric))


def test_recorded_rows_are_those_that_were_recorded(recorded):
    """Each run's rows have the digest that runs.csv has: what changes is named, what is meant is recorded again."""
    runs = read_runs(RECORDED)
    written, found = dict(zip(runs["run"], runs["sha256"], strict=True)), run_digests(recorded)
    changed = sorted(run for run in written.keys() | found.keys() if written.get(run) != found.get(run))
    assert not changed, f"rows of {len(changed)} runs are not those that make record wrote: {', '.join(changed[:5])}"


def test_recorded_rows_belong_to_a_preset_of_today(recorded):
    """Rows whose recipe is no preset's would silently leave the tables."""
    for (paper, scale), of_scale in recorded.groupby(["paper", "scale"]):
        names = [name for name, entry in ARTEFACTS.items() if entry.paper == paper]
        known = frozenset().union(*(artefact_recipes(name, scale) for name in names))
        assert set(of_scale["run"][~of_scale["recipe"].isin(known)]) == set()
    assert not recorded["dirty"].any()


def test_recording_what_is_recorded_changes_no_byte(recorded, tmp_path):
    record(recorded[recorded["paper"] == "ddl"], tmp_path)
    assert (tmp_path / "ddl.csv").read_bytes() == (RECORDED / "ddl.csv").read_bytes()
    of_ddl = [line for line in (RECORDED / "runs.csv").read_text().splitlines() if ",ddl," in line]
    assert (tmp_path / "runs.csv").read_text().splitlines()[1:] == of_ddl


VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.none()
KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)
KEYS |= (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["'", "'1", "nan", "1_0", " 2"])
)


@given(KEYS)
def test_a_key_is_read_back_with_its_type(value):
    found = parse_key(key_text(value))
    assert (type(found), found) == (type(value), value)


@given(value=VALUES, keys=st.dictionaries(st.sampled_from(["seed", "run", "S", "domain"]), KEYS))
def test_rows_are_read_back_to_the_last_bit(tmp_path_factory, value, keys):
    folder = tmp_path_factory.mktemp("recorded")
    row = replace(ROW, value=value, keys=keys)
    record(rows_frame([row]), folder)
    [found] = read(folder)
    if value is None:
        assert math.isnan(found.value)
    else:
        assert found.value.hex() == value.hex()
    assert replace(found, value=value) == row


def test_a_run_takes_the_place_of_its_older_rows_and_leaves_others(tmp_path):
    others = [replace(ROW, run="two", seed=1), replace(ROW, run="three", paper="ddl", keys={})]
    record(rows_frame([ROW, *others]), tmp_path)
    before = (tmp_path / "ddl.csv").stat().st_mtime_ns
    again = replace(ROW, value=0.2, keys={}, written="2026-06-01T10:00:00+00:00")
    record(rows_frame([again]), tmp_path)
    assert read(tmp_path) == [again, others[1], others[0]]
    assert (tmp_path / "ddl.csv").stat().st_mtime_ns == before


def test_a_run_has_the_time_of_its_last_row(tmp_path):
    later = replace(ROW, metric="mse", written="2026-05-01T10:00:07+00:00")
    record(rows_frame([ROW, later]), tmp_path)
    assert {row.written for row in read(tmp_path)} == {later.written}


def test_lines_stand_in_one_order_whatever_was_recorded_first(tmp_path):
    rows = [replace(ROW, run=f"run{seed}", seed=seed, metric=metric) for seed in range(3) for metric in ("mcc", "mse")]
    record(rows_frame(rows[::-1]), tmp_path / "at once")
    for start in (4, 0, 2):
        record(rows_frame(rows[start : start + 2]), tmp_path / "one by one")
    for name in ("tbr.csv", "runs.csv"):
        assert (tmp_path / "at once" / name).read_text() == (tmp_path / "one by one" / name).read_text()


def test_without_a_folder_there_are_no_rows(tmp_path):
    rows, damaged = read_recorded(tmp_path / "absent")
    assert rows.empty
    assert damaged == {}


@pytest.mark.parametrize(
    ("line", "text", "what"),
    [
        (1, "recipe,seed", "line 1: no column"),
        (1, "recipe,key_S,key_domain,seed,metric,value,unit,n,run,colour", "line 1: columns are"),
        (3, "<<<<<<< HEAD", "line 3: 1 fields, not 9"),
        (3, "0a,1,gtex,zero,mcc,0.5,,5,one", "line 3: seed is 'zero'"),
        (3, "0a,1,gtex,0,mcc,half,,5,one", "line 3: value is 'half'"),
        (3, "0a,1,gtex,0,mcc,0.5,,5,nobody", "line 3: run is 'nobody'"),
        (3, '0a,1,gtex,0,mcc,0.5,"open,5,one', "line 3"),
    ],
)
def test_damage_is_named_with_file_line_and_remedy(tmp_path, line, text, what):
    record(rows_frame([ROW, replace(ROW, run="two", seed=1), replace(ROW, run="three", paper="ddl")]), tmp_path)
    path = tmp_path / "tbr.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[: line - 1], text, *lines[line:]]) + "\n")
    rows, damaged = read_recorded(tmp_path)
    assert set(rows["paper"]) == {"ddl"}, "nothing else suffers"
    [problem] = damaged.values()
    assert problem.startswith(f"{path}, {what}")
    assert problem.endswith(f"git -C {tmp_path} restore tbr.csv")
    with pytest.raises(InputError, match=r"tbr\.csv, line"):
        record(rows_frame([ROW]), tmp_path)


@pytest.mark.parametrize(
    ("before", "after"),
    [("0.1", "0.12"), ('0a,1,gtex,0,mcc,0.1,"correlation in [0,1]",5,one\n', ""), ("1,gtex", "1.0,gtex")],
    ids=["a value", "a missing row", "the type of a key"],
)
def test_rows_changed_by_hand_are_named_with_their_run_and_not_used(tmp_path, before, after):
    rows = [replace(ROW, value=0.1, metric=metric) for metric in ("mcc", "mse")]
    record(rows_frame([*rows, replace(ROW, run="two", seed=1), replace(ROW, run="three", paper="ddl")]), tmp_path)
    path = tmp_path / "tbr.csv"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    rows, damaged = read_recorded(tmp_path)
    assert set(rows["paper"]) == {"ddl"}
    assert damaged["tbr"].startswith(f"{path}: the rows of one are not those that were recorded")
    assert damaged["tbr"].endswith(f"git -C {tmp_path} restore tbr.csv runs.csv")
    with pytest.raises(InputError, match="the rows of one"):
        record(rows_frame([ROW]), tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"run,paper\n", b""])
def test_a_damaged_table_of_runs_is_named_for_every_paper(tmp_path, content):
    record(rows_frame([ROW, replace(ROW, run="three", paper="ddl")]), tmp_path)
    (tmp_path / "runs.csv").write_bytes(content)
    rows, damaged = read_recorded(tmp_path)
    assert rows.empty
    assert set(damaged) == {"tbr", "ddl"}
    assert all(text.startswith(f"{tmp_path / 'runs.csv'}, line") for text in damaged.values())


def test_the_folder_can_be_another_one(tmp_path, monkeypatch):
    chosen = tmp_path / "of a group"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SPARSEID_RECORDED", "~/of a group")
    assert read_recorded()[0].empty  # it need not exist
    record(rows_frame([replace(ROW, run="r")]), chosen)
    assert read_recorded()[0]["run"].tolist() == ["r"]
    monkeypatch.delenv("SPARSEID_RECORDED")
    assert "r" not in set(read_recorded()[0]["run"])
