"""What SLURM says of our jobs, by ``squeue`` alone: clusters without an accounting database must do."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANSWER_S = 60.0
"""How long squeue may take, seconds."""

ENDS = (
    (r"DUE TO TIME LIMIT", "it reached its time limit before it could save: raise hydra.launcher.signal_delay_s"),
    (r"oom.?kill|out.of.memory", "it needed more memory than it had: raise hydra.launcher.mem_gb"),
    (r"DUE TO NODE FAILURE", "its node failed"),
    (r"DUE TO PREEMPTION", "it had to make room for another job"),
    (r"CANCELLED", "it was cancelled (scancel)"),
)
"""How SLURM's own words in a job's output read, the most telling first."""


class QueueError(RuntimeError):
    """squeue gave no answer."""


@dataclass(frozen=True)
class Queued:
    """A job that has not ended.

    Attributes
    ----------
    state
        SLURM's word: PENDING, RUNNING, COMPLETING ...
    reason
        Why it waits: Resources, Priority, Dependency, BeginTime (requeued) ...
    """

    state: str
    reason: str

    @property
    def waits(self) -> bool:
        """Whether no process of the job runs."""
        return self.state in ("PENDING", "REQUEUED", "REQUEUE_HOLD", "CONFIGURING")


def jobs_in_queue(users: Iterable[int]) -> dict[str, Queued]:
    """Return jobs that have not ended, by id (``12`` or ``12_3``).

    Parameters
    ----------
    users
        Whose jobs, by the number of the user.

    Raises
    ------
    QueueError
        If squeue does not answer.
    """
    command = ["squeue", "--noheader", "--array", f"--user={','.join(map(str, users))}", "--format=%i|%T|%r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_S)
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
    """Return job ids in SLURM's short form, as scancel takes it.

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
    """Say why a job has left the queue and its run is not done.

    Parameters
    ----------
    status
        The run's status.json.
    job
        The job's id.
    output
        What the job wrote.
    """
    where = f"; output of job {job}: {output}"
    if status.get("state") in ("failed", "diverged"):
        return f"{status.get('message') or status['state']}{where}"
    try:
        lines = output.read_text(errors="replace").splitlines()
    except OSError:
        return (
            f"job {job} ended without a trace: cancelled while it waited, or the node does not see "
            f"{output.parent.absolute()}, where its output should be"
        )
    tail = "\n".join(lines[-50:])
    for pattern, meaning in ENDS:
        if re.search(pattern, tail, re.IGNORECASE):
            return f"{meaning}{where}"
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    last = (errors or lines or ["it wrote nothing"])[-1]
    return f"the job ended and said last: {last}{where}"
