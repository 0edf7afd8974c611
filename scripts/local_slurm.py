"""A private SLURM of one node in a folder, for the tests and to try the SLURM launcher on a laptop.

    python scripts/local_slurm.py start FOLDER   # prints the environment to export: eval "$(... start FOLDER)"
    python scripts/local_slurm.py stop FOLDER    # ends jobs and daemons, and nothing else
    python scripts/local_slurm.py hold FOLDER    # start, and stop as soon as standard input closes

It needs the programs of Debian's packages slurm-wlm and munge, no root, no configuration of the system and no
accounting database. It writes only inside FOLDER, whose path must be short (it holds sockets).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from sparseid.printing import protect_output

CPUS = 8
"""Number of CPUs that the node declares, whatever the machine has, so that jobs of a test do not wait for CPUs."""

DAEMONS = ("munged", "slurmctld", "slurmd", "slurmstepd")
"""Names of the programs of a cluster; the last is above the processes of each job."""

START_S, STOP_S = 30.0, 20.0
"""Time limits for the daemons to start, and for jobs to end, in seconds."""

CONFIG = """\
ClusterName=local
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=8
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# neither cgroups nor accounting: both need more than a container has
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
# answer within seconds; a requeued job waits as long as a credential lasts (cred_expire)
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=10
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class LocalSlurm:
    """The daemons and files of one private cluster.

    Parameters
    ----------
    folder
        Folder of all its files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()  # daemons change directory

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which SLURM's commands use this cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        """Start munged, slurmctld and slurmd and wait until the node accepts jobs.

        Raises
        ------
        SystemExit
            If a program is missing or a daemon does not start, with its log; nothing stays running.
        """
        if missing := [name for name in ("munged", "slurmctld", "slurmd", "sinfo") if not _program(name)]:
            raise SystemExit(f"{', '.join(missing)} not found: apt-get install slurm-wlm munge")
        if len(str(self.folder)) > 80:
            raise SystemExit(f"{self.folder} is too long a path for its sockets: choose a shorter one")
        self._write_files()
        try:
            # --force: a private folder counts as insecure if others may write to its parent
            files = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
            self._daemon("munged", "--force", f"--socket={self.folder}/munge.socket", *files, log="munge.log")
            self._daemon("slurmctld", "-f", self.environment["SLURM_CONF"], log="slurmctld.log")
            self._daemon("slurmd", "-f", self.environment["SLURM_CONF"], log="slurmd.log")
            self._wait_for_node()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every job and daemon of this cluster; the folder with its logs remains."""
        if (self.folder / "slurmctld.pid").exists():
            self._command("scancel", f"--user={os.getuid()}")
            self._command("scancel", "--signal=KILL", f"--user={os.getuid()}")
            _wait_until(lambda: not self._command("squeue", "--noheader").strip(), STOP_S)
        for name in ("slurmd", "slurmctld", "munge"):
            self._end(self.folder / f"{name}.pid")
        for pid in {*self._remaining()} - {os.getpid()}:
            _signal(pid, signal.SIGKILL)

    def _write_files(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        key = self.folder / "munge.key"
        key.unlink(missing_ok=True)
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        controller_port, node_port = _free_ports(2)
        text = CONFIG.format(
            host=socket.gethostname().partition(".")[0],
            user=pwd.getpwuid(os.getuid()).pw_name,
            folder=self.folder,
            controller_port=controller_port,
            node_port=node_port,
            cpus=CPUS,
        )
        (self.folder / "slurm.conf").write_text(text)

    def _daemon(self, name: str, *arguments: str, log: str) -> None:
        """Start a program that puts itself into the background."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run([_program(name), *arguments], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"{name} did not start:\n{done.stdout}{done.stderr}{self._tail(log)}")

    def _wait_for_node(self) -> None:
        if not _wait_until(lambda: self._command("sinfo", "--noheader", "--format=%T").strip() == "idle", START_S):
            logs = [f"{name}:\n{self._tail(name)}" for name in ("munge.log", "slurmctld.log", "slurmd.log")]
            raise SystemExit("\n".join([f"the node accepts no jobs after {START_S:.0f} s", *logs]))

    def _command(self, *command: str) -> str:
        environment = {**os.environ, **self.environment}
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=STOP_S)
        except subprocess.TimeoutExpired:
            return "no answer"
        return done.stdout if done.returncode == 0 else f"{done.stdout}{done.stderr}"

    def _tail(self, log: str) -> str:
        try:
            return "".join(f"  {line}\n" for line in (self.folder / log).read_text().splitlines()[-15:])
        except OSError as error:
            return f"  {error}\n"

    def _end(self, pid_file: Path) -> None:
        try:
            pid = int(pid_file.read_text())
        except (OSError, ValueError):
            return
        # a stale file must not end an unrelated process
        if pid in self._remaining():
            _signal(pid, signal.SIGTERM)
            if not _wait_until(lambda: not Path(f"/proc/{pid}").exists(), STOP_S / 2):
                _signal(pid, signal.SIGKILL)
        pid_file.unlink(missing_ok=True)

    def _remaining(self) -> list[int]:
        """Return the daemons of this cluster, which know its slurm.conf, and all processes below them, such as jobs.

        Others know the file, too: whatever is started from a shell that uses the cluster.
        """
        mark = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        found, children = [], defaultdict(list)
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                name, _, numbers = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
                children[int(numbers.split()[1])].append(int(folder.name))
                if name in DAEMONS and mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:  # ended in the meantime, or another user's
                continue
        for pid in found:
            found += [child for child in children[pid] if child not in found]
        return found


def _program(name: str) -> str:
    """Return the path of a program, including folders that only root's PATH has; empty if missing."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for opened in sockets:
            opened.bind(("", 0))
        return [opened.getsockname()[1] for opened in sockets]
    finally:
        for opened in sockets:
            opened.close()


def _wait_until(reached: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def main() -> int:
    """Start or stop the cluster of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["start", "stop", "hold"])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    cluster = LocalSlurm(arguments.folder)
    if arguments.action == "stop":
        cluster.stop()
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that no process is left behind
    cluster.start()
    for name, value in cluster.environment.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)
    if arguments.action == "hold":
        try:
            sys.stdin.read()
        finally:
            cluster.stop()
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
