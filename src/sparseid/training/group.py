"""Connections of the processes of a run on several devices, by which they begin and end together.

The first process has a line to each of the others, its helpers: a socket, which the operating system closes when either
process ends. torch's own meeting waits for half an hour for a process that never comes, deaf to signals; so processes
go there only when all are ready. Nothing here imports torch before that.

Without a task per device the first process starts its helpers itself, when all that it can check is checked. Tasks of a
SLURM step wait until then, and are told the reason if it does not come to that.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from enum import StrEnum, auto
from multiprocessing.connection import Connection, Pipe, wait
from signal import SIGKILL, SIGTERM, Signals
from typing import Any, NoReturn

from sparseid.config.identity import run_name
from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.training.errors import RunBusy, RunDiverged, RunError, RunPreempted
from sparseid.training.preemption import GO_ON, Preemption, preempted
from sparseid.training.processes import LINE, RUN, leave_torch, rank_of, step_address
from sparseid.training.run_folder import RunFolder

LOOK_S = 0.2
"""Seconds between two looks for a signal."""

COME_S = 300.0
"""Maximum number of seconds that the first process waits for the tasks of its step, which start when it does."""

FIRST_S = 1800.0
"""Maximum number of seconds that a task waits for the first process, which may still be testing a run before."""

SAY_S = 10.0
"""Seconds after which a process says which others it waits for that have not come."""

WAIT_S = 30.0
"""Maximum number of seconds that the processes of a run wait for each other to end."""

NOTICE_S = 5.0
"""Seconds within which a helper has to notice that the first process has ended, before it is ended."""


class Word(StrEnum):
    """First words of messages."""

    HERE = auto()
    BEGIN = auto()
    READY = auto()
    TRAIN = auto()
    DONE = auto()
    FAILED = auto()
    STOPPED = auto()
    GONE = auto()
    """Not sent: the other process has ended without a word."""


KINDS = (InputError, RunBusy, RunDiverged, RunError)
"""Errors of the first process that the others raise, too; anything else is a `RunError` to them."""

NO_WORD = f"has ended without a word (killed? out of memory?); {GO_ON}"


def say(line: Connection, word: Word, *values: Any) -> None:
    """Send a message, unless the other process has ended."""
    with suppress(OSError):
        line.send_bytes(json.dumps([word, *values]).encode())


def hear(line: Connection) -> list[Any]:
    """Wait for a message, and return it."""
    try:
        message: list[Any] = json.loads(line.recv_bytes())
    except (EOFError, OSError):
        return [Word.GONE]
    return message


class First:
    """The first process of a run, or its only one; a context that it leaves when the run ends, in whatever way."""

    def __init__(self, cfg: RunConfig) -> None:
        self.name, self.devices = run_name(cfg), cfg.trainer.devices
        self.lines: dict[Connection, int] = {}
        """Lines to the helpers, with their ranks; of one that has not said its rank yet, 0."""
        self.helpers: list[subprocess.Popen] = []
        """Helpers that this process has started."""
        self._tasks = _listen(step_address(cfg))
        self._reason = ""
        self._news, self._over = threading.Event(), threading.Event()

    def __enter__(self) -> First:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        stopped = isinstance(error, RunPreempted | KeyboardInterrupt)
        if self._tasks is not None:
            end = time.monotonic() + (0.0 if stopped else WAIT_S)
            while len(self.lines) < self.devices - 1:
                self._let_in(heard := wait([self._tasks], LOOK_S))
                if not heard and time.monotonic() > end:
                    break
        if error is None or stopped:
            self._say_to_all(Word.DONE)
        else:
            self._say_to_all(Word.FAILED, *_text_and_kind(error))
        self._hang_up()

    @contextmanager
    def training(self, preemption: Preemption, folder: RunFolder) -> Iterator[None]:
        """Train with all processes inside the context; afterwards this process is alone, even after an error.

        Raises
        ------
        RunError
            If another process cannot begin, or has ended before this one.
        RunPreempted
            If this one or another has been asked to stop before training.
        """
        if self.devices == 1:
            yield
            return
        failed = True
        watch = threading.Thread(target=self._watch, args=[folder], daemon=True, name="watch-helpers")
        try:
            if self._tasks is None:
                self._start_helpers()
            self._meet(preemption, folder)
            watch.start()
            yield
            failed = False
        except RuntimeError as error:  # of the connection to a process that has gone
            if self._news.wait(1.0):
                raise RunError(self._reason) from error
            raise
        finally:
            self._over.set()
            if watch.is_alive():
                watch.join()
            if not failed:
                self._say_to_all(Word.DONE)
                self._hang_up()
            leave_torch()
            for helper in self.helpers:
                with suppress(subprocess.TimeoutExpired):
                    helper.wait(timeout=0 if failed else WAIT_S)
                helper.kill()
                helper.wait()

    def _start_helpers(self) -> None:
        for rank in range(1, self.devices):
            ours, theirs = Pipe()
            with theirs:
                place = {"LOCAL_RANK": str(rank), RUN: self.name, LINE: str(theirs.fileno())}
                command = [sys.executable, *sys.orig_argv[1:]]
                helper = subprocess.Popen(command, env={**os.environ, **place}, pass_fds=[theirs.fileno()])
            self.helpers.append(helper)
            self.lines[ours] = rank

    def _meet(self, preemption: Preemption, folder: RunFolder) -> None:
        """Wait until all processes are ready to train, then tell them where torch's meeting is."""
        began, said, ready = time.monotonic(), False, 0
        end = began + COME_S
        while ready < self.devices - 1:
            preemption.check()
            late = [str(rank) for rank in range(1, self.devices) if rank not in self.lines.values()]
            if late and not said and time.monotonic() > began + SAY_S:
                said = True
                folder.say(f"waiting for task {', '.join(late)} of {self.devices} that make the run ({_until(end)})")
            if len(self.lines) < self.devices - 1 and time.monotonic() > end:
                here = ", ".join(map(str, [0, *sorted(self.lines.values())]))
                raise RunError(f"{self.devices} tasks make the run, but only {here} came within {COME_S:g} s; {GO_ON}")
            heard = wait([*self.lines, *([self._tasks] if self._tasks else [])], LOOK_S)
            self._let_in(heard)
            for line in [one for one in self.lines if one in heard]:
                word, *values = hear(line)
                if word == Word.HERE:
                    self.lines[line], name = values
                    if name != self.name:
                        raise InputError(
                            f"the tasks of this step train different runs: {self.name}, {name}\n  trainer=single makes "
                            "a run of each task; a run on several devices needs a step of its own (srun "
                            "--ntasks=DEVICES)",
                            ("trainer.devices",),
                        )
                    say(line, Word.BEGIN)
                elif word == Word.READY:
                    ready += 1
                elif word == Word.STOPPED:
                    raise preempted(*values)
                else:
                    raise RunError(self._why(self.lines[line], word, *values))
        with socket.create_server(("127.0.0.1", 0)) as place:
            port = place.getsockname()[1]
        os.environ["MASTER_PORT"] = str(port)
        self._say_to_all(Word.TRAIN, port)

    def _let_in(self, heard: list[Any]) -> None:
        if self._tasks is not None and self._tasks in heard:
            self.lines[Connection(self._tasks.accept()[0].detach())] = 0

    def _watch(self, folder: RunFolder) -> None:
        """Note why a helper has ended before its end; end this process if it does not notice, as NCCL may not."""
        lines = list(self.lines)
        while lines and not self._over.is_set():
            heard = wait(lines, LOOK_S)
            for line in [one for one in lines if one in heard]:
                word, *values = hear(line)
                if word == Word.STOPPED:  # it will agree on a step with this process
                    continue
                lines.remove(line)
                if word == Word.DONE:
                    continue
                self._reason = self._why(self.lines[line], word, *values)
                self._news.set()
                if not self._over.wait(WAIT_S):
                    folder.write_status("failed", self._reason)
                    folder.log(f"failed: {self._reason}")
                    for helper in self.helpers:
                        helper.kill()
                    _end_now(self._reason)
                return

    def _why(self, rank: int, word: str, *values: Any) -> str:
        """Return why a helper has ended, from its last message."""
        which = f"process {rank} of the run on {self.devices} devices"
        if word == Word.FAILED:
            return f"{which} failed: {values[0]}"
        if self.helpers:
            with suppress(subprocess.TimeoutExpired):
                if (code := self.helpers[rank - 1].wait(timeout=1.0)) < 0:
                    why = " (out of memory?)" if -code == SIGKILL else ""
                    return f"{which} was ended by {Signals(-code).name}{why}; {GO_ON}"
        return f"{which} {NO_WORD}"

    def _say_to_all(self, word: Word, *values: Any) -> None:
        for line in self.lines:
            say(line, word, *values)

    def _hang_up(self) -> None:
        for line in self.lines:
            line.close()
        self.lines.clear()
        if self._tasks is not None:
            self._tasks.close()
        self._tasks = None


class Helper:
    """A further process of a run; a context that it leaves when its part ends, in whatever way."""

    def __init__(self, cfg: RunConfig) -> None:
        self.name, self.rank = run_name(cfg), rank_of(cfg)
        self._address = step_address(cfg)
        self._line: Connection | None = None
        self._told: list[Any] = [""]
        self._news, self._ended, self._over = threading.Event(), threading.Event(), threading.Event()

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._over.set()
        stopped = isinstance(error, RunPreempted)
        if error is not None and self._line is not None and not stopped and not self.dismissed:
            say(self._line, Word.FAILED, *_text_and_kind(error))

    @property
    def dismissed(self) -> bool:
        """Return whether the first process has ended before this one."""
        return self._told[0] in (Word.FAILED, Word.GONE)

    def called(self, preemption: Preemption) -> bool:
        """Wait until the first process is about to train; return whether it is, and not already at the end of the run.

        Raises
        ------
        InputError, RunError
            That of the first process, if it cannot train.
        RunPreempted
            If this process has been asked to stop.
        """
        self._line = self._connect(preemption)
        say(self._line, Word.HERE, self.rank, self.name)
        while not self._line.poll(LOOK_S):
            if preemption.signum:
                say(self._line, Word.STOPPED, preemption.signum)
            preemption.check()
        self._told = hear(self._line)
        if self.dismissed:
            self._raise()
        if self._told[0] != Word.BEGIN:
            return False
        threading.Thread(target=self._watch, args=[self._line], daemon=True, name="watch-first").start()
        return True

    @contextmanager
    def training(self, preemption: Preemption, folder: RunFolder) -> Iterator[None]:
        """Train with all processes inside the context.

        Raises
        ------
        RunError
            If the first process has ended before this one.
        RunPreempted
            If this one or the first has been asked to stop before training.
        """
        assert self._line is not None, "it has been called"
        say(self._line, Word.READY)
        asked = False
        while not self._news.wait(LOOK_S):
            if preemption.signum and not asked:  # the first process decides: it may be on its way to torch's meeting
                asked = True
                say(self._line, Word.STOPPED, preemption.signum)
        word, *values = self._told
        if self.dismissed:
            self._raise()
        if word == Word.DONE:  # this one or the first was stopped
            raise preempted(preemption.signum or SIGTERM)
        os.environ["MASTER_PORT"] = str(values[0])
        try:
            yield
        except RuntimeError:  # of the connection to a process that has gone
            if self._ended.wait(1.0):
                self._raise()
            raise
        finally:
            leave_torch()
        say(self._line, Word.DONE)

    def _connect(self, preemption: Preemption) -> Connection:
        if not self._address:
            return Connection(int(os.environ[LINE]))
        began, said = time.monotonic(), False
        while (now := time.monotonic()) < began + FIRST_S:
            with suppress(OSError):
                return _call(self._address)
            preemption.check()
            if not said and now > began + SAY_S:
                said = True
                until = _until(began + FIRST_S)
                print(f"task {self.rank} waits for the first of the tasks that make {self.name} ({until})", flush=True)
            time.sleep(LOOK_S)
        raise RunError(f"the first of the tasks that make the run has not come within {FIRST_S:g} s; {GO_ON}")

    def _raise(self) -> NoReturn:
        kind = next((kind for kind in KINDS if kind.__name__ in self._told), RunError)
        raise kind(self._why())

    def _why(self) -> str:
        """Return why the first process has ended, from its last message."""
        word, *values = self._told
        return f"the first process of the run {f'has ended: {values[0]}' if word == Word.FAILED else NO_WORD}"

    def _watch(self, line: Connection) -> None:
        """Note the first process's word to train, and why it has ended; end this process if it does not notice that."""
        while not self._over.is_set():
            self._told = hear(line)
            self._news.set()
            if self.dismissed:
                self._ended.set()
                if not self._over.wait(0.0 if self._told[0] == Word.GONE else NOTICE_S):
                    _end_now(self._why())
            if self._told[0] != Word.TRAIN:
                return


def _text_and_kind(error: BaseException) -> tuple[str, str]:
    """Return an error as text, and the one of `KINDS` that it is."""
    for kind in KINDS:
        if isinstance(error, kind):
            return str(error), kind.__name__
    return f"{type(error).__name__}: {error}".removesuffix(": "), RunError.__name__


def _listen(address: str) -> socket.socket | None:
    if not address:
        return None
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(address)
    except OSError as error:
        raise RunError(
            f"the tasks of this step are about to begin another run ({error}): one after the other"
        ) from error
    server.listen(64)
    return server


def _call(address: str) -> Connection:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(address)
    except OSError:
        line.close()
        raise
    return Connection(line.detach())


def _until(end: float) -> str:
    """Return the time of day at which the clock that only goes forward shows `end`."""
    return f"until {datetime.now() + timedelta(seconds=end - time.monotonic()):%H:%M:%S}"


def _end_now(message: str) -> NoReturn:
    """End this process from a thread while the main thread is stuck in a library."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    os._exit(1)
