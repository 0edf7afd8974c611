"""Resources of this machine for concurrent runs: cores, memory, GPUs. Nothing here imports torch."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock, Timeout

from sparseid.config.schema import RunConfig
from sparseid.errors import InputError

MEMORY_PER_RUN = 4 * 2**30
"""Assumed bytes per run on the CPU."""

WAITING = {"GOMP_SPINCOUNT": "10000"}
"""Environment variables of OpenMP: the rounds that a thread waits awake for the others at the end of a parallel loop.

libgomp's own 300,000 make training tens of times slower beside other programs; the 1,000 that it takes if it knows of
more threads than cores cost a fifth of the speed of two threads on an idle machine (``scripts/bench/busy.py``)."""

LOOK_S = 1.0
"""Seconds between two looks for a free GPU."""


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def wait_briefly() -> None:
    """Let threads of parallel loops sleep soon (`WAITING`), unless the user has chosen; before torch is imported."""
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in WAITING.items():
            os.environ.setdefault(name, value)


def gpus() -> list[str]:
    """Return the GPUs that this process may use, named as in ``CUDA_VISIBLE_DEVICES``."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() not in ("", "-1")]
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return found.split()


def slots(runs: Sequence[RunConfig], jobs: int) -> list[dict[str, str]]:
    """Return the environment variables of each slot for runs, one run at a time.

    A slot on a GPU becomes one with :func:`gpus_held`.

    Parameters
    ----------
    runs
        The runs.
    jobs
        Number of concurrent runs; 0 for all the machine has: one per GPU (per ``trainer.devices`` GPUs), without GPUs
        one per core, limited by memory.

    Raises
    ------
    InputError
        If `jobs` is negative, or if that many runs need more GPUs than there are.
    """
    if jobs < 0:
        raise InputError(f"hydra.launcher.jobs is {jobs}; it is the number of concurrent runs (0: all that fit)")
    names = _usable_gpus(runs)
    if names:
        each = max(run.trainer.devices for run in runs)
        if each > len(names):
            raise InputError(f"trainer.devices={each}, but this machine has {len(names)} GPUs: {', '.join(names)}")
        if jobs * each > len(names):
            needed = f"hydra.launcher.jobs={jobs} runs" + (f" of trainer.devices={each}" if each > 1 else "")
            raise InputError(
                f"{needed} need {jobs * each} GPUs, but this machine has {len(names)}: {', '.join(names)}\n"
                "  hydra.launcher.jobs=0: as many as there are GPUs for; trainer.accelerator=cpu uses none"
            )
        count = jobs or len(names) // each
    else:
        count = jobs or _on_cpu(runs)
    threads = str(max(1, cores() // count))  # more threads than cores slow down every run
    return [{"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads)} for _ in range(count)]


@contextmanager
def gpus_held(
    run: RunConfig, say: Callable[[str], object], given_up: Callable[[], bool] = lambda: False
) -> Iterator[dict[str, str]]:
    """Hold as many GPUs as a run needs, the first that no other command on this machine holds; wait until there are.

    The operating system releases them when this process ends.

    Parameters
    ----------
    run
        The run; one that has a GPU each for several devices gets all at once or none.
    say
        Called once with a message if it has to wait.
    given_up
        Whether to stop waiting; the GPUs are then not held.

    Yields
    ------
    dict
        ``CUDA_VISIBLE_DEVICES`` for the run's process; empty without GPUs and for runs on the CPU.
    """
    names, said = _usable_gpus([run]), False
    with ExitStack() as held:
        while names and not given_up():
            if free := _take(names, run.trainer.devices, held):
                names = free
                break
            if not said:
                say(f"waiting for {run.trainer.devices} of the GPUs {', '.join(names)}: other commands use them")
                said = True
            time.sleep(LOOK_S)
        yield {"CUDA_VISIBLE_DEVICES": ",".join(names)} if names else {}


def _take(names: Sequence[str], number: int, held: ExitStack) -> list[str]:
    """Lock the first free ones of some GPUs until the end of a context; return none if fewer than `number` are free."""
    folder = Path(tempfile.gettempdir()) / "sparseid-gpus"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)  # for every user of the machine
    free: list[str] = []
    with ExitStack() as locks:
        for name in names:
            try:
                locks.enter_context(FileLock(folder / quote(name, safe=""), timeout=0, mode=0o666))
            except Timeout:
                continue
            except OSError:
                pass  # no lock can be written here: the GPU may be shared
            free.append(name)
            if len(free) == number:
                held.push(locks.pop_all())
                return free
    return []


def _usable_gpus(runs: Sequence[RunConfig]) -> list[str]:
    return gpus() if any(run.trainer.accelerator != "cpu" for run in runs) else []


def _on_cpu(runs: Sequence[RunConfig]) -> int:
    processes = max(run.trainer.devices for run in runs)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores(), memory // MEMORY_PER_RUN) // processes)
