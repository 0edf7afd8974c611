"""Runs on this machine: each in its own process, several at once, continuing after a failed one."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sparseid.config.identity import run_directory, run_name
from sparseid.config.parents import parent_run
from sparseid.config.schema import RunConfig, run_config_text
from sparseid.config.stored import load_run_config
from sparseid.files import OLD_S, remove_leftovers, write_text
from sparseid.launching.job import BUSY, WATCH_PARENT
from sparseid.launching.machine import gpus_held, require_gpu, slots
from sparseid.launching.one_run import DONE, FAILED, Outcome, make_run, report_skipped, skipped
from sparseid.launching.progress import SweepProgress
from sparseid.printing import protect_output
from sparseid.training.processes import environment_without_group, together
from sparseid.training.run_folder import RunFolder

JOBS = "jobs"
"""Folder below ``outputs`` with the serialized configuration and the output of every run."""

RETRY_S = 2.0
"""Seconds before a run that another process has is tried again."""

TICK_S = 1.0
"""Seconds between two updates of the progress."""


def launch_local(runs: Sequence[RunConfig], single: bool, jobs: int, wait: bool) -> list[Outcome]:
    """Make runs on this machine; return their outcomes in order.

    Parameters
    ----------
    runs
        Checked configurations.
    single
        True without a sweep: the run is made in this process.
    jobs
        Number of concurrent runs; 0 for all that fit (`machine.slots`).
    wait
        False to continue in the background and return at once.
    """
    if single and wait:
        return [make_here(runs[0])]
    places = slots(runs, jobs)  # checks the settings even if all runs are skipped
    outcomes = {run_name(run): skipped(run) for run in runs}
    todo = {run_name(run): run for run in runs if outcomes[run_name(run)] is None}
    report_skipped(list(outcomes.values()))
    for run in todo.values():
        require_gpu(run)
    if todo:
        remove_leftovers(Path(runs[0].outputs) / JOBS, OLD_S)
        files = [serialize(run) for run in todo.values()]
        ended = Pool(files, places).run() if wait else in_background(files, jobs)
        outcomes.update((outcome.name, outcome) for outcome in ended)
    return [outcome for run in runs if (outcome := outcomes[run_name(run)]) is not None]


def make_here(run: RunConfig) -> Outcome:
    """Make a single run in this process."""
    with here([run]):
        return make_run(run)


@contextmanager
def here(runs: Sequence[RunConfig]) -> Iterator[None]:
    """Make runs in this process, one after the other, on GPUs of its own if there are any."""
    todo = [run for run in runs if not skipped(run) and not together(run)]
    if not todo:
        yield
        return
    for run in todo:
        require_gpu(run)
    largest = max(todo, key=lambda run: (run.trainer.accelerator != "cpu", run.trainer.devices))
    slots([largest], 1)  # more GPUs than there are would be waited for in vain
    with gpus_held(largest, lambda text: print(text, flush=True)) as place:
        os.environ.update(place)  # torch, which reads it, is not imported yet
        yield


def serialize(run: RunConfig) -> Path:
    """Write the configuration of a run to a file, so that it is not composed again; return the file."""
    file = Path(run.outputs) / JOBS / f"{run_name(run)}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, run_config_text(run))
    return file


def in_background(files: Sequence[Path], jobs: int) -> list[Outcome]:
    """Make serialized jobs in a process that outlives this one, and print the file of its output."""
    output = files[0].parent / f"local-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    command = [sys.executable, "-m", "sparseid.launching.local", str(jobs), *map(str, files)]
    with output.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command,
            env=environment_without_group(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    print(
        f"{len(files)} runs continue in the background, process {process.pid}; its output: {output}\n"
        f"kill {process.pid} stops them after a checkpoint",
        flush=True,
    )
    runs = [load_run_config(file) for file in files]
    return [Outcome(run_name(run), run_directory(run), waiting=True) for run in runs]


def job_command(file: Path) -> list[str]:
    """Return the command of a serialized job."""
    return [sys.executable, "-m", "sparseid.launching.job", str(file)]


@dataclass(frozen=True)
class _Job:
    """A run, the file of its serialized job, and the name of its parent run, which must be done first (empty: none)."""

    run: RunConfig
    file: Path
    needs: str = ""

    @property
    def name(self) -> str:
        return run_name(self.run)

    @property
    def folder(self) -> Path:
        return run_directory(self.run)

    @property
    def output(self) -> Path:
        return self.file.with_suffix(".txt")


class Pool:
    """Processes of serialized jobs, one per slot at a time.

    A thread per slot starts a process and waits for it; the main thread prints the progress and retries runs that
    another process had. A run that starts from the weights of another one begins after that is done.

    Parameters
    ----------
    files
        Serialized configurations.
    places
        Environment variables of each slot.
    command
        Returns the command of a file.
    """

    def __init__(
        self,
        files: Sequence[Path],
        places: Sequence[dict[str, str]],
        command: Callable[[Path], list[str]] = job_command,
    ):
        self.command = command
        runs = [(file, load_run_config(file)) for file in files]
        names = {run_name(run) for _, run in runs}
        needs = [run_name(source) if (source := parent_run(run)) else "" for _, run in runs]
        self.jobs = [
            _Job(run, file, need if need in names else "") for (file, run), need in zip(runs, needs, strict=True)
        ]
        self.places: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
        for place in places:
            self.places.put(place)
        self.size = len(places)
        self.processes: dict[str, subprocess.Popen] = {}
        self.stopping = False

    def run(self) -> list[Outcome]:
        """Make all runs; return their outcomes.

        Raises
        ------
        KeyboardInterrupt, SystemExit
            On Ctrl-C and SIGTERM, after the runs have saved a checkpoint and ended.
        """
        outcomes: dict[str, Outcome] = {}
        progress = SweepProgress([job.name for job in self.jobs], self.size)
        with _terminable(), ThreadPoolExecutor(self.size) as threads, progress:
            try:
                ready = [job for job in self.jobs if not job.needs]
                left: set[Future[Outcome]] = {threads.submit(self._make, job, progress) for job in ready}
                while left:
                    ended, left = wait(left, TICK_S, FIRST_COMPLETED)
                    for outcome in (future.result() for future in ended):
                        if outcome.busy:
                            progress.waits(outcome.name, outcome.message)
                            again = next(job for job in self.jobs if job.name == outcome.name)
                            left.add(threads.submit(self._make, again, progress, RETRY_S))
                        else:
                            outcomes[outcome.name] = outcome
                            progress.ended(outcome)
                            for job in (job for job in self.jobs if job.needs == outcome.name):
                                left.add(threads.submit(self._begin, job, outcome, progress))
                    progress.tick()
            except BaseException:
                self._stop(threads)
                raise
        return [outcomes[job.name] for job in self.jobs]

    def _begin(self, job: _Job, source: Outcome, progress: SweepProgress) -> Outcome:
        """Make a run whose parent run has ended, unless that has failed."""
        if source.code == DONE:
            return self._make(job, progress)
        return Outcome(job.name, job.folder, FAILED, f"it starts from {source.name}, which is not done")

    def _make(self, job: _Job, progress: SweepProgress, delay: float = 0.0) -> Outcome:
        """Make one run in its process; called in a thread of the pool."""
        place = self.places.get()
        try:
            time.sleep(delay)
            with (
                gpus_held(job.run, lambda text: progress.waits(job.name, text), lambda: self.stopping) as share,
                job.output.open("w", encoding="utf-8") as output,
            ):
                if self.stopping:
                    return Outcome(job.name, job.folder, FAILED, "not started")
                progress.began(job.name)
                process = subprocess.Popen(
                    self.command(job.file),
                    env={**environment_without_group(), **place, **share, WATCH_PARENT: "1"},
                    stdin=subprocess.PIPE,  # closed when we end, even if killed: the job then stops by itself
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C reaches only us; we stop the jobs
                )
                self.processes[job.name] = process
                code = process.wait()
            return _outcome(job, code, self.stopping)
        finally:
            self.processes.pop(job.name, None)
            self.places.put(place)

    def _stop(self, threads: ThreadPoolExecutor) -> None:
        """Stop the running jobs, which save a checkpoint, and wait for them; kill them at a second Ctrl-C."""
        self.stopping = True
        threads.shutdown(wait=False, cancel_futures=True)
        running = list(self.processes.values())
        try:
            print(f"\nstopping: {len(running)} runs save and end; Ctrl-C again kills them", file=sys.stderr, flush=True)
            for process in running:
                process.terminate()
            for process in running:
                process.wait()
        except BaseException:
            for process in running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise


def _outcome(job: _Job, code: int, stopping: bool) -> Outcome:
    """Return the outcome of a job's process; while `stopping`, it was killed by us."""
    if code == DONE:
        return Outcome(job.name, job.folder)
    if code == BUSY:
        return Outcome(job.name, job.folder, FAILED, _last_error(job), busy=True)
    if code < 0:  # it could not write its status
        message = f"ended by {signal.Signals(-code).name}"
        if -code == signal.SIGKILL:
            message += ", asked to stop twice" if stopping else " (out of memory?)"
        RunFolder(job.folder).close(message)
        return Outcome(job.name, job.folder, FAILED, message)
    return Outcome(job.name, job.folder, code, _last_error(job))


def _last_error(job: _Job) -> str:
    """Return the error that `make_run` printed, or the last line of the output."""
    lines = job.output.read_text(errors="replace").splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return (errors or lines or ["no output"])[-1].removeprefix(f"{job.name}: ")


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that it ends a sweep in the same way as Ctrl-C."""

    def stop(signum: int, frame: object) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(arguments: Sequence[str]) -> int:
    """Make serialized jobs: ``python -m sparseid.launching.local JOBS FILE...``, the command of `in_background`."""
    files = [Path(argument) for argument in arguments[1:]]
    runs = [load_run_config(file) for file in files]
    outcomes = Pool(files, slots(runs, int(arguments[0]))).run()
    from sparseid.reporting.page import build_report

    papers = sorted({run.paper for run in runs})
    print(f"Report: {build_report(Path(runs[0].outputs), papers=papers)}")
    return max(outcome.code for outcome in outcomes)


if __name__ == "__main__":
    protect_output()
    sys.exit(main(sys.argv[1:]))
