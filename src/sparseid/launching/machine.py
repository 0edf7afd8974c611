"""Resources of this machine for concurrent runs: cores, memory, GPUs. Nothing here imports torch."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock, Timeout

from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.training.preemption import slurm_job

MEMORY_PER_RUN = 4 * 2**30
"""Assumed bytes per run on the CPU."""

WAITING = {"GOMP_SPINCOUNT": "10000"}
"""Environment variables of OpenMP: the rounds that a thread waits awake for the others at the end of a parallel loop.

libgomp's own 300,000 make training tens of times slower beside other programs; the 1,000 that it takes if it knows of
more threads than cores cost a fifth of the speed of two threads on an idle machine (``scripts/bench/busy.py``)."""

LOOK_S = 1.0
"""Seconds between two looks for a free GPU."""

LOCKS = "SPARSEID_LOCKS"
"""Environment variable with the folder of the locks of GPUs, for containers on one machine and for tests."""

EVERYONES = ("/run/lock", "/tmp")
"""Folders of a machine that everyone may write: the first is not cleaned while the machine runs, but not everywhere."""

DEVICES = ("nvidia[0-9]*", "nvhost-gpu", "kfd", "dxg")
"""Files in ``/dev`` of a GPU that torch may know though no nvidia-smi lists it: Jetson, AMD, Windows' Linux."""


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
    """Return the GPUs that this process may use, named as in ``CUDA_VISIBLE_DEVICES``: by index, or UUID.

    CUDA, and torch like it, ignores all that follows the first invalid name, and a list with a GPU twice altogether.
    """
    visible, known = os.environ.get("CUDA_VISIBLE_DEVICES"), _uuids()
    if visible is None:
        return list(known)
    kind = next((prefix for prefix in ("GPU-", "MIG-") if visible.startswith(prefix)), "")
    found: dict[str, str] = {}
    for text in visible.split(","):
        name = text if kind else _index(text)
        if not name.startswith(kind or tuple("0123456789")):
            break
        gpu = name if kind == "MIG-" or not known else _uuid(name, known)  # nvidia-smi lists no parts of a GPU here
        if not gpu:
            break
        if gpu in found:
            return []
        found[gpu] = name
    return list(found.values())


def _index(text: str) -> str:
    """Return the whole number that a text begins with, read like CUDA does: ``1`` of `` 01st``; empty without one."""
    number = re.match(r"\s*[+-]?\d+", text)
    return str(int(number[0])) if number else ""


def _uuid(name: str, known: Mapping[str, str]) -> str:
    """Return the UUID of a GPU by its index or the beginning of its UUID; empty if there is none, or several."""
    found = [uuid for index, uuid in known.items() if name == index or (name and uuid.startswith(name))]
    return found[0] if len(found) == 1 else ""


def _uuids() -> dict[str, str]:
    """Return the UUIDs of the GPUs of this machine by their indices."""
    command = ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(re.findall(r"^\s*(\d+)\s*,\s*(\S+)\s*$", found, re.MULTILINE))  # other lines: No devices were found


def require_gpu(run: RunConfig) -> None:
    """Refuse a run on a GPU where there is none, before torch is imported.

    Raises
    ------
    InputError
        If ``trainer.accelerator=gpu`` and this process may use no GPU.
    """
    if run.trainer.accelerator != "gpu" or gpus():
        return
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None and (sys.platform == "darwin" or any(next(Path("/dev").glob(name), None) for name in DEVICES)):
        return  # torch knows better
    why = "nvidia-smi lists none" if visible is None else f"CUDA_VISIBLE_DEVICES={visible!r} hides all"
    raise InputError(
        f"this machine cannot train with trainer.accelerator=gpu: it has no GPU that this process may use ({why})\n"
        "  trainer.accelerator=auto uses a GPU if there is one; trainer=cpu always works",
        ("trainer.accelerator",),
    )


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

    The operating system releases them when this process ends. In a SLURM job, which the scheduler has given its GPUs,
    only the commands of this job count: another job may share a GPU with it (shards) or give its own the same index.

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
        files = _lock_files(names, say)
        while names and not given_up():
            if free := _take(files, run.trainer.devices, held, say):
                names = free
                break
            if not said:
                say(f"waiting for {run.trainer.devices} of the GPUs {', '.join(names)}: other commands use them")
                said = True
            time.sleep(LOOK_S)
        yield {"CUDA_VISIBLE_DEVICES": ",".join(names)} if names else {}


def lock_folder() -> Path:
    """Return the folder of the locks of GPUs: the same for every user and process, whatever its ``TMPDIR``."""
    if chosen := os.environ.get(LOCKS):
        return Path(chosen)
    for folder in map(Path, EVERYONES):
        with suppress(OSError):
            if folder.stat().st_mode & stat.S_IWOTH:  # not os.access, which differs between users
                return folder / "sparseid-gpus"
    return Path(tempfile.gettempdir()) / "sparseid-gpus"


def _lock_files(names: Sequence[str], say: Callable[[str], object]) -> dict[str, Path | None]:
    """Return the lock file of each GPU, which has the GPU's UUID as name; None where none can be written.

    The folder is not sticky: in a sticky one Linux lets nobody open the files of others (``fs.protected_regular``).
    """
    if not names:
        return {}
    folder, uuids, job = lock_folder(), _uuids(), slurm_job()
    with suppress(OSError):
        folder.mkdir(parents=True)
        folder.chmod(0o777)  # for every user of the machine, whatever our umask
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        say(f"no lock can be written to {folder}: other commands may use the same GPUs ({LOCKS}=FOLDER: another one)")
        return dict.fromkeys(names)
    files: dict[str, Path | None] = {}
    for name in names:
        uuid = _uuid(name, uuids) or name
        files[name] = folder / quote("-".join(filter(None, [job and f"job{job}", uuid])), safe="")
    return files


def _take(files: dict[str, Path | None], number: int, held: ExitStack, say: Callable[[str], object]) -> list[str]:
    """Lock the first free ones of some GPUs until the end of a context; return none if fewer than `number` are free.

    GPUs without a lock, which others may use, come last. A lock that cannot be had (another user's file, a full disk, a
    file system without locks) is said and not tried again.
    """
    free: list[str] = []
    with ExitStack() as locks:
        for name, file in files.items():
            if file is None or len(free) == number:
                continue
            try:
                locks.enter_context(FileLock(file, timeout=0, mode=0o666))
                free.append(name)
            except Timeout:
                continue
            except OSError as error:
                files[name] = None
                say(
                    f"GPU {name} has no lock: {file}: {error.strerror or error}; other commands may use the same GPU "
                    f"(delete the file, or {LOCKS}=FOLDER: another place)"
                )
        shared = [name for name, file in files.items() if file is None]
        free += shared[: number - len(free)]
        if len(free) < number:
            return []
        held.push(locks.pop_all())
    return free


def _usable_gpus(runs: Sequence[RunConfig]) -> list[str]:
    return gpus() if any(run.trainer.accelerator != "cpu" for run in runs) else []


def _on_cpu(runs: Sequence[RunConfig]) -> int:
    processes = max(run.trainer.devices for run in runs)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores(), memory // MEMORY_PER_RUN) // processes)
