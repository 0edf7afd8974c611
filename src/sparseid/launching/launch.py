"""Hand the runs of a plan to Hydra's launcher and summarise their outcomes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks  # HydraContext needs one, and there is no public way
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext
from omegaconf import DictConfig

from sparseid.config.compose import to_run_config
from sparseid.config.identity import recipe_hash
from sparseid.config.messages import Origins
from sparseid.config.sweep import Plan
from sparseid.config.validate import missing_files
from sparseid.errors import ConfigError
from sparseid.files import refused
from sparseid.launching.local import here
from sparseid.launching.one_run import DONE, FAILED, Outcome, make_run
from sparseid.training.run_folder import RunFolder

MOST_WARNINGS = 12
"""Maximal number of distinct warnings of runs that are printed at the end of a sweep."""


class Task:
    """The task function of Hydra's launchers: makes one run of a plan."""

    def __init__(self, planned: Plan):
        self.runs = tuple(trial.run for trial in planned.trials)
        """The checked configurations in order; our launchers use them, so that nothing is composed twice."""
        self.single = not planned.swept

    def __call__(self, tree: DictConfig) -> Outcome:
        """Make one run that a third-party launcher has composed."""
        return make_run(to_run_config(tree, Origins([], Path())), page=self.single)


def returns(outcomes: Sequence[Outcome]) -> list[JobReturn]:
    """Return outcomes in the form of Hydra's launchers."""
    return [JobReturn(status=JobStatus.COMPLETED, _return_value=outcome) for outcome in outcomes]


def launch(planned: Plan, configs: Path) -> list[Outcome]:
    """Make the runs with the configured launcher (``hydra/launcher``), also a single one, unlike Hydra itself."""
    import sparseid.papers.registry  # noqa: F401 - a paper that cannot be imported is named before any run begins

    _refuse_processes_in_one(planned)
    for trial in planned.trials:
        for problem in missing_files(trial.run):
            raise ConfigError(problem.text, source=", ".join(problem.keys))
    if planned.swept:
        print(f"{len(planned.trials)} runs over {', '.join(planned.swept)}", flush=True)
    with initialize_config_dir(str(configs), job_name="sparseid", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
    # outside of the context, so that runs may compose other configurations
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=loader, callbacks=Callbacks()),
        task_function=Task(planned),
        config=planned.tree,
    )
    with here([trial.run for trial in planned.trials]) if _in_this_process(planned) else nullcontext():
        jobs: Sequence[JobReturn] = launcher.launch([trial.overrides for trial in planned.trials], initial_job_idx=0)
    return [job.return_value for job in jobs]


def _refuse_processes_in_one(planned: Plan) -> None:
    """Refuse a sweep of runs on several devices in one process: Lightning would start the sweep once per device."""
    several = any(trial.run.trainer.devices > 1 for trial in planned.trials)
    if planned.swept and several and _in_this_process(planned):
        raise ConfigError(
            "hydra/launcher=basic uses one process for all runs, but these need several (trainer.devices)",
            source="command line: hydra/launcher=basic",
            hint="omit it (hydra/launcher=local)",
        )


def _in_this_process(planned: Plan) -> bool:
    """Return whether the launcher makes all runs in this process (``hydra/launcher=basic``)."""
    return bool(planned.tree.hydra.launcher._target_.endswith("BasicLauncher"))


def summarise(planned: Plan, outcomes: Sequence[Outcome]) -> int:
    """Report the artefact of a sweep, list the failed runs, and return the exit code."""
    failed = [outcome for outcome in outcomes if outcome.code != DONE]
    code = max((outcome.code for outcome in outcomes), default=DONE)
    if failed and planned.swept:  # before the report, whose errors must not hide it
        _print_failed(failed, len(outcomes))
        code = FAILED
    if any(outcome.waiting for outcome in outcomes):
        print("make report shows finished runs; the same command attaches to these runs or starts missing ones")
    elif planned.swept:
        try:
            _finish_sweep(planned, outcomes)
        except OSError as error:
            remedy = refused(error, "; ")
            print(f"error: the report cannot be written: {error}{remedy}; make report repeats it", file=sys.stderr)
            code = FAILED
        _print_warnings(outcomes)
    return code


def _print_failed(failed: Sequence[Outcome], runs: int) -> None:
    diverged = sum(RunFolder(outcome.folder).state == "diverged" for outcome in failed)
    but = f", but {diverged} that diverged only with force=true" if diverged else ""
    print(f"{len(failed)} of {runs} runs failed; the same command runs them again{but}:", file=sys.stderr)
    for outcome in failed:
        print(f"  {outcome.name}: {outcome.message}\n    {outcome.folder / 'log.txt'}", file=sys.stderr, flush=True)


def _print_warnings(outcomes: Sequence[Outcome]) -> None:
    """Print the warnings of a sweep's runs, each text once; otherwise they are only in the logs."""
    from sparseid.reporting.runs_table import labels_text, run_labels

    folders = [outcome.folder for outcome in outcomes]
    warnings: dict[str, list[Path]] = {}
    for folder in folders:
        for text in RunFolder(folder).remarks:
            warnings.setdefault(text, []).append(folder)
    labels = run_labels(folders)
    for text, of in sorted(warnings.items(), key=lambda warning: -len(warning[1]))[:MOST_WARNINGS]:
        which = (
            f"all of {len(of)} runs"
            if len(of) == len(folders)
            else (f"{len(of)} of {len(folders)} runs ({labels_text(of, labels)})")
        )
        print(text if len(folders) == 1 else f"{which}: {text}")
    if len(warnings) > MOST_WARNINGS:
        print(f"and {len(warnings) - MOST_WARNINGS} more: remarks.json in the folders of the runs")


def _finish_sweep(planned: Plan, outcomes: Sequence[Outcome]) -> None:
    """Print the table of the artefact over all its finished runs, or that of the sweep's; update the report."""
    from sparseid.papers.registry import ARTEFACTS
    from sparseid.reporting.page import build_report
    from sparseid.reporting.summary import finish_artefact, show_runs

    run = planned.trials[0].run
    if run.experiment in ARTEFACTS:
        recipes = frozenset(recipe_hash(trial.run) for trial in planned.trials)
        finish_artefact(run.experiment, Path(run.outputs), run.scale, recipes)
    else:
        show_runs(outcome.folder for outcome in outcomes if RunFolder(outcome.folder).state == "done")
        papers = sorted({trial.run.paper for trial in planned.trials})
        print(f"Report:  {build_report(Path(run.outputs), papers=papers)}")
