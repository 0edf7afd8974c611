"""The presets of images of Diverse Dictionary Learning at smoke: their runs, tables and pictures are made."""

import pytest

from sparseid.config.identity import run_name
from sparseid.config.sweep import plan
from sparseid.launching.one_run import DONE, make_run
from sparseid.papers.registry import artefact
from sparseid.reporting.collect import collect
from sparseid.reporting.sections import write_artefact

TABLES = {"ddl/table1": (6, 27), "ddl/table7": (4, 4), "ddl/table8": (6, 10)}
"""Table -> its entries that are made, and all of them."""
MADE = {"ddl/table1": 9, "ddl/table7": 4, "ddl/table8": 6}
"""Table -> runs that are made of its presets; those of table 1 include an autoencoder and penalties of table 8."""
LAST = {"table8_mpi3d": 1, "table1": 1}
"""Preset -> number of its last runs that are made, in place of all."""
RUNS = 10


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of all runs on Cars3D that tables 7 and 8 ask for, and of one each on other data and of EncDiff."""
    folder = tmp_path_factory.mktemp("outputs")
    runs = {}
    for name in ("table7", "table8", "table8_mpi3d", "table1", "fig9"):
        trials = plan([f"experiment=ddl/{name}", "scale=smoke", f"outputs={folder}", "trainer=cpu"]).trials
        chosen = [trials[0], trials[-1]] if name == "fig9" else trials[-LAST.get(name, len(trials)) :]
        runs |= {run_name(trial.run): trial.run for trial in chosen}
    assert len(runs) == RUNS  # table 7 shares three of those of table 8
    for run in runs.values():
        assert make_run(run, page=False).code == DONE, run_name(run)
    return folder


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_images_is_made(name, outputs):
    section = write_artefact(artefact(name), collect(outputs), outputs / "report", "smoke")
    assert len(section.done) == MADE[name]
    scores = [line for line in section.table if line.texts[1] in ("FactorVAE score", "DCI")]
    made, entries = TABLES[name]
    assert len(scores) == 2 * entries
    assert all(line.texts[2] for line in scores)  # each has the paper's number, those that are made ours as well
    verdicts = [line.texts[-1] for line in scores]
    assert verdicts.count("not comparable") == 2 * made
    assert verdicts.count("missing") == 2 * (entries - made)


def test_every_run_has_a_picture(outputs):
    found = {name: len([*outputs.rglob(f"{name}.png")]) for name in ("traversals", "swaps", "reconstructions")}
    assert found == {"traversals": RUNS - 1, "swaps": 1, "reconstructions": 1}


@pytest.mark.parametrize(("name", "entries"), [("ddl/fig9", 6), ("ddl/fig8_shapes3d", 6)])
def test_swaps_and_traversals_are_drawn_and_measured_by_factor(name, entries, outputs):
    section = write_artefact(artefact(name), collect(outputs), outputs / "report", "smoke")
    assert section.figure is not None
    assert len({entry.keys["factor"] for entry in section.entries}) == entries
    assert all(claim.finding.outcome == "undecided" for claim in section.claims)
