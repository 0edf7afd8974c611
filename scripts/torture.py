"""Kill, stop, starve and damage tiny runs, and compare what comes of them with an undisturbed run (make torture).

    python scripts/torture.py               # everything, with 100 random kills: at most 20 minutes on two idle cores
    python scripts/torture.py --kills 20 --only kills renames

Runs are real and killed with SIGKILL; most are forks of this process, which has imported everything, so that one takes
a second. The last lines are a table: tried, survived. What the machine cannot do (SLURM, another user, a small disk) is
skipped, and said to be.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from local_slurm import LocalSlurm
from sparseid.config.compose import compose
from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.launching.machine import cores, gpus_held
from sparseid.launching.one_run import make_run
from sparseid.printing import protect_output
from sparseid.reporting import figures
from sparseid.training.run_folder import RunFolder

ROOT = Path(__file__).parents[1]
TINY = (
    *("scale=smoke", "trainer.accelerator=cpu", "trainer.threads=1", "trainer.save_every_s=0"),
    *("trainer.max_samples=512", "method.schedule.check_items=8", "method.evaluation.items=8"),
    *("method.evaluation.curve_items=8", "method.evaluation.binned_items=8", "method.evaluation.single_items=8"),
)
"""A run whose training takes a second, with validations and a checkpoint at every step."""
PRELOADED = (
    *("matplotlib.backends.backend_svg", "sparseid.data.digit_circle.datamodule", "sparseid.methods.sparling.module"),
    *("sparseid.papers.registry", "sparseid.reporting.summary", "sparseid.training.recipe"),
)
"""Modules that every run needs; a fork has them at once."""
MOVES = ("os.rename",)
"""Audit events of Python that give a file its final name."""
PASSING = ("written", "commit", "dirty", "device")
"""Parts of a row that another run of the same settings need not have."""
LONGEST_S = 120.0
SPLIT = ("kills", "renames", "checkpoints")
"""Kinds that several processes share."""

Results = Iterator[tuple[str, bool]]
"""Label and survival of each trial."""


class Skip(Exception):
    """Raised where a machine cannot do it; the message is what it lacks."""


TRIALS: dict[str, Callable[[Laboratory], Results]] = {}


def trial(function: Callable[[Laboratory], Results]) -> Callable[[Laboratory], Results]:
    """Register a kind of trial under the name of its function."""
    TRIALS[function.__name__] = function
    return function


class Laboratory:
    """A folder for runs, and an undisturbed one to compare with.

    Parameters
    ----------
    folder
        The folder.
    kills
        Number of random kills.
    """

    def __init__(self, folder: Path, kills: int):
        self.folder, self.kills = folder, kills
        self.random = random.Random(0)
        self.number, self.part, self.parts = 0, 0, 1
        began = time.monotonic()
        self.undisturbed = self.config()
        self.renames = self.count_renames()
        self.seconds = time.monotonic() - began
        self.expected = self.content(self.undisturbed)

    def mine(self, count: int) -> Iterator[int]:
        """Yield the numbers of the trials of a kind that this process makes, of `count` from 1 on."""
        yield from range(1 + self.part, count + 1, self.parts)

    def split(self, kind: str) -> tuple[int, int]:
        """Make a kind of trials in as many processes as there are cores; return how many were tried and survived."""
        parts, home = cores(), self.folder
        children = []
        for part in range(parts):
            if (pid := os.fork()) == 0:
                self.folder, self.part, self.parts = home / f"{kind}-{part}", part, parts
                self.folder.mkdir()
                self.random = random.Random(part)
                (self.folder / "found").write_text(json.dumps(made(TRIALS[kind](self), kind)))
                os._exit(0)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        found = [json.loads((home / f"{kind}-{part}" / "found").read_text()) for part in range(parts)]
        return sum(tried for tried, _ in found), sum(survived for _, survived in found)

    def config(self, *overrides: str) -> RunConfig:
        """Return the configuration of the tiny run in a folder of its own."""
        self.number += 1
        return compose([*TINY, f"outputs={self.folder}/{self.number}", *overrides])

    def count_renames(self) -> int:
        """Make the undisturbed run; return how often it gave a file its name."""
        counted = self.folder / "renames"
        if self.child(self.undisturbed, count=counted) != 0:
            raise SystemExit(f"the undisturbed run failed:\n{(self.folder / 'said').read_text()}")
        return int(counted.read_text())

    def child(
        self,
        cfg: RunConfig,
        kill_at: int = 0,
        among: str = "",
        kill_after: float | None = None,
        count: Path | None = None,
        signum: int = signal.SIGKILL,
    ) -> int:
        """Make a run in a fork of this process; return its exit code, negative if a signal ended it.

        Parameters
        ----------
        cfg
            The run.
        kill_at
            Number of the rename before which the fork kills itself; 0 for none.
        among
            Part of the old or new path of the renames that are counted.
        kill_after
            Seconds until it gets `signum`.
        count
            File for the number of renames.
        """
        pid = os.fork()
        if pid == 0:
            self._become(cfg, kill_at, among, count)
        end = time.monotonic() + (LONGEST_S if kill_after is None else kill_after)
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL if kill_after is None else signum)
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            time.sleep(0.005)

    def _become(self, cfg: RunConfig, kill_at: int, among: str, count: Path | None) -> None:
        """Be the process of a run: print to a file, count renames, end."""
        code, renames = 1, 0
        signal.alarm(int(2 * LONGEST_S))  # if this script is killed

        def watch(event: str, arguments: tuple) -> None:
            nonlocal renames
            if event in MOVES and among in f"{arguments[0]} {arguments[1]}":
                renames += 1
                if renames == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            said = os.open(self.folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(said, 1)
            os.dup2(said, 2)
            sys.addaudithook(watch)
            code = make_run(cfg, page=False).code
            if count:
                count.write_text(str(renames))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)

    def content(self, cfg: RunConfig) -> dict[str, Any]:
        """Return what must be equal to the undisturbed run: rows, curves, arrays, pictures, names of files."""
        folder = run_directory(cfg)
        rows = json.loads((folder / "result.json").read_text())["rows"]
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        return {
            "rows": [{name: value for name, value in row.items() if name not in PASSING} for row in rows],
            "files": files - {"checkpoints/previous.ckpt", "remarks.json"},  # one checkpoint may have been enough
            **{
                name: (folder / name).read_bytes() for name in sorted(files) if name.startswith(("figures/", "metrics"))
            },
            "arrays.npz": (folder / "arrays.npz").read_bytes(),
        }

    def same(self, cfg: RunConfig, pictures: bool = True) -> bool:
        """Return whether a run is done and equal to the undisturbed one; print the first difference.

        The `pictures` of commands are larger than those of forks.
        """
        if (state := RunFolder(run_directory(cfg)).state) != "done":
            print(f"    {state}: {(self.folder / 'said').read_text()[-600:]}")
            return False
        found = self.content(cfg)
        for name in {**found, **self.expected}:
            if name.startswith("figures/") and not pictures:
                continue
            if found.get(name) != self.expected.get(name):
                print(f"    {name} differs in {run_directory(cfg)}")
                return False
        shutil.rmtree(cfg.outputs)
        return True

    def again(self, cfg: RunConfig) -> bool:
        """Give the same command again; return whether it ends like the undisturbed run."""
        return self.child(cfg) == 0 and self.same(cfg)

    def interrupted(self) -> RunConfig:
        """Return a run that was killed with two checkpoints."""
        cfg = self.config()
        checkpoints = run_directory(cfg) / "checkpoints"
        pid = os.fork()
        if pid == 0:
            self._become(cfg, 0, "", None)
        while not (checkpoints / "previous.ckpt").exists():
            time.sleep(0.002)
            if os.waitpid(pid, os.WNOHANG)[0]:
                raise SystemExit((self.folder / "said").read_text())
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return cfg

    def command(self, cfg: RunConfig, *overrides: str, **popen: Any) -> subprocess.Popen[str]:
        """Start ``python run.py`` with the settings of a run."""
        program = [*popen.pop("before", []), sys.executable, "run.py", *TINY, f"outputs={cfg.outputs}", *overrides]
        said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(program, cwd=ROOT, text=True, **{**said, **popen})

    def ended(self, process: subprocess.Popen[str], code: int = 0) -> bool:
        """Wait for a command; return whether it ended with a code, and print its end if not."""
        said = process.communicate(timeout=4 * LONGEST_S)[0]
        if process.returncode != code:
            print(f"    exit code {process.returncode}: {said[-600:]}")
        return process.returncode == code


def made(results: Results, kind: str) -> tuple[int, int]:
    """Make the trials of a kind, print those that were not survived; return the numbers of tried and survived ones."""
    tried = survived = 0
    for label, well in results:
        tried, survived = tried + 1, survived + well
        if not well:
            print(f"  NOT survived: {kind}: {label}", flush=True)
    return tried, survived


@trial
def kills(lab: Laboratory) -> Results:
    """SIGKILL at a random moment, then the same command."""
    for number in lab.mine(lab.kills):
        cfg, moment = lab.config(), lab.random.uniform(0, lab.seconds)
        lab.child(cfg, kill_after=moment)
        yield f"kill {number}, after {moment:.2f} s", lab.again(cfg)


@trial
def renames(lab: Laboratory) -> Results:
    """SIGKILL just before each rename of the run."""
    for number in lab.mine(lab.renames):
        cfg = lab.config()
        lab.child(cfg, kill_at=number)
        yield f"rename {number} of {lab.renames}", lab.again(cfg)


@trial
def signals(lab: Laboratory) -> Results:
    """SIGTERM, SIGUSR2 and Ctrl-C at random moments, then the same command."""
    for signum in (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT):
        for _ in range(3):
            cfg = lab.config()
            lab.child(cfg, kill_after=lab.random.uniform(0.3, 1) * lab.seconds, signum=signum)
            yield signal.Signals(signum).name, lab.again(cfg)


@trial
def forced(lab: Laboratory) -> Results:
    """SIGKILL before each rename of ``force=true`` that replaces the old result: one is always there."""
    for number, part in enumerate((".remade", ".replaced", ".remade"), 1):
        cfg = lab.config()
        lab.child(cfg)
        force = dataclasses.replace(cfg, force=True)
        killed = lab.child(force, kill_at=2 if number == 3 else 1, among=part) == -signal.SIGKILL
        there = RunFolder(run_directory(cfg)).state == "done"
        yield f"rename {number} of the replacement", killed and there and lab.child(force) == 0 and lab.same(cfg)


@trial
def checkpoints(lab: Laboratory) -> Results:
    """The last checkpoint with a bit changed, cut or empty; both gone."""
    kinds = (*["flip"] * 8, "cut", "empty", "gone")
    for damage in (kinds[number - 1] for number in lab.mine(len(kinds))):
        cfg = lab.interrupted()
        path = run_directory(cfg) / "checkpoints" / "last.ckpt"
        content = bytearray(path.read_bytes())
        if damage == "flip":
            content[lab.random.randrange(len(content))] ^= 1 << lab.random.randrange(8)
        elif damage == "gone":
            shutil.rmtree(path.parent)
        if path.parent.exists():
            path.write_bytes(content[: {"cut": len(content) // 2, "empty": 0}.get(damage, len(content))])
        yield f"last.ckpt: {damage}", lab.again(cfg)


@trial
def disks(lab: Laboratory) -> Results:
    """A full disk at several sizes, then room."""
    for kilobytes in (40, 200, 400, 800):
        cfg = lab.config()
        Path(cfg.outputs).mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", cfg.outputs]
        if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            raise Skip("mounting a small disk needs root")
        try:
            lab.child(cfg)
            subprocess.run(["mount", "-o", "remount,size=100m", cfg.outputs], check=True)
            survived = lab.child(cfg) == 0
            shutil.copytree(cfg.outputs, f"{cfg.outputs}-copy")
        finally:
            subprocess.run(["umount", "--lazy", cfg.outputs], check=True)
        yield f"disk of {kilobytes} kB", survived and lab.same(dataclasses.replace(cfg, outputs=f"{cfg.outputs}-copy"))


def _report_waiting(pipe: int, text: str) -> None:
    os.write(pipe, b"wait ")


@trial
def gpus(lab: Laboratory) -> Results:
    """Three processes on a machine with two GPUs: each has its own, the third waits until one is killed."""
    os.environ["CUDA_VISIBLE_DEVICES"], tempfile.tempdir = "MIG-0,MIG-1", str(lab.folder)  # of any machine
    cfg = compose([*TINY, "trainer.accelerator=auto"])
    children, reports = [], []
    for _ in range(3):
        read, write = os.pipe()
        if (pid := os.fork()) == 0:
            with gpus_held(cfg, partial(_report_waiting, write)) as place:
                os.write(write, place["CUDA_VISIBLE_DEVICES"].encode())
                time.sleep(LONGEST_S)
            os._exit(0)
        children.append(pid)
        reports.append(read)
        time.sleep(0.5)
    told = [os.read(read, 99) for read in reports]
    os.kill(children[0], signal.SIGKILL)
    told.append(os.read(reports[2], 99))
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    del os.environ["CUDA_VISIBLE_DEVICES"]
    tempfile.tempdir = None
    yield f"GPUs {told}", told == [b"MIG-0", b"MIG-1", b"wait ", b"MIG-0"]


@trial
def sweeps(lab: Laboratory) -> Results:
    """The command of a sweep killed, and interrupted, while its runs train; then the same command."""
    for signum in (signal.SIGKILL, signal.SIGINT):
        cfg = lab.config()
        sweep = ("seed=0,1", "hydra.launcher.jobs=2")
        quiet = {"stdout": subprocess.DEVNULL, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
        process = lab.command(cfg, *sweep, **quiet)
        while process.poll() is None and not (run_directory(cfg) / "metrics.csv").exists():
            time.sleep(0.05)
        process.send_signal(signum)
        process.wait()
        time.sleep(5)  # the runs notice that their command is gone, and save
        yield f"sweep, {signal.Signals(signum).name}", lab.ended(lab.command(cfg, *sweep)) and lab.same(cfg, False)


@trial
def users(lab: Laboratory) -> Results:
    """Two people of one group, both with umask 022: the second repeats the run of the first."""
    if os.getuid() != 0 or not shutil.which("setpriv"):
        raise Skip("being two users needs root and setpriv")
    lab.folder.chmod(0o755)
    cfg = lab.config()
    shared = Path(cfg.outputs)
    shared.mkdir()
    os.chown(shared, 1, 60)
    shared.chmod(0o2775)
    caps = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search", "--bounding-set=-all"]
    for user, override in ((1, "seed=0"), (2, "force=true"), (1, "force=true"), (2, "seed=0,1")):
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--groups=60", *caps[:2]]
        home = {**os.environ, "HOME": str(shared), "MPLCONFIGDIR": f"/tmp/matplotlib-{user}"}
        process = lab.command(cfg, override, before=who, env=home, umask=0o022)
        yield f"user {user}, {override}", lab.ended(process)
    yield "the same numbers", lab.same(cfg, False)


@trial
def slurm(lab: Laboratory) -> Results:
    """A private cluster: tasks that do not fit are refused, a killed and a cancelled job go on."""
    if not all(map(shutil.which, ("sbatch", "srun", "slurmctld", "munged"))):
        raise Skip("SLURM is not installed (apt-get install slurm-wlm munge)")
    home = Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp"))
    cluster = LocalSlurm(home)
    cluster.start()
    environment = {**os.environ, **cluster.environment, "OMP_NUM_THREADS": "1"}
    try:
        cfg = lab.config()
        tasks = ["srun", "-n", "4"]
        two = ("trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2")
        began = time.monotonic()
        process = lab.command(cfg, *two, before=tasks, env=environment)
        refused = "this step has 4 tasks" in process.communicate(timeout=LONGEST_S)[0]
        yield f"4 tasks for 2 devices, refused after {time.monotonic() - began:.0f} s", refused
        for how in (["scancel", "--signal=KILL"], ["scancel"]):
            cfg = lab.config()
            process = lab.command(cfg, "hydra/launcher=slurm", env=environment)
            while process.poll() is None and not (run_directory(cfg) / "metrics.csv").exists():
                time.sleep(0.05)
            subprocess.run([*how, f"--user={os.getuid()}"], env=environment, check=True)
            process.communicate(timeout=LONGEST_S)
            again = lab.ended(lab.command(cfg, "hydra/launcher=slurm", env=environment))
            yield " ".join(how), again and lab.same(cfg, False)
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="random kills (default: 100)")
    parser.add_argument("--only", nargs="+", choices=list(TRIALS), default=list(TRIALS), help="kinds of trials")
    arguments = parser.parse_args()
    began, table = time.monotonic(), []
    for module in PRELOADED:
        import_module(module)
    figures.PNG_DPI = 40  # pictures are half of the time, and their size matters to nobody
    Figure().savefig(io.BytesIO())  # fonts are found once
    with tempfile.TemporaryDirectory(prefix="torture", dir="/tmp", ignore_cleanup_errors=True) as folder:
        lab = Laboratory(Path(folder), arguments.kills)
        print(f"an undisturbed run: {lab.seconds:.1f} s, {lab.renames} renames", flush=True)
        for kind in arguments.only:
            start, (tried, survived), about = time.monotonic(), (0, 0), TRIALS[kind].__doc__
            try:
                tried, survived = lab.split(kind) if kind in SPLIT else made(TRIALS[kind](lab), kind)
            except Skip as reason:
                about = f"skipped: {reason}"
            line = f"{kind:12s}{tried:6d}{survived:10d}{time.monotonic() - start:8.0f} s  {about}"
            print(line, flush=True)
            table.append((line, tried == survived))
    print(f"\n{'':12s}{'tried':>6s}{'survived':>10s}")
    print("\n".join(line for line, _ in table))
    all_well = all(well for _, well in table)
    print(f"{'all survived' if all_well else 'NOT all survived'}, {(time.monotonic() - began) / 60:.0f} minutes")
    return 0 if all_well else 1


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
