"""Submit the runs that still need a job, then follow them until the queue is empty."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from sparseid.config.identity import run_directory, run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import ConfigError
from sparseid.homes import expanded
from sparseid.launching.one_run import DONE, FAILED, Outcome, make_run, report_skipped, skipped
from sparseid.launching.progress import SweepProgress
from sparseid.launching.slurm.job import status_folder
from sparseid.launching.slurm.queue import Queued, QueueError, compact, jobs_in_queue, why_not_done
from sparseid.launching.slurm.settings import SlurmSettings
from sparseid.launching.slurm.submit import Submission, refuse_tasks
from sparseid.training.errors import RunBusy, RunError
from sparseid.training.run_folder import RunFolder

SLOWEST_POLL_S = 15.0
"""Maximal seconds between two queries of the queue; at first there is one every second."""

REFUSED = "request only what the cluster has; a smaller hydra.launcher.max_array splits arrays that are too long"

ORDINARY = ("None", "Resources", "Priority", "Dependency", "BeginTime", "JobArrayTaskLimit")
"""Ordinary reasons of squeue for waiting; others are printed."""


def launch_slurm(runs: Sequence[RunConfig], single: bool, settings: SlurmSettings) -> list[Outcome]:
    """Make runs as jobs of the cluster; return their outcomes (``waiting`` with ``wait=false``), in order.

    The results of a `single` run are printed at the end, as for a local one.

    Raises
    ------
    ConfigError
        If SLURM is not available here or refuses the jobs, or if tasks of a job do not fit its run.
    KeyboardInterrupt
        On Ctrl-C; the jobs continue.
    """
    _require_slurm()
    refuse_tasks(runs, settings)
    folder = Path(expanded(settings.submitit_folder))
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".submitting"):  # a second command would not see jobs that are being submitted
        outcomes, jobs = _submit({run_name(run): run for run in runs}, settings)
    if settings.wait:
        outcomes |= follow(jobs, folder)
    else:
        outcomes |= {name: Outcome(name, run_directory(run), waiting=True) for name, (run, _) in jobs.items()}
    ended = [outcomes[run_name(run)] for run in runs]
    if single and ended[0].code == DONE and not ended[0].waiting:
        return [make_run(dataclasses.replace(runs[0], force=False))]
    return ended


def _submit(
    runs: dict[str, RunConfig], settings: SlurmSettings
) -> tuple[dict[str, Outcome], dict[str, tuple[RunConfig, str]]]:
    """Submit the missing runs; return the outcomes of the others, and run and job of those in the queue now."""
    try:
        queue = jobs_in_queue(_users(runs.values()))
    except QueueError as error:  # submitted jobs are unknown
        raise ConfigError(str(error), source="hydra/launcher=slurm", hint="try again when SLURM answers") from error
    checked = {name: skipped(run) for name, run in runs.items()}
    if len(runs) > 1:
        report_skipped(list(checked.values()))
    outcomes = {name: outcome for name, outcome in checked.items() if outcome is not None}
    jobs = {name: job for name, run in runs.items() if name not in outcomes and (job := _job(run)) in queue}
    if jobs:
        print(f"{len(jobs)} already submitted as job {', '.join(compact(jobs.values()))}", flush=True)
    todo = {}
    for name in [name for name in runs if name not in outcomes and name not in jobs]:
        if (outcome := _prepare(runs[name])) is None:
            todo[name] = runs[name]
        else:
            outcomes[name] = outcome
    submission = Submission(settings)
    jobs |= submission.send(list(todo.values()), queued=jobs)
    if submission.refused and not jobs:
        raise ConfigError(f"sbatch refuses the jobs: {submission.refused}", source="hydra.launcher.*", hint=REFUSED)
    refused = f"sbatch refused it: {submission.refused}"
    outcomes |= {name: Outcome(name, run_directory(todo[name]), FAILED, refused) for name in todo if name not in jobs}
    return outcomes, {name: (runs[name], job) for name, job in jobs.items()}


def _require_slurm() -> None:
    if missing := [name for name in ("sbatch", "srun", "squeue", "scontrol") if shutil.which(name) is None]:
        raise ConfigError(
            f"{missing[0]} is not found: this machine does not belong to a SLURM cluster",
            source="hydra/launcher=slurm",
            hint="log in to a submit host, or omit hydra/launcher=slurm to run here",
        )


def _users(runs: Iterable[RunConfig]) -> set[int]:
    """Return the users who may have jobs for these runs: ours, and the owners of their status files."""
    users = {os.getuid()}
    for run in runs:
        with contextlib.suppress(OSError):
            users.add((status_folder(run).path / "status.json").stat().st_uid)
    return users


def _job(run: RunConfig) -> str:
    return str((status_folder(run).read_status() or {}).get("job", ""))


def _prepare(run: RunConfig) -> Outcome | None:
    """Create the run's folder with its config.yaml; return an outcome if it needs no job."""
    folder = RunFolder(run_directory(run))
    if folder.state == "done" and not run.force:  # only its figures are missing: they are drawn here
        return make_run(run, page=False)
    try:
        with folder.lock():
            status_folder(run).open(run)
    except RunError as error:
        return Outcome(run_name(run), folder.path, FAILED, str(error), busy=isinstance(error, RunBusy))
    return None


def follow(jobs: Mapping[str, tuple[RunConfig, str]], folder: Path) -> dict[str, Outcome]:
    """Wait until no job is in the queue and print the progress; return the outcomes by the run's name.

    Parameters
    ----------
    jobs
        Run and job id by the run's name; they continue after Ctrl-C.
    folder
        Folder of the jobs' output.
    """
    sweep = _Sweep(jobs, folder)
    users = _users(run for run, _ in jobs.values())
    started, silent = time.monotonic(), False
    with sweep.progress:
        try:
            while sweep.left:
                time.sleep(min(SLOWEST_POLL_S, 1 + (time.monotonic() - started) / 20))
                try:
                    sweep.look(jobs_in_queue(users))
                    silent = False
                except QueueError as error:  # perhaps it is busy: nothing is lost by a retry
                    if not silent:
                        print(f"{error}; asking again", flush=True)
                    silent = True
                sweep.progress.tick()
        except KeyboardInterrupt:
            ids = " ".join(f"'{job}'" for job in compact(job for _, job in sweep.left.values()))
            print(f"\n{len(sweep.left)} jobs continue; the same command attaches to them again", file=sys.stderr)
            print(f"to cancel them: scancel {ids}", file=sys.stderr, flush=True)
            raise
    return sweep.outcomes


class _Sweep:
    """The remaining jobs, and the outcomes of the others."""

    def __init__(self, jobs: Mapping[str, tuple[RunConfig, str]], folder: Path) -> None:
        self.left, self.folder = dict(jobs), folder
        self.progress = SweepProgress(list(jobs), 1)
        self.outcomes: dict[str, Outcome] = {}
        self._gone: set[str] = set()
        self._printed: set[str] = set()

    def look(self, queue: Mapping[str, Queued]) -> None:
        """Compare with the queue."""
        self.progress.at_once = max(1, sum(job in queue and not queue[job].waits for _, job in self.left.values()))
        self._print_reasons(queue)
        for name, (run, job) in list(self.left.items()):
            if job not in queue:
                self._left_queue(name, run, job)
            elif not queue[job].waits and name not in self.progress.begun:
                self.progress.began(name)
            elif queue[job].waits and name in self.progress.begun:
                self.progress.waits(name, f"job {job} is requeued")

    def _left_queue(self, name: str, run: RunConfig, job: str) -> None:
        # a shared file system may show the last status.json late: look twice
        if name in self._gone or status_folder(run).state == "done":
            self.outcomes[name] = _ended(run, job, self.folder)
            self.progress.ended(self.outcomes[name])
            del self.left[name]
        self._gone.add(name)

    def _print_reasons(self, queue: Mapping[str, Queued]) -> None:
        waiting = [job for _, job in self.left.values() if job in queue and queue[job].waits]
        for reason in dict.fromkeys(queue[job].reason for job in waiting):
            if reason not in (*ORDINARY, *self._printed):
                self._printed.add(reason)
                these = compact(job for job in waiting if queue[job].reason == reason)
                print(f"waiting: {', '.join(these)}: {reason}", flush=True)


def _ended(run: RunConfig, job: str, folder: Path) -> Outcome:
    """Return the outcome of a run whose job has left the queue."""
    name, path = run_name(run), run_directory(run)
    remade = run.force and not status_folder(run).path.exists()
    if RunFolder(path).state == "done" and (remade or not run.force):
        return Outcome(name, path)
    unfinished = status_folder(run)
    reason = why_not_done(unfinished.read_status() or {}, job, folder / f"{job}_0_log.out")
    unfinished.close(reason)
    return Outcome(name, path, FAILED, reason)
