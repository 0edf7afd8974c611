"""The command line: what it answers, in how long, with which exit code, and what it leaves behind."""

import errno
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from sparseid.config.identity import run_directory, run_name
from sparseid.errors import InputError
from sparseid.launching import launch
from sparseid.launching.main import main
from sparseid.training.errors import RunDiverged, RunError
from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]
SMOKE = "scale=smoke"
FIGURE = "experiment=sparling/fig3"
HERE = "hydra/launcher=basic"
"""All runs in this process, where they can be replaced."""

# As a process: a user's view


def command(*arguments, cwd=ROOT, **environment):
    return subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


HEAVY = {"torch", "pytorch_lightning", "pandas", "scipy", "matplotlib", "sklearn", "scanpy", "wandb", "submitit"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--cfg", "job"], ["+method.encoder.widht=3"], ["experiment=digitcircel"]]
)
def test_answers_without_importing_anything_heavy(arguments):
    """Help and typos import no torch, so they answer in half a second (a time would depend on the machine's load)."""
    done = command(*arguments, PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "sparseid.launching.main" in imported
    assert not imported & HEAVY


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["trainer.max_sample=3"], "did you mean: trainer.max_samples"),
        (["+method.encoder.widht=3", "--cfg", "job"], "did you mean: method.encoder.width"),
        (["data.min_digits=9"], "data.min_digits exceeds data.max_digits"),
        (["outputs=run.py/runs"], "cannot write to the folder of runs"),
        (["--cgf", "job"], "--help"),
    ],
)
def test_mistake_exits_2_with_one_message_before_torch_is_imported(arguments, wanted):
    done = command(*arguments, PYTHONPROFILEIMPORTTIME="1")
    lines = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert done.returncode == 2
    assert lines[0].startswith("error: ")
    assert wanted in "\n".join(lines)
    assert "Traceback" not in done.stderr
    assert "torch" not in {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.stdout == ""


def test_typo_in_a_preset_exits_2(tmp_path):
    configs = shutil.copytree(ROOT / "configs", tmp_path / "configs")
    with (configs / "experiment/digitcircle.yaml").open("a") as file:
        file.write("trainer: {max_sample: 3}\n")
    code = (
        "import sys; from pathlib import Path; from sparseid.launching.main import main;"
        f"sys.exit(main([], Path({str(configs)!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "configs/experiment/digitcircle.yaml" in done.stderr
    assert "did you mean: trainer.max_samples" in done.stderr


# In this process, with the run and its report replaced


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Names of runs and reports; `fail` maps a seed to the error that its run or report raises."""
    calls = types.SimpleNamespace(executed=[], finished=[], pages=[], artefacts=[], shown=[], fail={}, fail_report={})

    def execute(cfg):
        calls.executed.append(cfg)
        if cfg.seed in calls.fail:
            raise calls.fail[cfg.seed]
        return run_directory(cfg)

    def finish_run(folder, page):
        calls.pages.append(page)
        calls.finished.append(folder.name)
        if calls.fail_report:
            raise calls.fail_report[0]

    def finish_artefact(artefact_id, outputs, scale, asked):
        calls.artefacts.append((artefact_id, outputs, scale))

    run = types.SimpleNamespace(execute=execute)

    def show(folders):
        calls.shown += [folders] if isinstance(folders, Path) else list(folders)

    summary = types.SimpleNamespace(
        finish_run=finish_run, finish_artefact=finish_artefact, show_run=show, show_runs=show
    )
    monkeypatch.setitem(sys.modules, "sparseid.training.run", run)
    monkeypatch.setitem(sys.modules, "sparseid.reporting.summary", summary)
    monkeypatch.chdir(tmp_path)
    return calls


def seeds(calls):
    return [cfg.seed for cfg in calls.executed]


def mark_done(cfg):
    folder = RunFolder(run_directory(cfg))
    (folder.path / "figures").mkdir(parents=True)
    write_rows(folder.result, [])
    folder.write_status("done")


def test_one_run_is_made_and_reported(calls, capfd):
    assert main([SMOKE, "seed=3"]) == 0
    assert seeds(calls) == [3]
    assert calls.finished == [run_name(calls.executed[0])]
    assert calls.pages == [True]
    assert calls.artefacts == []


def test_nothing_is_left_behind_but_the_folder_of_runs(calls, tmp_path):
    before = os.getcwd()
    assert main([SMOKE, FIGURE, HERE, "outputs=runs"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert os.getcwd() == before


def test_asking_for_a_configuration_makes_nothing(calls, tmp_path, capsys):
    assert main([SMOKE, FIGURE, "--cfg", "job"]) == 0
    shown = capsys.readouterr().out
    assert "# 2 runs over seed" in shown
    assert shown.count("# outputs/smoke/sparling/digitcircle-sparling_mt-seed") == 2
    assert "experiment: sparling/fig3" in shown
    assert list(tmp_path.iterdir()) == []
    assert calls.executed == []


def test_figure_runs_its_seeds_and_then_its_report(calls):
    assert main([SMOKE, FIGURE, HERE]) == 0
    assert calls.pages == [False, False]  # the page is made once, at the end
    assert seeds(calls) == [0, 1]
    assert calls.artefacts == [("sparling/fig3", Path("outputs"), "smoke")]
    assert all(cfg.experiment == "sparling/fig3" for cfg in calls.executed)


def test_the_end_of_a_sweep_says_once_what_its_runs_remarked(calls, capfd, monkeypatch):
    def execute(cfg):
        folder = RunFolder(run_directory(cfg))
        folder.path.mkdir(parents=True)
        for text in ("NOT COMPARABLE with the paper: other data", f"seed {cfg.seed} diverged"):
            folder.remark(text)
            folder.remark(text)  # by a second start of the same run
        assert len(folder.remarks) == 2
        return folder.path

    monkeypatch.setattr(sys.modules["sparseid.training.run"], "execute", execute)
    monkeypatch.setattr(launch, "MOST_WARNINGS", 2)
    assert main([SMOKE, FIGURE, HERE]) == 0
    end = capfd.readouterr().out.splitlines()[-3:]
    assert end[0] == "all of 2 runs: NOT COMPARABLE with the paper: other data"
    first = "digitcircle-sparling_mt-seed0-2f6f8f92"  # without a configuration the name; else "seed=0"
    assert end[1] == f"1 of 2 runs ({first}): seed 0 diverged"
    assert end[2] == "and 1 more: remarks.json in the folders of the runs"


@pytest.mark.parametrize(
    "arguments", [["seed=4,5"], ["--multirun", "seed=4,5"], [FIGURE, "seed=4,5"], ["-m", FIGURE, "seed=4,5"]]
)
def test_typed_values_are_swept(calls, arguments):
    assert main([SMOKE, HERE, *arguments]) == 0
    assert seeds(calls) == [4, 5]


def test_a_sweep_and_a_run_that_is_done_show_their_numbers(calls, monkeypatch):
    monkeypatch.setattr("sparseid.reporting.page.build_report", lambda *given, **named: Path("report"))
    monkeypatch.setattr("sparseid.launching.one_run._on_page", lambda *_: True)
    own = ["experiment=regcl/arrays", SMOKE, "data.path=series.npz", "data.latents=2"]
    rng = np.random.default_rng(0)
    np.savez("series.npz", observations=rng.normal(size=(400, 5)), labels=rng.normal(size=(400, 1)))
    assert main([*own, HERE, "method.penalty_weight=0.1,0.2"]) == 0
    assert calls.shown == [], "no run is done"
    for cfg in calls.executed:
        mark_done(cfg)
    assert main([*own, HERE, "method.penalty_weight=0.1,0.2"]) == 0
    assert calls.shown == [run_directory(cfg) for cfg in calls.executed]
    assert main([*own, "method.penalty_weight=0.1"]) == 0
    assert calls.shown[2:] == [run_directory(calls.executed[0])]


def test_done_runs_are_skipped_and_named(calls, capfd):
    main([SMOKE])
    mark_done(calls.executed[0])
    assert main([SMOKE, FIGURE, HERE]) == 0
    assert seeds(calls) == [0, 1]  # seed 0 by the first command
    assert f"is done: {run_directory(calls.executed[0])}" in capfd.readouterr().out
    assert main([SMOKE, "force=true"]) == 0
    assert seeds(calls) == [0, 1, 0]


def test_failed_trial_does_not_lose_the_others(calls, capfd):
    calls.fail = {1: RunError("no space left"), 2: ZeroDivisionError("division by zero")}
    assert main([SMOKE, FIGURE, HERE, "seed=0,1,2,3"]) == 1
    assert seeds(calls) == [0, 1, 2, 3]
    assert len(calls.finished) == 2
    assert calls.artefacts == [("sparling/fig3", Path("outputs"), "smoke")]
    error = capfd.readouterr().err
    assert "2 of 4 runs failed" in error
    assert "no space left" in error
    assert "ZeroDivisionError: division by zero" in error
    assert error.count("Traceback") == 1  # a bug of ours has one; an error that says what to do has none


def test_exit_code_of_one_failed_run(calls):
    calls.fail = {0: RunError("no space left")}
    assert main([SMOKE]) == 1
    calls.fail = {0: InputError("two equal glyphs")}
    assert main([SMOKE]) == 2


def test_failed_report_says_that_the_run_is_safe(calls, capfd):
    calls.fail_report = {0: ValueError("no such figure")}
    assert main([SMOKE]) == 1
    assert "its report failed" in capfd.readouterr().out


def test_a_report_that_cannot_be_written_hides_no_failed_run(calls, capfd, monkeypatch):
    def finish_artefact(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "outputs/report/rows.csv")

    monkeypatch.setattr(sys.modules["sparseid.reporting.summary"], "finish_artefact", finish_artefact)
    calls.fail = {1: RunError("no space left")}
    assert main([SMOKE, FIGURE, HERE, "seed=0,1"]) == 1
    error = capfd.readouterr().err
    assert "Traceback" not in error
    assert error.index("1 of 2 runs failed") < error.index("the report cannot be written: [Errno 28] No space left")
    calls.fail = {}
    assert main([SMOKE, FIGURE, HERE, "seed=0,1"]) == 1


def test_a_single_run_whose_report_cannot_be_written_says_so_in_a_line(calls, capfd):
    calls.fail_report = {0: OSError(errno.EROFS, "Read-only file system", "outputs/report")}
    assert main([SMOKE]) == 1
    said = capfd.readouterr()
    assert "it cannot be written: [Errno 30] Read-only file system: 'outputs/report'" in said.out
    assert "Traceback" not in said.out + said.err


def test_what_has_diverged_is_not_repeated_by_the_same_command_and_that_is_said(calls, capfd):
    def diverge(cfg):
        folder = RunFolder(run_directory(cfg))
        folder.path.mkdir(parents=True)
        folder.write_status("diverged", "the loss is not finite")
        raise RunDiverged("it has diverged")

    sys.modules["sparseid.training.run"].execute = diverge
    assert main([SMOKE, FIGURE, HERE]) == 1
    assert "runs them again, but 2 that diverged only with force=true:" in capfd.readouterr().err


def test_nothing_runs_if_one_trial_is_wrong(calls, capfd):
    assert main([SMOKE, "seed=0,-1"]) == 2
    assert calls.executed == []
    assert "command line: seed=-1" in capfd.readouterr().err


def test_launcher_asked_for_is_used_for_a_single_run_too(calls, monkeypatch, capfd):
    from hydra._internal.core_plugins.basic_launcher import BasicLauncher

    launched = []
    launch = BasicLauncher.launch
    monkeypatch.setattr(
        BasicLauncher, "launch", lambda self, jobs, **rest: launched.append(jobs) or launch(self, jobs, **rest)
    )
    assert main([SMOKE, "hydra/launcher=basic"]) == 0
    assert [list(map(tuple, jobs)) for jobs in launched] == [[(SMOKE,)]]
    monkeypatch.setenv("PATH", "")
    assert main([SMOKE, "hydra/launcher=slurm"]) == 2
    assert "sbatch is not found" in capfd.readouterr().err
    assert len(calls.executed) == 1


def test_interrupt_says_how_to_go_on(calls, capfd):
    calls.fail = {0: KeyboardInterrupt()}
    assert main([SMOKE, HERE, "seed=0,1"]) == 130
    assert seeds(calls) == [0]
    assert "the same command" in capfd.readouterr().err


def test_help_lists_every_experiment(capsys):
    assert main(["--help"]) == 0
    page = capsys.readouterr().out
    for word in ("digitcircle", "sparling/fig3", "sparling/fig4", "smoke", "small", "paper", "ddp", "--cfg job"):
        assert word in page
    assert max(map(len, page.splitlines())) <= 120
