"""Folder of one run: its lock, its state, and its replacement by a forced run."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock, Timeout

from sparseid.config.schema import RunConfig, run_config_text
from sparseid.files import refused, remove_leftovers, write_json, write_text
from sparseid.text import parsed_json
from sparseid.training.arrays import check_arrays
from sparseid.training.errors import RunBusy, RunError
from sparseid.training.rows import read_rows

STATES = ("planned", "running", "done", "failed", "preempted", "diverged")
"""States of a run, described in ``outputs/README.md``."""
REMARKS = "remarks.json"


def now() -> str:
    """Return the current time as in the files of a run: ISO 8601, UTC, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunFolder:
    """Files of one run.

    Parameters
    ----------
    path
        The folder, which need not exist.
    """

    def __init__(self, path: Path):
        self.path = Path(path)

    @property
    def checkpoints(self) -> Path:
        """Folder of ``last.ckpt``, ``previous.ckpt`` and the method's milestones."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """Training curves."""
        return self.path / "metrics.csv"

    @property
    def timing(self) -> Path:
        """Seconds of training and of the tests."""
        return self.path / "timing.json"

    @property
    def result(self) -> Path:
        """Rows with the results."""
        return self.path / "result.json"

    @property
    def arrays(self) -> Path:
        """Arrays for the method's figures."""
        return self.path / "arrays.npz"

    @property
    def remake(self) -> RunFolder:
        """Folder in which ``force=true`` repeats the run; it replaces this folder once it is done."""
        return RunFolder(self.path / "remake")

    # Locking

    @contextlib.contextmanager
    def lock(self, advice: str = "") -> Iterator[None]:
        """Hold the run's lock.

        The operating system releases the lock when the process ends. The lock file is next to the folder, because a
        forced run replaces the folder.

        Parameters
        ----------
        advice
            Text after the message that another process holds it.

        Raises
        ------
        RunBusy
            If another process holds the lock; the message names it.
        RunError
            If the folder cannot be written.
        """
        lock = FileLock(self.path.parent / f".{self.path.name}.lock", mode=0o664)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            raise RunBusy(f"{self.path} is being executed by {self._owner()}. Nothing was changed.{advice}") from None
        except OSError as error:
            raise RunError(
                f"Cannot write to {self.path.parent}: {error.strerror}. Set a writable folder with outputs=FOLDER"
                f"{refused(error, '; ')}."
            ) from error
        try:
            self._settle()
            yield
        finally:
            lock.release()

    def _owner(self) -> str:
        status = self.remake.read_status() or {}
        if status.get("state") != "running":
            status = self.read_status() or {}
        if status.get("state") != "running":
            return "another process that has just started"
        return f"process {status.get('pid')} on {status.get('host')} since {status.get('started')}"

    # Writing

    def open(self, cfg: RunConfig) -> None:
        """Create the folder, remove temporary files of killed processes, and write ``config.yaml``.

        Raises
        ------
        RunError
            If the folder cannot be written, or contains a run with another schema version.
        """
        self.check_schema(cfg)
        try:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.path)
            write_text(self.path / "config.yaml", run_config_text(cfg))
        except OSError as error:
            raise RunError(
                f"Cannot write to {self.path}: {error.strerror}. Free some space if it is full, or set another folder "
                f"with outputs=FOLDER{refused(error, '; ')}."
            ) from error

    def check_schema(self, cfg: RunConfig) -> None:
        """Refuse to resume a run whose ``config.yaml`` has another schema version."""
        path = self.path / "config.yaml"
        if not path.exists():
            return
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            schema = content["schema"]
        except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(f"{path} is damaged ({what}). Repeat the run with force=true.") from error
        if schema != cfg.schema:
            raise RunError(
                f"{path} has schema version {schema}, this code has {cfg.schema}: the meaning of fields may differ. "
                "Repeat the run with force=true (the old result stays until the new one is done)."
            )

    def write_status(self, state: str, message: str = "", job: str = "") -> None:
        """Replace ``status.json``; a running run keeps its start time.

        Parameters
        ----------
        state
            One of `STATES`.
        message
            Progress of the run, or how it ended.
        job
            Id of the SLURM job; empty keeps the last id, unless the run is started outside of SLURM.
        """
        if state not in STATES:
            raise ValueError(f"state {state!r} must be one of {STATES}")
        old = self.read_status() or {}
        same_process = old.get("pid") == os.getpid() and old.get("state") == "running"
        starts = state == "running" and not same_process
        status = {
            "state": state,
            "message": message,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "job": job or ("" if starts else old.get("job", "")),
            "started": old["started"] if same_process else now(),
            "updated": now(),
        }
        write_json(self.path / "status.json", status)

    def close(self, message: str) -> None:
        """Note why a run has ended whose process could not: its status says that it is running, but it has no lock."""
        with contextlib.suppress(RunError), self.lock():
            if self.state == "running":
                self.write_status("failed", message)
                self.log(message)

    def say(self, message: str) -> None:
        """Print a line and append it to ``log.txt``."""
        print(message, flush=True)
        self.log(message)

    def remark(self, message: str) -> None:
        """Print a warning about the run's results, and store it for the end of a sweep."""
        self.say(message)
        if message not in (earlier := self.remarks):
            write_json(self.path / REMARKS, [*earlier, message])

    def log(self, message: str) -> None:
        """Append to ``log.txt``; errors are ignored."""
        with contextlib.suppress(OSError), (self.path / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{now()} {message}\n")

    # Reading

    def read_status(self) -> dict[str, Any] | None:
        """Return ``status.json``, or None if it is missing or cannot be read."""
        try:
            status = parsed_json((self.path / "status.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return status if isinstance(status, dict) else None

    @property
    def remarks(self) -> list[str]:
        """Warnings (:meth:`remark`) since the first start of the run, each once."""
        try:
            remarks = parsed_json((self.path / REMARKS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [str(remark) for remark in remarks] if isinstance(remarks, list) else []

    @property
    def state(self) -> str:
        """State of the run; ``planned`` before its start, ``failed`` if it is done but its results are damaged."""
        if not self.path.exists():
            self.settle()
        state = str((self.read_status() or {}).get("state", "planned"))
        return "failed" if state == "done" and self.damage() else state

    def damage(self) -> str:
        """Return the error in the results of a completed run; empty if its rows are valid and no array is cut off."""
        try:
            read_rows(self.result)
            check_arrays(self.arrays)
        except RunError as error:
            return str(error)
        return ""

    @property
    def message(self) -> str:
        """Message about the end of the run, or about damaged results; may be empty."""
        status = self.read_status() or {}
        return self.damage() if status.get("state") == "done" else str(status.get("message", ""))

    # Replacement by a forced run

    def adopt_remake(self) -> None:
        """Replace this folder by the finished `remake`."""
        self.remake.path.rename(self._aside("remade"))
        self._settle()

    def settle(self) -> None:
        """Complete a replacement whose process was killed, unless another process has the run."""
        if self._aside("remade").exists():
            with contextlib.suppress(RunError, OSError), self.lock():
                pass

    def _aside(self, role: str) -> Path:
        return self.path.parent / f".{self.path.name}.{role}"

    def _settle(self) -> None:
        """Complete a replacement, even after the process was killed: at every moment one complete result exists."""
        remade, replaced = self._aside("remade"), self._aside("replaced")
        if remade.exists():
            if self.path.exists():
                self.path.rename(replaced)
            remade.rename(self.path)
        shutil.rmtree(replaced, ignore_errors=True)
