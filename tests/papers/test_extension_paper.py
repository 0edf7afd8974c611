"""A paper of an extension: found, labelled, compared and drawn like ours."""

import json
import os
import subprocess
import sys

import pytest

INIT = """
from sparseid.measurements import Metric
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.paper import Paper
from with_a_paper.papers.toy import claims

PAPER = Paper(
    name="toy",
    artefacts=(
        Artefact(
            id="toy/table1", paper="toy", title="Table 1", selects={},
            entry_keys=("method",), metrics=("height", "mcc"),
            checks=claims_in(claims),
        ),
    ),
    metrics=(Metric("height", "furlong", "high", "above ground"), Metric("mcc", "correlation", "high", "M.C.C.")),
    labels={"ladder": "the ladder", "vae": "my VAE"},
    key_labels={"rung": "rung no. {}", "steps_above": "{} steps up"},
    unit_labels={"furlong": "fur", "percent": "per cent"},
)
"""
CLAIMS = """
from sparseid.papers.claims import claim, mean_above
from sparseid.papers.rows import per_seed


@claim("toy-table1-high")
def high(rows):
    return mean_above(per_seed(rows, "height"), 1, "height")
"""
TARGETS = """
paper: toy
title: A toy
statistics: {centre: mean, interval: sd, over: seeds}
artefacts:
  - {id: toy/table1, title: Table 1}
  - {id: toy/table2, title: Table 2}
targets:
  - {id: 'toy-{method}', grid: {method: [ladder, rope]}, artefact: toy/table1, metric: height, unit: furlong, n: 3}
claims:
  - {id: toy-table1-high, artefact: toy/table1, statement: High., condition: height > 1, holds_in_paper: true}
"""
ASK = """
import json
from sparseid.papers.labels import label, entry_label, unit_label
from sparseid.papers.registry import ARTEFACTS, PAPERS
from sparseid.papers.rows import no_rows, rows_frame
from sparseid.reporting.aggregate import entries
from sparseid.reporting.tables import lines
from sparseid.training.rows import Row

toy = ARTEFACTS["toy/table1"]
rows = rows_frame([Row("run", "toy", "small", "0a", {"method": "vae"}, 0, "mcc", 0.5, "percent", 1, "c", False, "cpu",
                       "2026-05-01T10:00:00+00:00")])
print(json.dumps({
    "papers": list(PAPERS),
    "targets": [[target.id, target.keys, target.value] for target in toy.targets],
    "not built": PAPERS["toy"].not_built,
    "deviations": PAPERS["toy"].deviations,
    "claims": [[c.statement, c.finding.outcome] for c in toy.check_claims(lambda name: no_rows(), "small")],
    "labels": [*map(label, ("ladder", "height", "mcc")), unit_label("furlong"), entry_label({"rung": 3})],
    "own labels": [label("mcc", "toy"), label("mcc", "tbr"), unit_label("percent", "toy"), unit_label("percent")],
    "of an entry": entry_label({"method": "vae", "steps_above": 3}, "toy"),
    "in a table": lines(entries(toy, rows, "small"), toy)[-1].texts[:2],
}))
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "with_a_paper"
    (folder / "papers" / "toy").mkdir(parents=True)
    for name, text in (("__init__.py", INIT), ("claims.py", CLAIMS), ("targets.yaml", TARGETS)):
        (folder / "papers" / "toy" / name).write_text(text)
    return folder


def ask(folder):
    environment = os.environ | {"SPARSEID_EXTENSIONS": str(folder)}
    return subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True)


def test_it_is_found_behind_ours_with_its_own_files(folder):
    (folder / "papers" / "toy" / "deviations.yaml").write_text("deviations: [{topic: height}]\n")
    done = ask(folder)
    assert not done.stderr
    found = json.loads(done.stdout)
    assert found["papers"] == ["sparling", "tbr", "regcl", "sparse_vae", "ddl", "toy"]
    assert found["targets"] == [["toy-ladder", {"method": "ladder"}, None], ["toy-rope", {"method": "rope"}, None]]
    assert found["not built"] == ["toy/table2"]
    assert found["deviations"] == [{"topic": "height"}]
    assert found["claims"] == [["High.", "undecided"]]
    assert found["labels"] == ["the ladder", "above ground", "MCC", "fur", "rung no. 3"]
    assert found["own labels"] == ["M.C.C.", "MCC", "per cent", "%"]
    assert found["of an entry"] == "my VAE, 3 steps up"
    assert found["in a table"] == ["my VAE", "M.C.C., per cent"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("__init__.py", "", "with_a_paper.papers.toy defines no PAPER called 'toy'"),
        ("targets.yaml", None, "targets.yaml does not exist"),
        ("__init__.py", INIT.replace("toy/table1", "tbr/fig4"), "two papers have an artefact tbr/fig4: tbr and toy"),
    ],
)
def test_what_is_wrong_with_it_is_named(folder, name, text, message):
    path = folder / "papers" / "toy" / name
    path.unlink() if text is None else path.write_text(text)
    assert message in ask(folder).stderr


def test_two_papers_of_one_name_are_refused(folder):
    (folder / "papers" / "toy").rename(folder / "papers" / "tbr")
    assert "two papers are called tbr: sparseid.papers.tbr and with_a_paper.papers.tbr" in ask(folder).stderr
