"""One cell of a plan: skip it where it is done, else train it and report it."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory, run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.reporting import PAGE
from sparseid.training.errors import RunBusy, RunError, disk_full
from sparseid.training.run_folder import RunFolder

DONE, FAILED, REFUSED = 0, 1, 2
"""Exit codes: of a cell, and of the command (the highest of its cells)."""


@dataclass(frozen=True)
class Outcome:
    """How a cell ended.

    Attributes
    ----------
    name
        The run's name.
    folder
        Its folder.
    code
        `DONE`, `FAILED` or `REFUSED`.
    message
        What went wrong, in one line; empty if nothing did.
    waiting
        True if it was handed over and is not made yet.
    busy
        True if another process makes this run.
    """

    name: str
    folder: Path
    code: int = DONE
    message: str = ""
    waiting: bool = False
    busy: bool = False


def skipped(cfg: RunConfig) -> Outcome | None:
    """Return the outcome of a cell that need not be started: it is done, or has diverged and would again."""
    run = RunFolder(run_directory(cfg))
    if cfg.force:
        return None
    if run.state == "done" and _drawn(run.path):
        return Outcome(run_name(cfg), run.path)
    if run.state == "diverged":
        message = (run.read_status() or {}).get("message", "")
        return Outcome(run_name(cfg), run.path, FAILED, f"diverged: {message}; force=true makes it again")
    return None


def report_skipped(outcomes: Sequence[Outcome | None]) -> None:
    """Say how many cells of a sweep need not be started (`left_out` gave their outcome), and why."""
    codes = [outcome.code for outcome in outcomes if outcome is not None]
    for text, number in (("done already", codes.count(DONE)), ("diverged before", len(codes) - codes.count(DONE))):
        if number:
            print(f"{number} of {len(outcomes)} runs {text}", flush=True)


def make_run(cfg: RunConfig, page: bool = True) -> Outcome:
    """Run one cell; whatever goes wrong is printed and returned, so that it cannot stop the cells after it.

    Parameters
    ----------
    cfg
        A valid configuration.
    page
        Whether to bring the report's page up to date; False for a cell of a sweep, which does so once at its end.

    Raises
    ------
    RunPreempted, KeyboardInterrupt
        If the run was stopped: no cell should begin after it.
    """
    name, folder = run_name(cfg), run_directory(cfg)
    try:
        if RunFolder(folder).state == "done" and not cfg.force:
            RunFolder(folder).check_schema(cfg)
            print(f"{name} is done: {folder} (force=true makes it again)", flush=True)
            if _drawn(folder) and (not page or _on_page(folder, Path(cfg.outputs))):
                return Outcome(name, folder)
        else:
            # torch is imported here, behind everything that can be refused without it
            from sparseid.training.run import execute, helper_process

            folder = execute(cfg)
            if helper_process():  # of a run on several devices: the first process reports
                return Outcome(name, folder)
    except Exception as error:
        return _failed(name, folder, error)
    try:
        from sparseid.reporting.summary import finish_run

        with RunFolder(folder).lock():  # two processes that draw would remove each other's half-written files
            finish_run(folder, page)
    except RunBusy:  # whoever has the run draws it
        return Outcome(name, folder)
    except Exception as error:
        print(f"{name} is trained, but its report could not be made from {folder}.", flush=True)
        return _failed(name, folder, error)
    return Outcome(name, folder)


def check_outputs(outputs: str) -> None:
    """Make the folder of runs and write a file into it.

    Raises
    ------
    ConfigError
        If that fails: better now than after torch has been imported and a model built.
    """
    try:
        Path(outputs).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=outputs):
            pass
    except OSError as error:
        raise ConfigError(
            f"cannot write to the folder of runs {Path(outputs).absolute()}: {error.strerror}",
            source=f"outputs={outputs}",
            hint="give a folder that can be written with outputs=FOLDER",
        ) from error


def _drawn(folder: Path) -> bool:
    """Whether a done run's figures were drawn: the process may have been killed before."""
    return (folder / "figures").is_dir()


def _on_page(folder: Path, outputs: Path) -> bool:
    """Whether the report has been made since a run was done."""
    try:
        return (outputs / PAGE).stat().st_mtime >= (folder / "result.json").stat().st_mtime
    except FileNotFoundError:
        return False


def _failed(name: str, folder: Path, error: Exception) -> Outcome:
    if isinstance(error, InputError):
        code, message = REFUSED, str(error)
    elif isinstance(error, RunError):  # its message says what happened and what to do
        code, message = FAILED, str(error)
    elif disk_full(error):
        code, message = FAILED, f"no space left ({error}); free some, then run the same command"
    else:
        traceback.print_exception(error)
        code, message = FAILED, f"{type(error).__name__}: {error}"
    print(f"error: {name}: {message}", flush=True)
    first_line = message.splitlines()[0] if message else type(error).__name__
    return Outcome(name, folder, code, first_line, busy=isinstance(error, RunBusy))
