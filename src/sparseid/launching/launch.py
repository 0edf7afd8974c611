"""Hand the cells of a plan to Hydra's launcher and sum up how they ended."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks  # HydraContext needs one, and nothing public makes it
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext
from omegaconf import DictConfig

from sparseid.config.compose import to_run_config
from sparseid.config.errors import ConfigError
from sparseid.config.identity import recipe_hash
from sparseid.config.origin import Origins
from sparseid.config.sweep import Plan
from sparseid.config.validate import absent
from sparseid.launching.cell import DONE, FAILED, Outcome, run_cell
from sparseid.training.run_folder import RunFolder

MOST_REMARKS = 12
"""Remarks of runs that the end of a sweep shows; one text that many runs remark counts once."""


class Task:
    """What Hydra's launchers are given: the cells of a plan, and how one of them is run.

    Attributes
    ----------
    runs
        The checked configurations in the order of the plan. Our launchers take these: nothing is composed twice.
    single
        True if no sweep was asked for.
    """

    def __init__(self, planned: Plan):
        self.runs = tuple(cell.run for cell in planned.cells)
        self.single = not planned.swept

    def __call__(self, tree: DictConfig) -> Outcome:
        """Run one cell composed by a launcher of someone else's."""
        return run_cell(to_run_config(tree, Origins([], Path())), page=self.single)


def returns(outcomes: Sequence[Outcome]) -> list[JobReturn]:
    """Return outcomes in the form in which Hydra's launchers hand back results."""
    return [JobReturn(status=JobStatus.COMPLETED, _return_value=outcome) for outcome in outcomes]


def launch(planned: Plan, configs: Path) -> list[Outcome]:
    """Run the cells with the launcher the configuration picks (``hydra/launcher``), a single run too.

    A launcher asked for is thus never ignored, as Hydra itself does in its single-run mode.
    """
    import sparseid.papers.registry  # noqa: F401 - a paper that cannot be imported is named before any run begins

    _refuse_processes_in_one(planned)
    for cell in planned.cells:
        for problem in absent(cell.run):
            raise ConfigError(problem.text, source=", ".join(problem.keys))
    if planned.swept:
        print(f"{len(planned.cells)} runs over {', '.join(planned.swept)}", flush=True)
    with initialize_config_dir(str(configs), job_name="sparseid", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
    # outside of the context, so that a run may compose configurations of its own
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=loader, callbacks=Callbacks()),
        task_function=Task(planned),
        config=planned.tree,
    )
    jobs: Sequence[JobReturn] = launcher.launch([cell.overrides for cell in planned.cells], initial_job_idx=0)
    return [job.return_value for job in jobs]


def _refuse_processes_in_one(planned: Plan) -> None:
    """Refuse a sweep of runs on several devices inside one process: Lightning would start the sweep once per device."""
    several = any(cell.run.trainer.devices > 1 for cell in planned.cells)
    if planned.swept and several and planned.tree.hydra.launcher._target_.endswith("BasicLauncher"):
        raise ConfigError(
            "hydra/launcher=basic makes all runs in one process, and these need several (trainer.devices)",
            source="command line: hydra/launcher=basic",
            hint="leave it out (hydra/launcher=local)",
        )


def summarise(planned: Plan, outcomes: Sequence[Outcome]) -> int:
    """Report the artefact of a sweep, list the cells that failed, and return the exit code."""
    failed = [outcome for outcome in outcomes if outcome.code != DONE]
    if any(outcome.waiting for outcome in outcomes):
        print("make report shows what has finished; the same command attaches to these runs or makes what is missing")
    elif planned.swept:
        _finish_sweep(planned)
        _say_remarks(outcomes)
    if failed and planned.swept:
        print(f"{len(failed)} of {len(outcomes)} runs failed; the same command runs them again:", file=sys.stderr)
        for outcome in failed:
            print(f"  {outcome.name}: {outcome.message}\n    {outcome.folder / 'log.txt'}", file=sys.stderr)
        return FAILED
    return max((outcome.code for outcome in outcomes), default=DONE)


def _say_remarks(outcomes: Sequence[Outcome]) -> None:
    """Say what the runs of a sweep remarked, which is otherwise in their logs alone; each text once."""
    remarks = Counter(text for outcome in outcomes for text in RunFolder(outcome.folder).remarks)
    for text, runs in remarks.most_common(MOST_REMARKS):
        print(
            text
            if len(outcomes) == 1
            else f"{'all' if runs == len(outcomes) else runs} of {len(outcomes)} runs: {text}"
        )
    if len(remarks) > MOST_REMARKS:
        print(f"and {len(remarks) - MOST_REMARKS} more: remarks.json in the folders of the runs")


def _finish_sweep(planned: Plan) -> None:
    """Bring the report up to date; print the table over all finished runs where the experiment is an artefact."""
    from sparseid.papers.registry import ARTEFACTS
    from sparseid.reporting.page import build_report
    from sparseid.reporting.summary import finish_artefact

    run = planned.cells[0].run
    if run.experiment in ARTEFACTS:
        recipes = frozenset(recipe_hash(cell.run) for cell in planned.cells)
        finish_artefact(run.experiment, Path(run.outputs), run.scale, recipes)
    else:
        print(f"Report:  {build_report(Path(run.outputs))}")
