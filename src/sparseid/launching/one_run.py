"""One run of a plan: skip it if it is done, else train it and report it."""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparseid.config.identity import run_directory, run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import ConfigError, InputError
from sparseid.files import refused, share
from sparseid.launching.machine import require_gpu, wait_briefly
from sparseid.reporting import PAGE
from sparseid.training import environment
from sparseid.training.errors import RunBusy, RunError, disk_full
from sparseid.training.run_folder import RunFolder

DONE, FAILED, REFUSED = 0, 1, 2
"""Exit codes of a run; that of the command is the highest of its runs."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    name: str
    folder: Path
    code: int = DONE
    """`DONE`, `FAILED` or `REFUSED`."""
    message: str = ""
    """The error in one line; empty without one."""
    waiting: bool = False
    """True if it was submitted and has not ended yet."""
    busy: bool = False
    """True if another process has this run."""
    note: str = ""
    """Remark on a run that is skipped."""


def skipped(cfg: RunConfig) -> Outcome | None:
    """Return the outcome of a run that is skipped because it is done, or has diverged and would again; else None."""
    run = RunFolder(run_directory(cfg))
    if cfg.force:
        return None
    if run.state == "done" and _drawn(run.path):
        return Outcome(run_name(cfg), run.path, note=made_on_others(cfg, run.path))
    if run.state == "diverged":
        message = (run.read_status() or {}).get("message", "")
        return Outcome(run_name(cfg), run.path, FAILED, f"diverged: {message}; force=true repeats it")
    return None


def report_skipped(outcomes: Sequence[Outcome | None]) -> None:
    """Print how many runs of a sweep are skipped (their outcomes from `skipped`), and why."""
    codes = [outcome.code for outcome in outcomes if outcome is not None]
    for text, number in (("done already", codes.count(DONE)), ("diverged before", len(codes) - codes.count(DONE))):
        if number:
            print(f"{number} of {len(outcomes)} runs {text}", flush=True)
    notes = Counter(outcome.note for outcome in outcomes if outcome is not None and outcome.note)
    for note, number in notes.items():
        print(f"{number} of {len(outcomes)} runs {note}", flush=True)


def made_on_others(cfg: RunConfig, folder: Path) -> str:
    """Return that a done run was made on another number of devices than is asked for now; empty if it was not."""
    devices = (environment.read(folder / "environment.json") or {}).get("device", "")
    if not devices or environment.numbers_of(devices) == {cfg.trainer.devices}:
        return ""
    return (
        f"made on {devices}, not with trainer.devices={cfg.trainer.devices}: the number of devices is not part of a "
        "run's identity; force=true repeats it"
    )


def make_run(cfg: RunConfig, page: bool = True) -> Outcome:
    """Make one run; errors are printed and returned, so that they do not stop the runs after it.

    Parameters
    ----------
    cfg
        A valid configuration.
    page
        Whether to update the report; False in a sweep, which does so once at its end.

    Raises
    ------
    RunPreempted, KeyboardInterrupt
        If the run was stopped: no other run should begin.
    """
    name, folder = run_name(cfg), run_directory(cfg)
    try:
        if RunFolder(folder).state == "done" and not cfg.force:
            RunFolder(folder).check_schema(cfg)
            print(f"{name} is done: {folder} (force=true repeats it)", flush=True)
            if note := made_on_others(cfg, folder):
                print(f"it was {note}", flush=True)
            if _drawn(folder) and (not page or _on_page(folder, Path(cfg.outputs))):
                if page:
                    from sparseid.reporting.summary import show_run

                    show_run(folder)
                return Outcome(name, folder)
        else:
            require_gpu(cfg)
            wait_briefly()
            # imports torch: after all checks that do not need it
            from sparseid.training.processes import helper_process
            from sparseid.training.run import execute

            folder = execute(cfg)
            if helper_process(cfg):  # rank 0 reports
                return Outcome(name, folder)
    except Exception as error:
        return _failed(name, folder, error)
    try:
        from sparseid.reporting.summary import finish_run

        with RunFolder(folder).lock():  # two drawing processes would remove each other's incomplete files
            finish_run(folder, page)
    except RunBusy:  # the other process draws it
        return Outcome(name, folder)
    except Exception as error:
        print(f"{name} is trained, but its report failed: {folder}", flush=True)
        if isinstance(error, OSError) and not disk_full(error):
            remedy = refused(error, "; ")
            error = RunError(f"it cannot be written: {error}{remedy}; the same command repeats it")
        return _failed(name, folder, error)
    return Outcome(name, folder)


def check_outputs(outputs: str) -> None:
    """Create the folder of runs, shared with the group if it is in a shared folder, and write a file into it.

    Raises
    ------
    ConfigError
        If that fails, before torch is imported and a model is built.
    """
    share(Path(outputs))
    try:
        Path(outputs).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=outputs):
            pass
    except OSError as error:
        raise ConfigError(
            f"cannot write to the folder of runs {Path(outputs).absolute()}: {error.strerror}",
            source=f"outputs={outputs}",
            hint="set a writable folder: outputs=FOLDER" + refused(error, "\n"),
        ) from error


def _drawn(folder: Path) -> bool:
    """Return whether all figures of a done run are drawn; the process may have been killed before."""
    return (folder / "figures").is_dir()


def _on_page(folder: Path, outputs: Path) -> bool:
    """Return whether the report was updated after a run was done."""
    try:
        return (outputs / PAGE).stat().st_mtime >= (folder / "result.json").stat().st_mtime
    except FileNotFoundError:
        return False


def _failed(name: str, folder: Path, error: Exception) -> Outcome:
    code = REFUSED if isinstance(error, InputError) else FAILED
    if isinstance(error, InputError | RunError):  # its message has the remedy
        message = str(error)
    elif isinstance(error, PermissionError):
        message = f"{error}{refused(error, '; ')}"
    elif disk_full(error):
        message = f"no space left ({error}); free some, then repeat the command"
    else:
        traceback.print_exception(error)
        message = f"{type(error).__name__}: {error}"
    print(f"error: {name}: {message}", flush=True)
    first_line = message.splitlines()[0] if message else type(error).__name__
    return Outcome(name, folder, code, first_line, busy=isinstance(error, RunBusy))
