"""The plan of all runs, their states and their totals."""

import json
import os
import re
import shutil
import socket
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from sparseid.config import sweep
from sparseid.config.identity import recipe_hash
from sparseid.config.search_path import CONFIGS
from sparseid.errors import ConfigError, InputError
from sparseid.launching import estimate, plan, recorded
from sparseid.launching.estimate import Cost
from sparseid.launching.main import main
from sparseid.launching.plan import plan_artefacts, plan_command, total
from sparseid.launching.plan_view import as_json, hours_text, left_text, print_workload, states_text
from sparseid.launching.recorded import without_recorded
from sparseid.papers import recorded as results
from sparseid.papers.rows import rows_frame
from sparseid.training.rows import Row

SMALL = "experiment=digitcircle", "scale=small"
KEPT = Row("r", "tbr", "smoke", "", {}, 0, "mse", 1.0, "", 1, "a" * 40, False, "cpu", "2026-05-01T10:00:00+00:00")
CPU = ["trainer=cpu"]


@pytest.fixture(autouse=True)
def _hour_long_runs(monkeypatch, config):
    """Every run of the small recipe takes 200,000 samples and an hour."""
    costs = [Cost("digitcircle", "small", recipe_hash(config(*SMALL)), "cpu", 1, 3000 / 6250, 600.0, steps=6250)]
    monkeypatch.setattr(plan, "read_costs", lambda: costs)


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Record rows in a folder of the test's own, without those of another call."""

    def make(rows):
        folder = tmp_path / "recorded"
        shutil.rmtree(folder, ignore_errors=True)
        results.record(rows_frame(rows), folder)
        monkeypatch.setenv(results.VARIABLE, str(folder))

    return make


@pytest.fixture
def keep(record, config, sparling_rows):
    """Record rows of seeds."""

    def make(*seeds, **fields):
        fields.setdefault("recipe", recipe_hash(config(*SMALL)))
        record([row for seed in seeds for row in sparling_rows(seed, densities=1, **fields)])

    return make


STACK = "experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", "data.S=1"


def test_a_stack_counts_as_recorded_only_with_the_rows_of_all_its_seeds(tmp_path, config, monkeypatch):
    run = config(*STACK, "seeds=[0,1,2]")
    commands = [*STACK, "seeds=[0,1,2]", f"outputs={tmp_path}", "trainer=cpu"]

    def states(*seeds):
        rows = {("smoke", recipe_hash(run), seed, False): KEPT for seed in seeds}
        monkeypatch.setattr(recorded, "results", lambda: rows)
        [planned] = plan_command(commands).artefacts[0].runs
        left = without_recorded(sweep.plan(commands)).trials
        return planned.state, len(left)

    assert states(0, 1) == ("planned", 1)
    assert states(0, 1, 2, 5) == ("recorded", 0)


def test_a_run_time_is_measured_by_runs_of_one_seed_only(config, record):
    commands = ["experiment=tbr/runtime", "scale=smoke", "seed=0"]
    recipe = recipe_hash(config("experiment=tbr/runtime", "scale=smoke", "hydra.mode=RUN"))

    def left(*metrics):
        record([replace(KEPT, recipe=recipe, metric=metric) for metric in metrics])
        return len(without_recorded(sweep.plan(commands)).trials)

    assert left("mse") == 1  # of a stack
    assert left("mse", "seconds") == 0


RUNS_OF_DIGITCIRCLE = ("digitcircle", "sparling/fig3", "sparling/fig4")


def by_id(workload):
    return {artefact.id: artefact for artefact in workload.artefacts}


@cache
def of_all():
    """The plan of all artefacts, of which nothing is done; composing it takes seconds."""
    return plan_artefacts("small", Path("nothing", "here"), CPU)


def test_every_artefact_of_the_five_papers_is_listed():
    workload = of_all()
    artefacts = by_id(workload)
    assert workload.papers() == ["sparling", "tbr", "regcl", "sparse_vae", "ddl"]
    assert {"digitcircle", "sparling/fig3", "tbr/table3", "regcl/table1", "sparse_vae/fig3", "ddl/fig4"} <= set(
        artefacts
    )
    assert artefacts["sparling/fig3"].problem == ""
    assert artefacts["tbr/table3"].problem == ""
    assert artefacts["ddl/fig4"].problem == ""
    assert (artefacts["ddl/table3"].problem, len(artefacts["ddl/table3"].runs)) == ("", 9)


def test_shared_runs_are_counted_once(tmp_path):
    few = plan_artefacts("small", tmp_path, CPU, only=RUNS_OF_DIGITCIRCLE)
    workload = of_all()
    artefacts = by_id(workload)
    assert [len(artefacts[name].runs) for name in ("digitcircle", "sparling/fig3", "sparling/fig4")] == [1, 5, 5]
    assert total(artefacts["sparling/fig4"].runs).seconds == pytest.approx(5 * 3600)
    sparling = total(few.runs("sparling").values())
    assert (sparling.runs, sparling.seconds, sparling.unknown) == (5, pytest.approx(5 * 3600), 0)
    sizes = {name: len(artefacts[f"sparling/{name}"].runs) for name in ("fig5", "fig9", "table1", "kl", "ablation")}
    assert sizes == {"fig5": 5 + 6, "fig9": 5 + 3, "table1": 5 + 15, "kl": 8, "ablation": 12}
    others = 3 + 3 * 9 + 3  # harder, formulas and spoken digits, splicing
    assert len(workload.runs("sparling")) == 5 + 6 + 3 + 15 + 8 + 12 + others
    figure, table = (set(artefacts[name].runs) for name in ("tbr/fig4", "tbr/table3"))
    assert {run.name for run in table} < {run.name for run in figure}
    papers = [total(workload.runs(paper).values()).runs for paper in workload.papers()]
    assert total(workload.runs().values()).runs == sum(papers)


def test_a_figure_over_domains_names_the_presets_that_it_reads_and_counts_its_own(tmp_path, capsys):
    workload = plan_artefacts("small", tmp_path, CPU, only=["sparling/fig3"])
    [figure] = workload.artefacts
    assert [(name, len(runs)) for name, runs in figure.reads] == [("sparling/latex_ocr", 9), ("sparling/audiomnist", 9)]
    assert len(workload.runs()) == len(figure.runs) == 5
    print_workload(workload)
    assert re.search(r"reads sparling/latex_ocr +0 of 9 done: 9 planned", capsys.readouterr().out)
    assert set(as_json(workload)["artefacts"][0]["reads"]) == {"sparling/latex_ocr", "sparling/audiomnist"}


@pytest.mark.parametrize("state", ["planned", "running", "failed", "preempted"])
def test_unfinished_runs_take_what_is_left(tmp_path, pretend, state):
    pretend(*SMALL, state=state, samples=100_000)
    (run,) = plan_command([*SMALL, *CPU, f"outputs={tmp_path}"]).runs().values()
    assert run.state == state
    assert run.left.seconds == pytest.approx(1500 + 600)
    assert run.commit == ""


def test_samples_without_a_checkpoint_are_lost(tmp_path, pretend):
    folder = pretend(*SMALL, state="preempted", samples=100_000)
    (folder.checkpoints / "last.ckpt").unlink()
    (run,) = plan_command([*SMALL, *CPU, f"outputs={tmp_path}"]).runs().values()
    assert run.left.seconds == pytest.approx(3600)


@pytest.mark.parametrize("state", ["done", "diverged"])
def test_ended_runs_take_nothing(tmp_path, pretend, state):
    pretend(*SMALL, state=state, dirty=True)
    (run,) = plan_command([*SMALL, *CPU, f"outputs={tmp_path}"]).runs().values()
    assert (run.state, run.left.seconds, run.finished) == (state, 0.0, state == "done")
    assert (run.commit, run.dirty) == (("a" * 40, True) if state == "done" else ("", False))


def test_a_killed_run_is_preempted(tmp_path, pretend):
    folder = pretend(*SMALL, state="running")
    ask = [*SMALL, *CPU, f"outputs={tmp_path}"]
    assert [run.state for run in plan_command(ask).runs().values()] == ["running"]  # by this process
    status = json.loads((folder.path / "status.json").read_text())
    (folder.path / "status.json").write_text(json.dumps({**status, "pid": 2**22 + 1}))
    assert [run.state for run in plan_command(ask).runs().values()] == ["preempted"]
    (folder.path / "status.json").write_text(json.dumps({**status, "pid": 2**22 + 1, "host": "elsewhere"}))
    assert [run.state for run in plan_command(ask).runs().values()] == ["running"]
    assert (status["pid"], status["host"]) == (os.getpid(), socket.gethostname())


def test_recorded_rows_count(tmp_path, keep, pretend):
    keep(0, 1, commit="b" * 40)
    pretend(*SMALL, "seed=2", commit="c" * 40)
    pretend(*SMALL, "seed=1", state="failed")
    runs = list(by_id(plan_artefacts("small", tmp_path, CPU, only=RUNS_OF_DIGITCIRCLE))["sparling/fig3"].runs)
    assert [run.state for run in runs] == ["recorded", "recorded", "done", "planned", "planned"]
    assert [run.commit[:1] for run in runs] == ["b", "b", "c", "", ""]
    assert [run.older_code for run in runs] == [True, True, False, False, False]  # seed 2 has just been written
    assert total(runs).finished == 3
    again = by_id(plan_artefacts("small", tmp_path, CPU, count_recorded=False, only=RUNS_OF_DIGITCIRCLE))[
        "sparling/fig3"
    ].runs
    assert [run.state for run in again] == ["planned", "failed", "done", "planned", "planned"]


def test_recorded_rows_of_another_scale_or_recipe_do_not_count(tmp_path, keep):
    keep(0, scale="smoke")
    assert [run.state for run in plan_command([*SMALL, f"outputs={tmp_path}"]).runs().values()] == ["planned"]
    keep(0)
    other = plan_command([*SMALL, "method.encoder.width=8", f"outputs={tmp_path}"])
    assert [run.state for run in other.runs().values()] == ["planned"]


def test_a_run_to_be_made_again_is_not_done(tmp_path, keep, pretend):
    keep(0)
    pretend(*SMALL)
    (run,) = plan_command([*SMALL, *CPU, "force=true", f"outputs={tmp_path}"]).runs().values()
    assert (run.state, run.left.seconds) == ("planned", pytest.approx(3600))


def test_recorded_runs_can_be_skipped_by_a_command(keep):
    keep(0, 3)
    planned = without_recorded(sweep.plan(["experiment=sparling/fig3", "scale=small"]))
    assert [trial.run.seed for trial in planned.trials] == [1, 2, 4]


def test_a_preset_that_cannot_be_composed_stops_nothing(tmp_path):
    configs = shutil.copytree(CONFIGS, tmp_path / "configs")
    (configs / "experiment/at/sparling/fig4.small.yaml").unlink()
    with (configs / "experiment/sparling/fig3.yaml").open("a") as file:
        file.write("trainer: {max_sample: 3}\n")
    artefacts = by_id(plan_artefacts("small", tmp_path, CPU, configs=configs, only=RUNS_OF_DIGITCIRCLE))
    assert artefacts["sparling/fig4"].problem == "no preset at scale=small"
    assert not artefacts["sparling/fig4"].refused
    assert "trainer.max_sample" in artefacts["sparling/fig3"].problem
    assert artefacts["sparling/fig3"].refused
    assert len(artefacts["digitcircle"].runs) == 1


def test_a_command_that_cannot_be_run_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"method\.optimizer\.lrr"):
        plan_command(["method.optimizer.lrr=1", f"outputs={tmp_path}"])


def test_two_thousand_runs(tmp_path):
    workload = plan_command(["experiment=sparling/fig3", "seed=range(2000)", *CPU, f"outputs={tmp_path}"])
    summed = total(workload.runs().values())
    assert (summed.runs, summed.states["planned"]) == (2000, 2000)
    assert summed.seconds == pytest.approx(2000 * 3600)


def test_json(tmp_path, pretend):
    pretend(*SMALL)
    found = json.loads(json.dumps(as_json(plan_artefacts("small", tmp_path, CPU, only=[*RUNS_OF_DIGITCIRCLE, "ddl"]))))
    assert set(found) == {"scale", "artefacts", "runs", "papers", "total"}
    fig3 = next(artefact for artefact in found["artefacts"] if artefact["id"] == "sparling/fig3")
    assert set(fig3) == {"id", "paper", "title", "problem", "runs", "older_code", "total", "reads"}
    assert len(fig3["runs"]) == 5
    done, planned = (found["runs"][name] for name in fig3["runs"][:2])
    assert done["state"] == "done"
    assert done["hours_left"] == 0
    assert Path(done["folder"]).name == fig3["runs"][0]
    assert (planned["hours_left"], planned["at_most"], planned["basis"]) == (1.0, False, "1 whole run on cpu")
    wanted = {"runs": 5, "finished": 1, "states": {"done": 1, "planned": 4}, "hours_left": 4.0, "at_most": False}
    assert found["papers"]["sparling"] == {**wanted, "unknown": 0}
    assert found["total"]["runs"] == sum(paper["runs"] for paper in found["papers"].values())


def test_table_lists_short_sweeps_and_folds_long_ones(tmp_path, capsys, pretend):
    pretend(*SMALL, dirty=True)
    print_workload(plan_artefacts("small", tmp_path, CPU, only=["sparling", "ddl"]))
    shown = capsys.readouterr().out
    assert shown.count("digitcircle-sparling_mt-seed4-") == 9  # figures 3 to 6 and 8 to 11, table 2; table 1 is folded
    assert "aaaaaaaa, local changes" in shown
    whole = shown.partition("all papers")[2].splitlines()[0]
    assert re.fullmatch(
        r" +1 of \d+ done: 1 done,( \d+( planned)?)? +\d+(\.\d)? h \+ \d+ unknown", whole
    )  # broken where long
    assert "\x1b" not in shown

    long = plan_command(["experiment=sparling/fig3", "seed=range(20)", *CPU, f"outputs={tmp_path}"])
    print_workload(long)
    folded = capsys.readouterr().out
    assert "1 of 20 done: 1 done, 19 planned" in folded
    assert "seed4" not in folded
    print_workload(long, every_run=True)
    assert "seed4" in capsys.readouterr().out


def test_an_artefact_without_a_preset_is_listed_as_such(tmp_path, capsys, monkeypatch):
    made = [name for name in plan.choices("experiment") if name != "ddl/table3"]
    monkeypatch.setattr(plan, "choices", lambda *_: made)
    workload = plan_artefacts("small", tmp_path, CPU, only=["ddl/table3"])
    [table] = workload.artefacts
    assert (table.problem, table.runs) == ("no preset yet", ())
    assert table.title == "Dead features of sparse autoencoders"
    print_workload(workload)
    assert re.search(r"ddl/table3[^:]*: no preset yet", capsys.readouterr().out)


def test_sums_are_written_so_that_nothing_is_hidden(tmp_path, config, monkeypatch):
    known = plan_command([*SMALL, *CPU, "seed=0,1", f"outputs={tmp_path}"]).runs()
    unknown = plan_command([*SMALL, *CPU, "method.encoder.width=8", f"outputs={tmp_path}"]).runs()
    assert left_text(total(known.values())) == "2.0 h"
    assert left_text(total((known | unknown).values())) == "2.0 h + 1 unknown"
    assert left_text(total(unknown.values())) == "unknown"
    costs = [Cost("", "small", recipe_hash(config(*SMALL)), "cpu", step_s=0.1, test_s=0.0)]
    monkeypatch.setattr(plan, "read_costs", lambda: costs)
    bounded = plan_command([*SMALL, *CPU, f"outputs={tmp_path}"]).runs()
    assert left_text(total(bounded.values())) == "at most 0.43 h"
    assert states_text(total(known.values())) == "0 of 2 done: 2 planned"
    assert hours_text(360_000) == "100 h"
    assert estimate.NOTHING_LEFT.seconds == 0


def test_run_py_skips_recorded_runs_on_request(keep, capsys):
    keep(0, 1, 2, 3)
    ask = ["experiment=sparling/fig3", "scale=small", "--skip-recorded", "--cfg", "job"]
    assert main(ask) == 0
    assert re.findall(r"^# outputs/.*-seed(\d)-", capsys.readouterr().out, re.M) == ["4"]
    assert main([*ask, "seed=0,3"]) == 0
    assert "all results are recorded" in capsys.readouterr().out


def test_only_some_papers_and_artefacts(tmp_path):
    def ids(*only):
        return [artefact.id for artefact in plan_artefacts("small", tmp_path, CPU, only=only).artefacts]

    assert ids("tbr/fig4", "sparling/fig3") == ["sparling/fig3", "tbr/fig4"]
    assert {name.partition("/")[0] for name in ids("tbr")} == {"tbr"}
    assert ids("tbr", "tbr/fig4") == ids("tbr")
    with pytest.raises(InputError, match="Did you mean sparling"):
        ids("sparlin")
