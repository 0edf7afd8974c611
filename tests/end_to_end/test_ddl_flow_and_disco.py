"""The presets of the flow and of DisCo at smoke: their runs, tables and pictures are made."""

import re

import pytest

from sparseid.config.identity import run_name
from sparseid.config.sweep import plan
from sparseid.launching.one_run import DONE, make_run
from sparseid.papers.registry import artefact
from sparseid.reporting.collect import collect
from sparseid.reporting.sections import write_artefact


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of all runs of the flow, and of a generator and one of DisCo's runs that start from it."""
    folder = tmp_path_factory.mktemp("outputs")
    for name, runs in {"fig8": 3, "table1_disco": 4}.items():
        trials = plan([f"experiment=ddl/{name}", "scale=smoke", f"outputs={folder}", "trainer=cpu"]).trials
        assert len(trials) == runs
        for trial in trials[:3] if name == "fig8" else [trials[0], trials[-1]]:
            assert make_run(trial.run, page=False).code == DONE, run_name(trial.run)
    return folder


def section_of(name, outputs):
    return write_artefact(artefact(name), collect(outputs), outputs / "report", "smoke")


def test_figure_8_is_drawn_with_a_panel_for_each_penalty(outputs):
    section = section_of("ddl/fig8", outputs)
    assert (len(section.done), len(section.expected)) == (3, 3)
    assert section.figure
    (result,) = [claim for claim in section.claims if claim.id == "ddl-fig8-traversal-flow"]
    assert re.match("scale=smoke decides nothing", result.finding.text)
    assert len([*outputs.rglob("traversals.png")]) == 3 + 1  # of every run of the flow and of DisCo


def test_discos_part_of_table_1_has_the_papers_numbers_beside_ours(outputs):
    section = section_of("ddl/table1_disco", outputs)
    assert (len(section.done), len(section.expected)) == (2, 12)  # with generators
    scores = [line for line in section.table if line.texts[1] in ("FactorVAE score", "DCI")]
    verdicts = [line.texts[-1] for line in scores]
    assert (verdicts.count("not comparable"), verdicts.count("missing")) == (
        2,
        4,
    )  # those of a data set without any are one line
    assert all(line.texts[2] for line in scores)
