"""Weights & Biases beside ``metrics.csv``: a process of its own sends what the run folder holds.

Nothing of Weights & Biases happens in the process that trains: `start` starts this module as another process, which
follows ``metrics.csv`` and, once the run has ended, adds the rows and the figures. So training draws no other random
number, handles no other signal and waits for nothing, whatever becomes of the service, the network or the disk.

Every start sends the curves from the beginning: an offline folder is complete by itself and replaces the earlier ones
of its run; online, the steps that the server already has are left out.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from sparseid.config.identity import cell_keys, member_seeds, run_hash, run_name
from sparseid.config.schema import RunConfig
from sparseid.training import environment
from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder

POLL_S = 1.0
"""Seconds between two looks at ``metrics.csv``."""
INIT_S = 60.0
"""Seconds the service may take to open a run before it is logged offline."""
UPLOAD_S = 20.0
"""Seconds of uploading after the run has ended; what is not sent by then stays on the disk for ``wandb sync``."""
ROOM = 2**16
"""Bytes free at the end, or what the library has written is taken for incomplete."""
FIGURES = "figures/"
"""Prefix of the names under which figures are logged."""
FINISH_S = 40.0
"""Seconds after which a logging process that has not ended is killed."""
EVERYTHING_IS_IN_THE_FOLDER = "the run goes on without it and has everything in metrics.csv"

# The process that trains


class Follower:
    """The logging process of one run.

    Parameters
    ----------
    cfg
        The run's configuration.
    folder
        The run's folder, with ``environment.json`` and a ``metrics.csv`` that will only be appended to.
    """

    def __init__(self, cfg: RunConfig, folder: RunFolder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sparseid.training.loggers"],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the run
        )
        self._tell(json.dumps(request(cfg, folder)))

    def finish(self) -> None:
        """Let the process send the rest and wait for its end, `FINISH_S` seconds at most."""
        self._tell("finish")
        try:
            code = self.process.wait(FINISH_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self._say(f"not finished within {FINISH_S:.0f} s, stopped; metrics.csv has everything")
        except KeyboardInterrupt:  # the process ends by itself
            return
        else:
            if code != 0:
                self._say(f"its process ended with code {code}; metrics.csv has everything")

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # the process has ended: `finish` says so
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def _say(self, message: str) -> None:
        place(self.folder).say(f"Weights & Biases: {message}")


_current: Follower | None = None


def start(cfg: RunConfig, folder: RunFolder) -> None:
    """Follow the run in `folder` until this process ends; whatever goes wrong is said in one line and stops nothing."""
    global _current
    finish()
    try:
        _current = Follower(cfg, folder)
    except Exception as error:
        folder.say(f"Weights & Biases: {first_line(error)}; {EVERYTHING_IS_IN_THE_FOLDER}")


@atexit.register
def finish() -> None:
    """End what `start` began, once the rows and figures of the run are there."""
    global _current
    if _current is not None:
        follower, _current = _current, None
        follower.finish()


def request(cfg: RunConfig, folder: RunFolder) -> dict[str, Any]:
    """Return what the logging process must know, as plain values; ``init`` goes to ``wandb.init``."""
    made_with = environment.read(folder.path / "environment.json") or {}
    cell = cell_keys(cfg)
    return {
        "folder": str(folder.path.absolute()),
        "root": os.environ.get("WANDB_DIR") or str(Path(cfg.outputs).absolute()),
        "mode": cfg.logger.mode,
        "pid": os.getpid(),
        "begun": len(folder.metrics.read_text(encoding="utf-8").splitlines()) > 1,
        "cell": list(cell),
        "init": {
            "project": cfg.logger.project,
            "entity": cfg.logger.entity or None,
            "id": f"{cfg.scale}-{cfg.paper}-{run_hash(cfg)}",
            "name": run_name(cfg),
            "group": cfg.experiment,
            "job_type": "-".join(map(str, cell.values())),
            "tags": tags(cfg, made_with),
            "config": dict(flat(asdict(cfg))),
        },
    }


def tags(cfg: RunConfig, made_with: dict[str, Any]) -> list[str]:
    """Return a run's tags: paper, scale, method, data, seed, commit; ``dirty`` where the commit is not all of it."""
    commit = str(made_with.get("commit", "unknown"))[:8]
    dirty = ["dirty"] if made_with.get("dirty") else []
    seeds = [f"seed-{seed}" for seed in member_seeds(cfg)]
    return [*dict.fromkeys([cfg.paper, cfg.scale, cfg.method.name, cfg.data.name, *seeds, commit]), *dirty]


def flat(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested settings under dotted names.

    Examples
    --------
    >>> dict(flat({"seed": 0, "method": {"sparse": {"momentum": 0.1}}}))
    {'seed': 0, 'method.sparse.momentum': 0.1}
    """
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


# The process that logs


def main() -> None:
    """Follow a run: the first line of standard input says which, the second or its end says that the run has ended."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):  # a job's signals reach all of its processes
        signal.signal(number, signal.SIG_IGN)
    orders, terminal = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    with open(os.devnull, "r+b") as nothing:  # what the library prints and asks goes nowhere, its own processes' too
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    asked = json.loads(orders.readline())
    ended = threading.Event()
    threading.Thread(target=_await_end, args=(orders, ended), daemon=True).start()

    def say(message: str) -> None:
        line = f"Weights & Biases: {message}"
        with contextlib.suppress(OSError):
            print(line, file=terminal, flush=True)
        place(RunFolder(Path(asked["folder"]))).log(line)

    try:
        follow(asked, ended, say)
    except BaseException as error:  # the library raises SystemExit and KeyboardInterrupt too
        say(f"{first_line(error)}; {EVERYTHING_IS_IN_THE_FOLDER}")


def _await_end(orders: Any, ended: threading.Event) -> None:
    orders.readline()
    ended.set()
    time.sleep(FINISH_S)
    os._exit(1)  # nobody is left to kill a process that hangs


def follow(asked: dict[str, Any], ended: threading.Event, say: Callable[[str], None]) -> None:
    """Send the curves until the run has ended, then its rows and figures.

    Parameters
    ----------
    asked
        What `request` returned.
    ended
        Set when the run has ended, whether it was finished or not.
    say
        Takes a line for the user.
    """
    import wandb

    run = open_run(wandb, asked, say)
    if run is None:
        return
    run.define_metric("samples")
    run.define_metric("*", step_metric="samples")
    known = run.starting_step  # a resumed run has the steps before it
    # a short forced run may have moved to its place before this process was ready
    with place(RunFolder(Path(asked["folder"]))).metrics.open("rb") as file:
        running = True
        while running:
            running = not ended.wait(POLL_S)
            for step, values in new_points(file):
                if step >= known:
                    run.log(values, step=step)
    folder = place(RunFolder(Path(asked["folder"])))
    state = folder.state
    if state == "done":
        run.summary.update(summary(read_rows(folder.result), asked["cell"]))
        pictures = {FIGURES + path.stem: wandb.Image(str(path)) for path in (folder.path / "figures").glob("*.png")}
        if pictures:
            run.log(pictures)
    if state == "preempted":
        run.mark_preempting()
    run.finish(exit_code=0 if state == "done" else 1)
    with tempfile.TemporaryFile(dir=asked["root"]) as file:  # the library says nothing of a full disk
        file.write(bytes(ROOM))
    for old in offline_folders(asked):
        shutil.rmtree(old, ignore_errors=True)


def open_run(wandb: Any, asked: dict[str, Any], say: Callable[[str], None]) -> Any:
    """Open the run online if that is possible and not unwanted, else offline, and say where it is; None if disabled."""
    mode = asked["mode"] if asked["mode"] != "auto" else os.environ.get("WANDB_MODE", "auto")
    if mode == "disabled":
        return None
    if mode not in ("offline", "dryrun"):
        try:
            wandb.login()  # raises UsageError where there is no key
            run = _init(wandb, asked, "online")
            say(run.url)
            return run
        except Exception as error:
            if mode == "online" or type(error) is not wandb.errors.UsageError:
                say(f"{first_line(error)}; logging offline")
    run = _init(wandb, asked, "offline")
    say(f"offline, upload with: wandb sync {run.settings.sync_dir}")
    return run


def _init(wandb: Any, asked: dict[str, Any], mode: str) -> Any:
    settings = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        save_code=False,
        x_save_requirements=False,
        symlink=False,  # runs side by side share the folder
        init_timeout=INIT_S,
        finish_timeout=UPLOAD_S,
        x_stats_pid=asked["pid"],
        allow_val_change=True,
    )
    # a run that begins anew (force=true, a deleted folder) takes the place of the one logged before
    resume = "allow" if asked["begun"] and mode == "online" else None
    return wandb.init(**asked["init"], dir=asked["root"], mode=mode, resume=resume, settings=settings)


def new_points(file: BinaryIO) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (step, values by name and ``samples``) of the complete lines from the present position of a curve file."""
    points: dict[int, dict[str, float]] = {}
    while (line := file.readline()).endswith(b"\n"):
        step, samples, name, value = line.decode().rstrip("\n").split(",")
        if step != "step":
            points.setdefault(int(step), {"samples": int(samples)})[name] = float(value)
    file.seek(-len(line), os.SEEK_CUR)  # half a line is read again when it is whole
    yield from points.items()


def summary(rows: list[Row], cell: Collection[str]) -> dict[str, float]:
    """Return the values of rows by `summary_name`; undefined ones are left out."""
    return {summary_name(row, cell): row.value for row in rows if row.value is not None}


def summary_name(row: Row, cell: Collection[str]) -> str:
    """Return ``final/<key>=<value>/.../<metric>``; the keys in `cell`, shared by the whole run, go without saying."""
    keys = [f"{name}={value}" for name, value in row.keys.items() if name not in cell]
    return "/".join(["final", *keys, row.metric])


def offline_folders(asked: dict[str, Any]) -> list[Path]:
    """Return the offline folders of a run but the newest, which holds all that the others do."""
    return sorted(Path(asked["root"]).glob(f"wandb/offline-run-*-{asked['init']['id']}"))[:-1]


def place(folder: RunFolder) -> RunFolder:
    """Return where a run's files are now: a forced run has taken the place of the folder above it when it is done."""
    return folder if folder.path.exists() else RunFolder(folder.path.parent)


def first_line(error: BaseException) -> str:
    """Return an error as one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


if __name__ == "__main__":
    main()
