"""Every preset of Sparling at smoke: its runs are made, each once, and every table and figure has all of its rows."""

import matplotlib.pyplot as plt
import pytest

from sparseid.config.identity import run_name
from sparseid.config.sweep import plan
from sparseid.launching.one_run import DONE, make_run
from sparseid.papers.presets import presets_of
from sparseid.papers.registry import ARTEFACTS
from sparseid.reporting.collect import collect
from sparseid.reporting.sections import write_artefact

SPARLING = {name: entry for name, entry in ARTEFACTS.items() if entry.paper == "sparling" and not entry.computed}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of all runs that the presets ask for."""
    folder = tmp_path_factory.mktemp("outputs")
    presets = dict.fromkeys(preset for name in SPARLING for preset in presets_of(name))
    asked = [plan([f"experiment={preset}", "scale=smoke", f"outputs={folder}", "trainer=cpu"]) for preset in presets]
    runs = {run_name(cell.run): cell.run for planned in asked for cell in planned.trials}
    for run in runs.values():
        assert make_run(run, page=False).code == DONE, run_name(run)
    return folder


@pytest.fixture(scope="module")
def collection(outputs):
    return collect(outputs)


@pytest.mark.parametrize("name", SPARLING)
def test_a_preset_is_made_and_its_table_and_figure_written(name, outputs, collection):
    section = write_artefact(SPARLING[name], collection, outputs / "report", "smoke")
    assert section.done == section.expected
    assert section.expected
    ours = [line for line in section.table if line.texts[3]]
    assert ours
    assert (section.figure is not None) == bool(SPARLING[name].draw or SPARLING[name].draw_arrays)
    plt.close("all")
