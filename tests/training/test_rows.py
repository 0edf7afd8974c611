import json
import math

import numpy as np
import pytest

from sparseid.training.errors import RunError
from sparseid.training.rows import Row, plain_keys, plain_value, read_rows, write_rows

ROW = Row(
    run="r-1a2b3c4d",
    paper="sparling",
    scale="small",
    recipe="1a2b3c4d",
    keys={"domain": "digitcircle", "steps_above": 2, "lambda": 0.5},
    seed=0,
    metric="fpe",
    value=1.25,
    unit="%",
    n=100,
    commit="abc",
    dirty=False,
    device="cpu",
    written="2026-01-01T00:00:00+00:00",
)


def test_round_trip(tmp_path):
    import dataclasses

    rows = [ROW, dataclasses.replace(ROW, value=None, dirty=True)]
    write_rows(tmp_path / "result.json", rows)
    assert read_rows(tmp_path / "result.json") == rows


def test_plain():
    assert plain_value(np.float32(0.5)) == 0.5
    assert type(plain_value(np.float32(0.5))) is float
    assert plain_value(math.nan) is None
    with pytest.raises(ValueError, match="infinite"):
        plain_value(math.inf)
    assert json.dumps(plain_keys({"k": np.int64(3)})) == '{"k": 3}'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "cannot be read as rows"),
        (lambda text: "", "cannot be read as rows"),
        (lambda text: "[]", 'has no list "rows"'),
        (lambda text: text.replace('"metric"', '"metrik"'), r"row 0: missing \['metric'\], unknown \['metrik'\]"),
        (lambda text: text.replace("1.25", '"1.25"'), "row 0: value is '1.25'"),
        (lambda text: text.replace("1.25", "Infinity"), "row 0: value is inf"),
        (lambda text: text.replace(f'"written": "{ROW.written}"', '"written": "noon"'), "row 0: written is 'noon'"),
        (lambda text: text.replace('"n": 100', '"n": true'), "row 0: n is True"),
        (lambda text: text.replace('"n": 100', '"n": 1.5'), "row 0: n is 1.5"),
        (lambda text: text.replace('"steps_above": 2', '"steps_above": []'), r"key steps_above is \[\]"),
    ],
)
def test_malformed(tmp_path, change, message):
    path = tmp_path / "result.json"
    write_rows(path, [ROW])
    path.write_text(change(path.read_text()))
    with pytest.raises(RunError, match=message) as error:
        read_rows(path)
    assert str(path) in str(error.value)
    assert str(error.value).endswith("Repeat the run with force=true.")
    with pytest.raises(RunError, match=r"Ask somebody\.$"):
        read_rows(path, "Ask somebody.")


def test_missing(tmp_path):
    with pytest.raises(RunError, match=r"result\.json"):
        read_rows(tmp_path / "result.json")
