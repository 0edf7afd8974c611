"""The state of our jobs from ``squeue`` alone, which also works on clusters without an accounting database."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_S = 60.0
"""Seconds that squeue may take."""

SCHEDULER = re.compile(r"(srun|slurmstepd\S*|slurmd\S*): |error: \*\*\* |.*timed-out too many times")
"""The beginning of lines that SLURM or submitit write into a job's output."""

ENDS = (
    (r"timed-out too many times", "it reached its time limit too often: raise hydra.launcher.max_num_timeout"),
    (r"DUE TO TIME LIMIT", "it reached its time limit before it could save: raise hydra.launcher.signal_delay_s"),
    (r"oom.?kill|out.of.memory", "it needed more memory than it had: raise hydra.launcher.mem_gb"),
    (r"DUE TO NODE FAILURE", "its node failed"),
    (r"DUE TO PREEMPTION", "it had to make room for another job"),
    (r"CANCELLED", "it was cancelled (scancel)"),
    (r"tasks? [-\d,]+: (Killed|Terminated)", "its process was killed, by hand or for its memory: see the job's node"),
)
"""Pattern in the scheduler's lines of a job's output -> meaning, the most specific first."""


class QueueError(RuntimeError):
    """Error of squeue."""


@dataclass(frozen=True)
class Queued:
    """A job that has not ended."""

    state: str
    """SLURM's word: PENDING, RUNNING, COMPLETING ..."""
    reason: str
    """Reason for waiting: Resources, Priority, Dependency, BeginTime (requeued) ..."""

    @property
    def waits(self) -> bool:
        """True if no process of the job runs."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "CONFIGURING")


def jobs_in_queue(users: Iterable[int]) -> dict[str, Queued]:
    """Return jobs that have not ended, by id (``12`` or ``12_3``).

    Parameters
    ----------
    users
        Numbers of the jobs' users.

    Raises
    ------
    QueueError
        If squeue does not answer.
    """
    command = ["squeue", "--noheader", "--array", f"--user={','.join(map(str, users))}", "--format=%i|%T|%r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise QueueError(f"squeue does not answer: {error}") from error
    if done.returncode != 0:
        raise QueueError(f"squeue does not answer: {done.stderr.strip() or done.returncode}")
    return dict(_parse(done.stdout))


def _parse(text: str) -> Iterator[tuple[str, Queued]]:
    for line in text.splitlines():
        job, state, reason = line.strip().split("|", 2)
        yield job, Queued(state, reason)


def compact(jobs: Iterable[str]) -> list[str]:
    """Return job ids in SLURM's short form, as accepted by scancel.

    Examples
    --------
    >>> compact(["12_0", "12_1", "12_2", "12_5", "14"])
    ['12_[0-2,5]', '14']
    """
    arrays: dict[str, list[int]] = {}
    for job in jobs:
        array, _, index = job.partition("_")
        arrays.setdefault(array, []).extend([int(index)] if index else [])
    return [f"{array}_[{_ranges(indices)}]" if indices else array for array, indices in arrays.items()]


def _ranges(indices: list[int]) -> str:
    runs = itertools.groupby(enumerate(sorted(indices)), lambda pair: pair[1] - pair[0])
    spans = [[index for _, index in run] for _, run in runs]
    return ",".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)


def why_not_done(status: dict[str, Any], job: str, output: Path) -> str:
    """Return why a job has left the queue although its run is not done, from its status.json and its output."""
    where = f"; output of job {job}: {output}"
    if status.get("state") in ("failed", "diverged"):
        return f"{status.get('message') or status['state']}{where}"
    try:
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return (
            f"job {job} ended without a trace: cancelled while it waited, or the node does not see "
            f"{output.parent.absolute()}, where its output should be"
        )
    tail = "\n".join(line for line in lines[-50:] if SCHEDULER.match(line))
    for pattern, meaning in ENDS:
        if re.search(pattern, tail, re.IGNORECASE):
            return f"{meaning}{where}"
    own = [line for line in lines if line.strip() and not SCHEDULER.match(line)]
    errors = [line.removeprefix("error: ") for line in own if line.startswith("error: ")]
    last = (errors or exceptions(own) or own or lines or ["it wrote nothing"])[-1]
    return f"the job ended with: {last}{where}"


def exceptions(lines: Iterable[str]) -> list[str]:
    """Return the last line of every traceback: the error that it is of.

    Examples
    --------
    >>> exceptions(["Traceback (most recent call last):", '  File "a.py", line 1', "OSError: no", "bye"])
    ['OSError: no']
    """
    found, inside = [], False
    for line in lines:
        if line.startswith("Traceback (most recent call last)"):
            inside = True
        elif inside and not line.startswith(" "):
            found.append(line)
            inside = False
    return found
