"""Cells on this machine: each in a process of its own, several at once, going on after a failed one."""

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
from sparseid.config.needs import needed_run
from sparseid.config.schema import RunConfig, run_config_text
from sparseid.config.stored import load_run_config
from sparseid.files import write_text
from sparseid.launching.job import BUSY, WATCH_PARENT
from sparseid.launching.machine import slots
from sparseid.launching.one_run import DONE, FAILED, Outcome, make_run, report_skipped, skipped
from sparseid.launching.progress import SweepProgress
from sparseid.training.errors import RunError
from sparseid.training.run_folder import RunFolder

JOBS = "jobs"
"""Folder below ``outputs`` with the frozen configuration and the output of every cell."""

ASK_AGAIN_S = 2.0
"""Seconds before a cell that another process makes is asked for again."""

TICK_S = 1.0
"""Seconds between two looks at whether the overview is due."""


def launch_local(runs: Sequence[RunConfig], single: bool, jobs: int, wait: bool) -> list[Outcome]:
    """Make cells on this machine.

    Parameters
    ----------
    runs
        Checked configurations.
    single
        True if no sweep was asked for: the run is made in this process.
    jobs
        Cells at once; 0 for what the machine offers (`machine.slots`).
    wait
        False to go on in the background and return at once.

    Returns
    -------
    list[Outcome]
        How each cell ended, in the order of `runs`.
    """
    if single and wait:
        return [make_run(runs[0])]
    places = slots(runs, jobs)  # refuses what cannot be, also where nothing is left to do
    outcomes = {run_name(run): skipped(run) for run in runs}
    todo = {run_name(run): run for run in runs if outcomes[run_name(run)] is None}
    report_skipped(list(outcomes.values()))
    if todo:
        files = [serialize(run) for run in todo.values()]
        made = Pool(files, places).run() if wait else in_background(files, jobs)
        outcomes.update((outcome.name, outcome) for outcome in made)
    return [outcome for run in runs if (outcome := outcomes[run_name(run)]) is not None]


def serialize(run: RunConfig) -> Path:
    """Write the configuration of a cell as it is now; nothing composes it again. Return the file."""
    file = Path(run.outputs) / JOBS / f"{run_name(run)}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, run_config_text(run))
    return file


def in_background(files: Sequence[Path], jobs: int) -> list[Outcome]:
    """Make frozen cells in a process that outlives this one, and say where it writes."""
    output = files[0].parent / f"local-{datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    command = [sys.executable, "-m", "sparseid.launching.local", str(jobs), *map(str, files)]
    with output.open("w") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    print(
        f"{len(files)} runs go on in the background, process {process.pid}; its output: {output}\n"
        f"kill {process.pid} stops them; they save first",
        flush=True,
    )
    runs = [load_run_config(file) for file in files]
    return [Outcome(run_name(run), run_directory(run), waiting=True) for run in runs]


def job_command(file: Path) -> list[str]:
    """Return the command that makes a frozen cell."""
    return [sys.executable, "-m", "sparseid.launching.job", str(file)]


@dataclass(frozen=True)
class _Job:
    """A frozen cell, its file, and the name of the run that has to be done before it begins (empty: none)."""

    name: str
    folder: Path
    file: Path
    needs: str = ""

    @property
    def output(self) -> Path:
        return self.file.with_suffix(".txt")


class Pool:
    """Processes that make frozen cells, one per place at a time.

    A thread per place starts a process and waits for it; the main thread keeps the overview and hands in again what
    another process was making. A cell that starts from the weights of another one begins after that is done.

    Parameters
    ----------
    files
        What `serialize` wrote.
    places
        The environment of each place.
    command
        The command that makes the cell of a file.
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
        needs = [run_name(source) if (source := needed_run(run)) else "" for _, run in runs]
        self.jobs = [
            _Job(run_name(run), run_directory(run), file, need if need in names else "")
            for (file, run), need in zip(runs, needs, strict=True)
        ]
        self.places: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
        for place in places:
            self.places.put(place)
        self.size = len(places)
        self.processes: dict[str, subprocess.Popen] = {}
        self.stopping = False

    def run(self) -> list[Outcome]:
        """Make all cells; return how each ended.

        Raises
        ------
        KeyboardInterrupt, SystemExit
            On Ctrl-C and SIGTERM, after the runs have saved and ended.
        """
        outcomes: dict[str, Outcome] = {}
        overview = SweepProgress([job.name for job in self.jobs], self.size)
        with _terminable(), ThreadPoolExecutor(self.size) as threads, overview:
            try:
                ready = [job for job in self.jobs if not job.needs]
                left: set[Future[Outcome]] = {threads.submit(self._make, job, overview) for job in ready}
                while left:
                    ended, left = wait(left, TICK_S, FIRST_COMPLETED)
                    for outcome in (future.result() for future in ended):
                        if outcome.busy:
                            overview.waits(outcome.name, outcome.message)
                            again = next(job for job in self.jobs if job.name == outcome.name)
                            left.add(threads.submit(self._make, again, overview, ASK_AGAIN_S))
                        else:
                            outcomes[outcome.name] = outcome
                            overview.ended(outcome)
                            for job in (job for job in self.jobs if job.needs == outcome.name):
                                left.add(threads.submit(self._begin, job, outcome, overview))
                    overview.tick()
            except BaseException:
                self._stop(threads)
                raise
        return [outcomes[job.name] for job in self.jobs]

    def _begin(self, job: _Job, source: Outcome, overview: SweepProgress) -> Outcome:
        """Make a cell whose source has ended, unless that has failed."""
        if source.code == DONE:
            return self._make(job, overview)
        return Outcome(job.name, job.folder, FAILED, f"it starts from {source.name}, which is not done")

    def _make(self, job: _Job, overview: SweepProgress, delay: float = 0.0) -> Outcome:
        """Make one cell in its process; what a thread of the pool does."""
        place = self.places.get()
        try:
            time.sleep(delay)
            if self.stopping:
                return Outcome(job.name, job.folder, FAILED, "not begun")
            overview.began(job.name)
            with job.output.open("w") as output:
                process = subprocess.Popen(
                    self.command(job.file),
                    env={**os.environ, **place, WATCH_PARENT: "1"},
                    stdin=subprocess.PIPE,  # closed when we end, however we end: the job then stops by itself
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C reaches us only; we tell the jobs
                )
                self.processes[job.name] = process
                code = process.wait()
            return _outcome(job, code, self.stopping)
        finally:
            self.processes.pop(job.name, None)
            self.places.put(place)

    def _stop(self, threads: ThreadPoolExecutor) -> None:
        """Tell the running cells to save and end, and wait until they have; at a second Ctrl-C kill them."""
        self.stopping = True
        threads.shutdown(wait=False, cancel_futures=True)
        running = list(self.processes.values())
        try:
            print(f"\nstopping: {len(running)} runs save and end; once more kills them", file=sys.stderr, flush=True)
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
    """Say how a cell's process ended; while we were `stopping` it was we who killed it."""
    if code == DONE:
        return Outcome(job.name, job.folder)
    if code == BUSY:
        return Outcome(job.name, job.folder, FAILED, _last_error(job), busy=True)
    if code < 0:  # it could not say so itself
        message = f"ended by {signal.Signals(-code).name}"
        if -code == signal.SIGKILL:
            message += ", asked to stop twice" if stopping else " (out of memory?)"
        run = RunFolder(job.folder)
        with suppress(RunError), run.lock():
            if run.state == "running":
                run.write_status("failed", message)
                run.log(message)
        return Outcome(job.name, job.folder, FAILED, message)
    return Outcome(job.name, job.folder, code, _last_error(job))


def _last_error(job: _Job) -> str:
    """Return what `make_run` said went wrong; the last line of the output where it did not get so far."""
    lines = job.output.read_text(errors="replace").splitlines()
    said = [line.removeprefix("error: ").removeprefix(f"{job.name}: ") for line in lines if line.startswith("error: ")]
    return (said or lines or ["no output"])[-1]


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into an exception here, so that it ends a sweep as orderly as Ctrl-C does."""

    def stop(signum: int, frame: object) -> None:
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(arguments: Sequence[str]) -> int:
    """Make frozen cells: ``python -m sparseid.launching.local JOBS FILE...`` (what `in_background` starts)."""
    files = [Path(argument) for argument in arguments[1:]]
    runs = [load_run_config(file) for file in files]
    outcomes = Pool(files, slots(runs, int(arguments[0]))).run()
    from sparseid.reporting.page import build_report

    print(f"Report: {build_report(Path(runs[0].outputs))}")
    return max(outcome.code for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
