"""Hand the cells of a plan to Hydra's launcher and sum up how they ended."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.types import HydraContext
from omegaconf import DictConfig

from sparseid.config.compose import to_run_config
from sparseid.config.origin import Origins
from sparseid.config.sweep import Plan
from sparseid.launching.cell import DONE, Outcome, run_cell


def launch(planned: Plan, configs: Path) -> list[Outcome]:
    """Run the cells with the launcher the configuration picks (``hydra/launcher``), a single run too.

    A launcher asked for is thus never ignored, as Hydra itself does in its single-run mode.
    """
    if len(planned.cells) > 1:
        print(f"{len(planned.cells)} runs over {', '.join(planned.swept)}", flush=True)
    with initialize_config_dir(str(configs), job_name="sparseid", version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
    # outside of the context, so that a run may compose configurations of its own
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=loader, callbacks=Callbacks()),
        task_function=task,
        config=planned.tree,
    )
    returns: Sequence[JobReturn] = launcher.launch([cell.overrides for cell in planned.cells], initial_job_idx=0)
    return [job.return_value for job in returns]


def task(tree: DictConfig) -> Outcome:
    """Run one cell: what Hydra's launchers call, in this process or another."""
    return run_cell(to_run_config(tree, Origins([], Path())))


def summarise(planned: Plan, outcomes: Sequence[Outcome]) -> int:
    """Report the artefact of a sweep, list the cells that failed, and return the exit code."""
    failed = [outcome for outcome in outcomes if outcome.code != DONE]
    if planned.swept:
        _finish_artefact(planned)
    if failed and len(outcomes) > 1:
        print(f"{len(failed)} of {len(outcomes)} runs failed; the same command runs them again:", file=sys.stderr)
        for outcome in failed:
            print(f"  {outcome.name}: {outcome.message}\n    {outcome.folder / 'log.txt'}", file=sys.stderr)
        return 1
    return max((outcome.code for outcome in outcomes), default=DONE)


def _finish_artefact(planned: Plan) -> None:
    """Make the table and the figure over all finished runs, where the experiment is an artefact of a paper."""
    from sparseid.papers.registry import ARTEFACTS

    run = planned.cells[0].run
    if run.experiment not in ARTEFACTS:
        return
    from sparseid.reporting.summary import finish_artefact

    finish_artefact(run.experiment, Path(run.outputs), run.scale)
