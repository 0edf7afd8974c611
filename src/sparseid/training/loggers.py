"""Report runs to Weights & Biases from a separate process that follows the run folder.

Training never waits for wandb and shares no random generator, signal or exception with it: ``metrics.csv``,
``result.json`` and ``figures/`` are all that the reporter reads. Lightning's `WandbLogger` in the training process
cannot guarantee this; ``README.md`` in this folder describes what was tried.

Every start reports the curves from the beginning. Offline, the newest folder is complete and replaces the earlier ones
of its run; online, steps that the server already has are skipped.
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

from sparseid.config.identity import member_seeds, row_keys, run_hash, run_name
from sparseid.config.schema import RunConfig
from sparseid.training import environment
from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder

POLL_S = 1.0
"""Seconds between two reads of ``metrics.csv``."""
INIT_S = 60.0
"""Maximum number of seconds to open a run online before it is logged offline."""
UPLOAD_S = 20.0
"""Maximum number of seconds for uploads after the end of the run; the rest stays on disk for ``wandb sync``."""
FINISH_S = 40.0
"""Number of seconds after which an unfinished reporter is killed."""
ROOM = 2**16
"""Number of bytes that must be free at the end; otherwise the files of wandb are considered incomplete."""
LONGEST, LONGEST_TAG = 128, 64
"""Maximum number of characters that W&B takes as a name and as a tag."""
FIGURES = "figures/"
"""Prefix of the names of logged figures."""

_reporter: tuple[subprocess.Popen, RunFolder] | None = None


def start(cfg: RunConfig, folder: RunFolder) -> None:
    """Report the run in `folder` until this process ends; a failure is printed in one line and stops nothing."""
    global _reporter
    finish()
    command = [sys.executable, "-m", "sparseid.training.loggers"]
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # Ctrl-C is for the run
    except OSError as error:
        folder.say(failure(error))
        return
    _reporter = process, folder
    _send(process, json.dumps(request(cfg, folder)))


@atexit.register
def finish() -> None:
    """Let the reporter upload rows and figures of the finished run, for at most `FINISH_S` seconds."""
    global _reporter
    if _reporter is None:
        return
    (process, folder), _reporter = _reporter, None
    _send(process, "finish")
    try:
        code = process.wait(FINISH_S)
        problem = f"its process ended with code {code}" if code else ""
    except subprocess.TimeoutExpired:
        process.kill()
        problem = f"not finished within {FINISH_S:.0f} s, stopped"
    except KeyboardInterrupt:  # the reporter ends by itself
        return
    if problem:
        current(folder).say(f"Weights & Biases: {problem}; metrics.csv has everything")


def _send(process: subprocess.Popen, line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # the process has ended: `finish` reports it
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()


def request(cfg: RunConfig, folder: RunFolder) -> dict[str, Any]:
    """Return the input of the reporter as plain values; ``init`` are arguments of ``wandb.init``."""
    trial = row_keys(cfg)
    return {
        "folder": str(folder.path.absolute()),
        "mode": cfg.logger.mode,
        "resumed": folder.metrics.read_bytes().count(b"\n") > 1,
        "pid": os.getpid(),
        "trial": list(trial),
        "init": {
            "dir": os.environ.get("WANDB_DIR") or str(Path(cfg.outputs).absolute()),
            "project": cfg.logger.project,
            "entity": cfg.logger.entity or None,
            "id": f"{cfg.scale}-{cfg.paper}-{run_hash(cfg)}",
            "name": run_name(cfg, LONGEST),
            "group": cfg.experiment[:LONGEST],
            "job_type": "-".join(map(str, trial.values()))[:LONGEST],
            "tags": tags(cfg, environment.read(folder.path / "environment.json") or {}),
            "config": asdict(cfg),
        },
    }


def tags(cfg: RunConfig, made_with: dict[str, Any]) -> list[str]:
    """Return a run's tags: paper, scale, method, data, seeds, commit, and ``dirty`` with local changes."""
    commit = str(made_with.get("commit", "unknown"))[:8]
    seeds = [f"seed-{seed}" for seed in member_seeds(cfg)]
    dirty = ["dirty"] if made_with.get("dirty") else []
    found = [cfg.paper, cfg.scale, cfg.method.name, cfg.data.name, *seeds, commit, *dirty]
    return list(dict.fromkeys(tag[:LONGEST_TAG] for tag in found))


def main() -> None:
    """Follow the run that the first line of standard input describes until the second line, or its end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2):  # a job's signals reach all of its processes
        signal.signal(number, signal.SIG_IGN)
    orders, terminal = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w", errors="backslashreplace")
    with open(os.devnull, "r+b") as nothing:  # wandb and its own processes print and prompt nowhere
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    asked, ended = json.loads(orders.readline()), threading.Event()

    def say(line: str) -> None:
        with contextlib.suppress(OSError):
            print(line, file=terminal, flush=True)
        current(RunFolder(Path(asked["folder"]))).log(line)

    def await_end() -> None:
        orders.readline()
        ended.set()
        time.sleep(FINISH_S)
        os._exit(1)  # after a killed run no process is left to kill a hanging reporter

    threading.Thread(target=await_end, daemon=True).start()
    try:
        report(asked, ended, say)
    except BaseException as error:  # wandb also raises SystemExit and KeyboardInterrupt
        say(failure(error))


def report(asked: dict[str, Any], ended: threading.Event, say: Callable[[str], None]) -> None:
    """Log the curves until the run ends, then its rows and figures.

    Parameters
    ----------
    asked
        The values of `request`.
    ended
        Set when the run ends, finished or not.
    say
        Prints a line to the user.
    """
    root = Path(asked["init"]["dir"])
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=root):  # wandb itself would log elsewhere, or nowhere
        pass
    import wandb

    run = open_run(wandb, asked, say)
    if run is None:
        return
    run.define_metric("samples")
    run.define_metric("*", step_metric="samples")
    known = run.starting_step  # a resumed run already has the steps before
    # a short forced run may have moved to its final folder before this process was ready
    with current(RunFolder(Path(asked["folder"]))).metrics.open("rb") as file:
        running = True
        while running:
            running = not ended.wait(POLL_S)
            for step, values in new_points(file):
                if step >= known:
                    run.log(values, step=step)
    folder = current(RunFolder(Path(asked["folder"])))
    state = folder.state
    if state == "done":
        run.summary.update(summary(read_rows(folder.result), asked["trial"]))
        figures = (folder.path / "figures").glob("*.png")
        if pictures := {FIGURES + path.stem: wandb.Image(str(path)) for path in figures}:
            run.log(pictures)
    if state == "preempted":
        run.mark_preempting()
    run.finish(exit_code=0 if state == "done" else 1)
    with tempfile.TemporaryFile(dir=root) as file:  # wandb does not report a full disk
        file.write(bytes(ROOM))
    for old in sorted(root.glob(f"wandb/offline-run-*-{asked['init']['id']}"))[:-1]:  # the newest has everything
        shutil.rmtree(old, ignore_errors=True)


def open_run(wandb: Any, asked: dict[str, Any], say: Callable[[str], None]) -> Any:
    """Open the run, online if possible and allowed, else offline, and print its location; None if disabled."""
    settings = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        x_save_requirements=False,
        symlink=False,  # runs side by side share the folder
        init_timeout=INIT_S,
        finish_timeout=UPLOAD_S,
        x_stats_pid=asked["pid"],
        allow_val_change=True,
    )
    mode = asked["mode"] if asked["mode"] != "auto" else os.environ.get("WANDB_MODE", "auto")
    if mode == "disabled":
        return None
    if mode not in ("offline", "dryrun"):
        try:
            wandb.login()  # raises UsageError without a key
            # a run that starts again (force=true, a deleted folder) replaces the one logged before
            resume = "allow" if asked["resumed"] else None
            run = wandb.init(**asked["init"], mode="online", resume=resume, settings=settings)
            say(f"Weights & Biases: {run.url}")
            return run
        except Exception as error:
            if mode == "online" or not isinstance(error, wandb.errors.UsageError):
                say(f"Weights & Biases: {reason(error)}; logging offline")
    run = wandb.init(**asked["init"], mode="offline", resume=None, settings=settings)
    say(f"Weights & Biases: offline, upload with: wandb sync {run.settings.sync_dir}")
    return run


def new_points(file: BinaryIO) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (step, values by name and ``samples``) of the complete lines from the current position of a curve file."""
    points: dict[int, dict[str, float]] = {}
    while (line := file.readline()).endswith(b"\n"):
        step, samples, name, value = line.decode().rstrip("\n").split(",")
        if step != "step":
            points.setdefault(int(step), {"samples": int(samples)})[name] = float(value)
    file.seek(-len(line), os.SEEK_CUR)  # an incomplete line is read again later
    yield from points.items()


def summary(rows: list[Row], trial: Collection[str]) -> dict[str, float]:
    """Return the defined values of rows by `summary_name`."""
    return {summary_name(row, trial): row.value for row in rows if row.value is not None}


def summary_name(row: Row, trial: Collection[str]) -> str:
    """Return ``final/<key>=<value>/.../<metric>`` without the keys in `trial`, which are common to the run."""
    keys = [f"{name}={value}" for name, value in row.keys.items() if name not in trial]
    return "/".join(["final", *keys, row.metric])


def current(folder: RunFolder) -> RunFolder:
    """Return the current folder of a run: a finished forced run replaces the folder above its own."""
    return folder if folder.path.exists() else RunFolder(folder.path.parent)


def failure(error: BaseException) -> str:
    """Return the message for the user about `error`."""
    return f"Weights & Biases: {reason(error)}; the run continues without it, with all values in metrics.csv"


def reason(error: BaseException) -> str:
    """Return an error as one line; of settings that wandb refuses, those with its reasons."""
    if (refused := getattr(error, "errors", None)) and callable(refused):  # pydantic's ValidationError
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in refused())
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


if __name__ == "__main__":
    main()
