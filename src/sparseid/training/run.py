"""Execution of one run: folder and lock -> status -> recipe -> rows -> status.

Importing this module loads no torch, so that a completed run is skipped without delay.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.text import visible
from sparseid.training import parents
from sparseid.training.errors import RunDiverged, RunError, RunPreempted, disk_full
from sparseid.training.group import First, Helper
from sparseid.training.preemption import GO_ON, Preemption, slurm_job
from sparseid.training.processes import advice_to_tasks, check_tasks, helper_process, joined
from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder


def execute(cfg: RunConfig) -> Path:
    """Execute one run, resume it, or report that it is done.

    With ``cfg.force`` the run is executed in the subfolder ``remake``, and replaces the old one when it is done.

    Parameters
    ----------
    cfg
        A valid configuration.

    Returns
    -------
    Path
        The run's folder.

    Raises
    ------
    ConfigError
        If the tasks of the SLURM step around this process do not fit the run.
    RunError
        If the run cannot start or resume; the message has the remedy. `RunBusy`: another process is executing it.
        `RunDiverged`: its loss is no longer finite.
    RunPreempted
        If SIGTERM, SIGUSR2 or the end of the SLURM job stopped it: it is saved, and the same command resumes it. The
        previous signal handlers are then restored.
    KeyboardInterrupt
        If the user interrupted it (exit code 130); the same command resumes it.
    """
    check_tasks(cfg)
    folder = RunFolder(run_directory(cfg))
    with joined(cfg):
        if helper_process(cfg):  # rank zero owns the folder
            help_training(cfg, folder.remake if cfg.force else folder)
        else:
            with First(cfg) as group:
                lead(cfg, folder, group)
    return folder.path


def lead(cfg: RunConfig, folder: RunFolder, group: First) -> None:
    """Execute a run as its first or only process."""
    with folder.lock(advice_to_tasks(cfg)):
        if cfg.force:
            make(cfg, folder.remake, group)
            folder.adopt_remake()
        else:
            folder.check_schema(cfg)
            if folder.state == "done":
                print(f"already done: {folder.path} (force=true repeats it)", flush=True)
            elif folder.state == "diverged":
                message = (folder.read_status() or {}).get("message", "")
                raise RunDiverged(f"{folder.path} has diverged: {message}. It would again; force=true repeats it.")
            else:
                if (folder.read_status() or {}).get("state") == "done":
                    folder.say(f"{folder.result} or {folder.arrays.name} is missing or damaged: the tests are repeated")
                make(cfg, folder, group)


def make(cfg: RunConfig, folder: RunFolder, group: First) -> None:
    """Train, test and write the rows of an unfinished run."""
    if not visible(folder.checkpoints.glob("*.ckpt")):  # a run that has begun no longer needs its parent
        parents.require(cfg)
    folder.open(cfg)
    preemption = Preemption(cfg.trainer.stop_before_s)
    with preemption.listening(), outcome(folder):
        from sparseid.training.recipe import train_and_test

        write_rows(folder.result, train_and_test(cfg, folder, preemption, group))


def help_training(cfg: RunConfig, folder: RunFolder) -> None:
    """Train as a process of non-zero rank; rank zero reports and writes the results."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal interrupts all processes; rank zero decides
    preemption, group = Preemption(cfg.trainer.stop_before_s), Helper(cfg)
    with preemption.listening(), group:
        if not group.called(preemption):
            return
        try:
            from sparseid.training.recipe import train_and_test

            train_and_test(cfg, folder, preemption, group)
        except (RunPreempted, RunDiverged):
            pass  # all processes end at the same step
        except BaseException:
            if not group.dismissed:
                folder.log(f"helper process {os.getpid()}: {traceback.format_exc()}")
            raise


@contextlib.contextmanager
def outcome(folder: RunFolder) -> Iterator[None]:
    """Keep ``status.json`` up to date during a run, however it ends."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    try:
        folder.write_status("running", job=slurm_job())
        folder.log(f"running, process {os.getpid()}")
        yield
        folder.write_status("done")
        folder.log("done")
    except BaseException as error:
        end(folder, error)
        raise
    finally:
        if main:  # Lightning ignores further interrupts after the first one
            signal.signal(signal.SIGINT, handler)


def end(folder: RunFolder, error: BaseException) -> None:
    """Write the status of a run that did not finish; raise an error for the user in place of `error`, if parents."""
    # Lightning turns an interrupt into exit(1)
    interrupted = isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
    if not interrupted and not isinstance(error, RunDiverged | RunPreempted):
        folder.log(traceback.format_exc())
    if interrupted:
        state, message = "preempted", f"interrupted; {GO_ON}"
    elif isinstance(error, RunPreempted):
        state, message = "preempted", error.message
    elif isinstance(error, RunDiverged):
        state, message = "diverged", str(error)
    elif disk_full(error):
        state = "failed"
        reason = error.strerror if isinstance(error, OSError) else error
        message = f"no space left for {folder.path} ({reason}); free some, then {GO_ON}: saved work is not lost"
    elif isinstance(error, RunError | InputError):
        state, message = "failed", str(error)
    else:
        state, message = "failed", f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # on a full disk the old status remains
        folder.write_status(state, message)
    folder.log(f"{state}: {message}")

    if interrupted:
        raise KeyboardInterrupt(f"{folder.path}: {message}") from None
    if isinstance(error, RunPreempted):
        print(f"{folder.path}: {message}", flush=True)
    if isinstance(error, RunDiverged):
        raise RunDiverged(f"{folder.path} has diverged: {message}") from None
    if disk_full(error):
        raise RunError(message) from error
