"""The presets of images of Diverse Dictionary Learning at smoke: their runs, tables and pictures are made."""

import pytest

from sparseid.config.identity import run_name
from sparseid.config.sweep import plan
from sparseid.launching.one_run import DONE, make_run
from sparseid.papers.registry import artefact
from sparseid.reporting.collect import collect
from sparseid.reporting.sections import write_artefact

TABLES = {"ddl/table7": (4, 4), "ddl/table8": (6, 10)}
"""Table -> its runs that are made, and its entries."""
RUNS = 7


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of all runs on Cars3D that the tables ask for, and of one on MPI3D."""
    folder = tmp_path_factory.mktemp("outputs")
    runs = {}
    for name in ("table7", "table8", "table8_mpi3d"):
        trials = plan([f"experiment=ddl/{name}", "scale=smoke", f"outputs={folder}", "trainer=cpu"]).trials
        runs |= {run_name(trial.run): trial.run for trial in (trials[-1:] if name == "table8_mpi3d" else trials)}
    assert len(runs) == RUNS  # table 7 shares three of those of table 8
    for run in runs.values():
        assert make_run(run, page=False).code == DONE, run_name(run)
    return folder


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_images_is_made(name, outputs):
    section = write_artefact(artefact(name), collect(outputs), outputs / "report", "smoke")
    assert (len(section.done), len(section.expected)) == TABLES[name]
    scores = [line for line in section.table if line.texts[1] in ("FactorVAE score", "DCI")]
    made, entries = TABLES[name]
    assert len(scores) == 2 * entries
    assert all(line.texts[2] for line in scores)  # each has the paper's number, those that are made ours as well
    verdicts = [line.texts[-1] for line in scores]
    assert verdicts.count("not comparable") == 2 * made
    assert verdicts.count("missing") == 2 * (entries - made)


def test_every_run_has_a_picture_of_its_traversals(outputs):
    assert len([*outputs.rglob("traversals.png")]) == RUNS
