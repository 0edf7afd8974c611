"""Left out where done or submitted already, sent, and followed until no job is left in the queue."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory, run_name
from sparseid.config.schema import RunConfig
from sparseid.launching.cell import DONE, FAILED, Outcome, left_out, run_cell
from sparseid.launching.overview import Overview
from sparseid.launching.slurm.job import status_folder
from sparseid.launching.slurm.queue import Queued, QueueError, compact, jobs_in_queue, why_not_done
from sparseid.launching.slurm.settings import SlurmSettings
from sparseid.launching.slurm.submit import Submission
from sparseid.training.errors import RunBusy, RunError
from sparseid.training.run_folder import RunFolder

SLOWEST_POLL_S = 15.0
"""Seconds between two looks at the queue of a sweep that takes long; short ones are looked at every second."""


def launch_slurm(runs: Sequence[RunConfig], single: bool, settings: SlurmSettings) -> list[Outcome]:
    """Make cells as jobs of the cluster; nothing is trained here.

    Parameters
    ----------
    runs
        Checked configurations.
    single
        True if no sweep was asked for: its results are shown at the end, as of a run that is made here.
    settings
        Those of ``hydra.launcher``.

    Returns
    -------
    list[Outcome]
        How each cell ended (with ``wait=false``: that it waits), in the order of `runs`.

    Raises
    ------
    ConfigError
        If there is no SLURM here, or it refuses the jobs.
    KeyboardInterrupt
        On Ctrl-C; the jobs go on.
    """
    queue = _queue_at_start()
    cells = {run_name(run): run for run in runs}
    outcomes = {name: outcome for name, run in cells.items() if (outcome := left_out(run)) is not None}
    if outcomes:
        print(f"{len(outcomes)} of {len(cells)} left out: done, or diverged", flush=True)
    known = {name: _job(run) for name, run in cells.items() if name not in outcomes}
    jobs = {name: job for name, job in known.items() if job in queue}
    for name, job in jobs.items():
        print(f"{name} is submitted already as job {job}", flush=True)
    todo = []
    for name in known.keys() - jobs.keys():
        outcome = _prepare(cells[name])
        if outcome is None:
            todo.append(name)
        else:
            outcomes[name] = outcome
    submission = Submission(settings)
    submitted = submission.send([cells[name] for name in known if name in todo])
    jobs.update(submitted)
    if submission.refused:
        if not jobs:
            raise ConfigError(f"sbatch refuses the jobs: {submission.refused}", hint="see hydra.launcher.*")
        refused = f"sbatch refused it: {submission.refused}"
        missing = [name for name in todo if name not in jobs]
        outcomes |= {name: Outcome(name, run_directory(cells[name]), FAILED, refused) for name in missing}
    if not settings.wait:
        outcomes |= {name: Outcome(name, run_directory(cells[name]), waiting=True) for name in jobs}
    elif jobs:
        outcomes |= follow({name: (cells[name], job) for name, job in jobs.items()}, Path(settings.submitit_folder))
    ended = [outcomes[run_name(run)] for run in runs]
    if single and ended[0].code == DONE and not ended[0].waiting:
        return [run_cell(dataclasses.replace(runs[0], force=False))]
    return ended


def _queue_at_start() -> dict[str, Queued]:
    """The queue, without which it cannot be said what is submitted already."""
    if missing := [name for name in ("sbatch", "srun", "squeue", "scontrol") if shutil.which(name) is None]:
        raise ConfigError(
            f"{missing[0]} is not found: this is no machine of a SLURM cluster",
            source="hydra/launcher=slurm",
            hint="log in where jobs are submitted, or leave out hydra/launcher=slurm to run here",
        )
    try:
        return jobs_in_queue()
    except QueueError as error:
        raise ConfigError(str(error), source="hydra/launcher=slurm", hint="try again when SLURM answers") from error


def _job(run: RunConfig) -> str:
    return str((status_folder(run).read_status() or {}).get("job", ""))


def _prepare(run: RunConfig) -> Outcome | None:
    """Create the run's folder with its config.yaml; return an outcome if no job should be sent."""
    folder = RunFolder(run_directory(run))
    if folder.state == "done" and not run.force:  # but its figures are missing: drawn here, nothing is trained
        return run_cell(run, page=False)
    try:
        with folder.lock():
            status_folder(run).open(run)
    except RunError as error:
        return Outcome(run_name(run), folder.path, FAILED, str(error), busy=isinstance(error, RunBusy))
    return None


def follow(jobs: Mapping[str, tuple[RunConfig, str]], folder: Path) -> dict[str, Outcome]:
    """Wait until no job is in the queue; say how far they are.

    Parameters
    ----------
    jobs
        Run and job id by the run's name.
    folder
        Where the jobs write.

    Returns
    -------
    dict[str, Outcome]
        How each run ended.
    """
    left, gone, outcomes = dict(jobs), set[str](), dict[str, Outcome]()
    started, silent = time.monotonic(), False
    with Overview(list(jobs), 1) as overview:
        try:
            while left:
                time.sleep(min(SLOWEST_POLL_S, 1 + (time.monotonic() - started) / 20))
                overview.tick()
                try:
                    queue = jobs_in_queue()
                except QueueError as error:
                    if not silent:
                        print(f"{error}; asking again", flush=True)
                    silent = True
                    continue
                silent = False
                overview.at_once = max(1, sum(not queue[job].waits for _, job in left.values() if job in queue))
                for name, (run, job) in list(left.items()):
                    if job in queue and not queue[job].waits:
                        if name not in overview.begun:
                            overview.began(name)
                    elif job in queue:
                        if name in overview.begun:
                            overview.waits(name, f"job {job} is requeued")
                    elif status_folder(run).state == "done" or name in gone:
                        outcomes[name] = _ended(run, job, folder)
                        overview.ended(outcomes[name])
                        del left[name]
                    else:
                        gone.add(name)  # a shared file system may take a while to show the last status.json
        except KeyboardInterrupt:
            ids = " ".join(f"'{job}'" for job in compact(job for _, job in left.values()))
            print(
                f"\n{len(left)} jobs go on; the same command attaches to them again; to cancel them:\n  scancel {ids}",
                file=sys.stderr,
                flush=True,
            )
            raise
    return outcomes


def _ended(run: RunConfig, job: str, folder: Path) -> Outcome:
    """How a run ended whose job is no longer in the queue."""
    name, path = run_name(run), run_directory(run)
    remade = run.force and not status_folder(run).path.exists()
    if RunFolder(path).state == "done" and (remade or not run.force):
        return Outcome(name, path)
    status = status_folder(run).read_status() or {}
    return Outcome(name, path, FAILED, why_not_done(status, job, folder / f"{job}_0_log.out"))
