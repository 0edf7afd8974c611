"""Places for runs: GPUs shared out, cores shared out, and what is refused."""

import dataclasses
import os
import stat
import subprocess
import sys
import tempfile

import pytest
import torch

from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.launching import machine
from sparseid.launching.local import here


@pytest.fixture
def run():
    return compose(["scale=smoke"])


def with_trainer(run, **settings):
    return dataclasses.replace(run, trainer=dataclasses.replace(run.trainer, **settings))


@pytest.fixture
def hardware(monkeypatch):
    """Pretend to have cores, memory and GPUs."""

    def pretend(cores=4, memory=64, gpus=()):
        monkeypatch.setattr(machine, "cores", lambda: cores)
        monkeypatch.setattr(machine, "gpus", lambda: list(gpus))
        monkeypatch.setattr(machine.os, "sysconf", lambda name: memory * 2**30 if name == "SC_PHYS_PAGES" else 1)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    return pretend


def test_one_run_per_core_with_one_thread_each(run, hardware):
    hardware(cores=4)
    assert machine.slots([run], 0) == [{"OMP_NUM_THREADS": "1"}] * 4


def test_fewer_runs_get_more_threads(run, hardware):
    hardware(cores=8)
    assert machine.slots([run], 2) == [{"OMP_NUM_THREADS": "4"}] * 2


def test_memory_bounds_the_runs(run, hardware):
    hardware(cores=16, memory=8)
    assert machine.slots([run], 0) == [{"OMP_NUM_THREADS": "8"}] * 2


def test_processes_of_a_run_count(run, hardware):
    hardware(cores=4)
    assert len(machine.slots([with_trainer(run, devices=2, accelerator="cpu")], 0)) == 2
    assert len(machine.slots([with_trainer(run, devices=9, accelerator="cpu")], 0)) == 1


def test_one_run_per_gpu(run, hardware):
    hardware(cores=8, gpus=["0", "1"])
    assert machine.slots([run], 0) == [{"OMP_NUM_THREADS": "4"}] * 2


def test_runs_on_several_gpus_get_them_in_groups(run, hardware):
    hardware(gpus=["0", "1", "2", "3", "4"])
    assert len(machine.slots([run, with_trainer(run, devices=2)], 0)) == 2


@pytest.mark.parametrize(
    ("devices", "jobs", "said"),
    [(1, 6, "jobs=6 runs need 6 GPUs"), (4, 2, "jobs=2 runs of trainer.devices=4 need 8 GPUs"), (2, 2, ""), (1, 5, "")],
)
def test_more_runs_than_gpus_are_refused(run, hardware, devices, jobs, said):
    hardware(gpus=["0", "1", "2", "3", "4"])
    runs = [with_trainer(run, devices=devices)]
    if not said:
        assert len(machine.slots(runs, jobs)) == jobs
        return
    with pytest.raises(InputError) as refused:
        machine.slots(runs, jobs)
    assert said in str(refused.value)
    assert "this machine has 5: 0, 1, 2, 3, 4\n" in str(refused.value)


HOLD = """
import dataclasses, sys
from sparseid.config.compose import compose
from sparseid.launching.machine import gpus_held
run = compose(["scale=smoke"])
run.trainer.devices = int(sys.argv[1])
with gpus_held(run, lambda text: print(text, flush=True)) as place:
    print(place["CUDA_VISIBLE_DEVICES"], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def nvidia_smi(monkeypatch, tmp_path):
    """Replace nvidia-smi by a program that prints a text, or fails."""

    def write(lines, code=0):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\nprintf '%s' '{lines}'\nexit {code}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    return write


@pytest.fixture
def command(monkeypatch, tmp_path, nvidia_smi):
    """Start processes that hold GPUs of a machine with three until they are ended, and end them."""
    nvidia_smi("", code=9)
    monkeypatch.setattr(machine, "LOOK_S", 0.05)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    monkeypatch.setenv(machine.LOCKS, str(tmp_path / "locks"))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    processes = []

    def start(devices=1):
        program = [sys.executable, "-c", HOLD, str(devices)]
        processes.append(subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return processes[-1], processes[-1].stdout.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_every_command_gets_gpus_of_its_own_or_waits(command, run):
    first, one = command()
    _, two = command(2)
    assert (one, two) == ("0", "1,2")
    waiting, said = command()
    assert said == "waiting for 1 of the GPUs 0, 1, 2: other commands use them"
    first.kill()  # the operating system releases the lock
    assert waiting.stdout.readline().strip() == "0"


def test_several_gpus_are_taken_together_or_not_at_all(command, run):
    first, _ = command()
    said = []
    pair, triple = with_trainer(run, devices=2), with_trainer(run, devices=3)
    with machine.gpus_held(triple, said.append, lambda: bool(said)):
        assert len(said) == 1
        with machine.gpus_held(pair, said.append) as place:  # nothing is kept while waiting
            assert place == {"CUDA_VISIBLE_DEVICES": "1,2"}
            first.communicate()
            with machine.gpus_held(run, said.append) as other:
                assert other == {"CUDA_VISIBLE_DEVICES": "0"}
    assert len(said) == 1


def test_runs_on_the_cpu_hold_nothing(command, run):
    with machine.gpus_held(with_trainer(run, accelerator="cpu"), print) as place:
        assert place == {}


def test_a_machine_without_a_place_for_locks_shares_its_gpus(command, run, tmp_path, monkeypatch):
    (tmp_path / "locks").write_text("not a folder")
    said = []
    with machine.gpus_held(run, said.append) as one, machine.gpus_held(run, print) as other:
        assert one == other == {"CUDA_VISIBLE_DEVICES": "0"}
    (text,) = said
    assert text.startswith(f"no lock can be written to {tmp_path / 'locks'}: other commands may use the same GPUs")


def test_a_gpu_whose_lock_cannot_be_opened_is_taken_last_and_said_to_be_shared(command, run, tmp_path):
    (tmp_path / "locks" / "0").mkdir(parents=True)  # no file that anyone could open
    (tmp_path / "locks").chmod(0o777)
    said = []
    with machine.gpus_held(run, said.append) as one, machine.gpus_held(run, said.append) as two:
        assert [one, two] == [{"CUDA_VISIBLE_DEVICES": "1"}, {"CUDA_VISIBLE_DEVICES": "2"}]
        said.clear()
        with machine.gpus_held(run, said.append) as three:
            assert three == {"CUDA_VISIBLE_DEVICES": "0"}
        with machine.gpus_held(with_trainer(run, devices=2), said.append, lambda: len(said) > 2):
            pass
    warning, again, waiting = said
    assert warning == again
    assert warning.startswith(f"GPU 0 has no lock: {tmp_path / 'locks' / '0'}: ")
    assert "other commands may use the same GPU (delete the file, or SPARSEID_LOCKS=FOLDER" in warning
    assert waiting.startswith("waiting for 2 of the GPUs")


@pytest.fixture
def taken(run, monkeypatch):
    """Return whether a GPU with a name in CUDA_VISIBLE_DEVICES is held."""

    def look(name):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", name)
        said = []
        with machine.gpus_held(run, said.append, lambda: bool(said)):
            return bool(said)

    return look


def test_a_gpu_is_the_same_by_index_and_by_uuid(command, run, taken, nvidia_smi, monkeypatch):
    nvidia_smi("0, GPU-8932f937\n1, GPU-89aa0000\n")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-8932f937")
    with machine.gpus_held(run, print) as place:
        assert place == {"CUDA_VISIBLE_DEVICES": "GPU-8932f937"}
        assert [taken(name) for name in ("0", "1", "GPU-8932f937", "GPU-893", "GPU-89aa")] == [1, 0, 1, 1, 0]
        monkeypatch.setenv("SLURM_JOB_ID", "7")  # the scheduler decides which jobs share a GPU
        assert not taken("0")


def test_locks_are_where_every_user_and_process_finds_them(command, run, monkeypatch, tmp_path):
    for umask in 0o077, 0o022:
        before = os.umask(umask)
        with machine.gpus_held(run, print):
            os.umask(before)
            folder = tmp_path / "locks"
            assert stat.S_IMODE(folder.stat().st_mode) == 0o777
            assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o666]
    folder.chmod(0o755)  # whose it is decides
    with machine.gpus_held(run, print):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755

    monkeypatch.delenv(machine.LOCKS)
    monkeypatch.setattr(machine, "EVERYONES", [str(tmp_path / name) for name in ("none", "private", "common")])
    (tmp_path / "private").mkdir(mode=0o755)
    (tmp_path / "common").mkdir()
    (tmp_path / "common").chmod(0o1777)
    for name in "one", "two":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
        assert machine.lock_folder() == tmp_path / "common" / "sparseid-gpus"
    monkeypatch.setattr(machine, "EVERYONES", [])
    assert machine.lock_folder() == tmp_path / "two" / "sparseid-gpus"


def test_runs_that_one_process_makes_hold_the_gpus_of_the_largest(command, run, taken, monkeypatch, tmp_path):
    small, large = (with_trainer(dataclasses.replace(run, outputs=str(tmp_path)), devices=n) for n in (1, 2))
    with here([small, large]):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
        assert [taken(name) for name in "012"] == [1, 1, 0]
    monkeypatch.setattr("sparseid.launching.local.skipped", lambda run: "done")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with here([small]):
        assert not taken("0")


def test_a_gpu_is_required_before_anything_is_loaded(run, monkeypatch, nvidia_smi, tmp_path):
    machine.require_gpu(run)
    gpu = with_trainer(run, accelerator="gpu")
    monkeypatch.setattr(machine, "DEVICES", ())
    monkeypatch.setattr(machine.sys, "platform", "linux")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES='' hides all"):
        machine.require_gpu(gpu)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    nvidia_smi("", code=9)
    with pytest.raises(InputError, match="nvidia-smi lists none") as refused:
        machine.require_gpu(gpu)
    assert "trainer=cpu always works" in str(refused.value)
    monkeypatch.setattr(machine, "DEVICES", ("null",))  # a GPU that nvidia-smi does not know
    machine.require_gpu(gpu)
    nvidia_smi("0, GPU-1\n")
    monkeypatch.setattr(machine, "DEVICES", ())
    machine.require_gpu(gpu)


def test_runs_on_the_cpu_leave_gpus_alone(run, hardware):
    hardware(cores=2, gpus=["0"])
    assert machine.slots([with_trainer(run, accelerator="cpu")], 0) == [{"OMP_NUM_THREADS": "1"}] * 2


def test_too_few_gpus_and_negative_jobs_are_refused(run, hardware):
    hardware(gpus=["0"])
    with pytest.raises(InputError, match=r"trainer.devices=2, but this machine has 1 GPUs"):
        machine.slots([with_trainer(run, devices=2)], 0)
    with pytest.raises(InputError, match=r"hydra.launcher.jobs is -1"):
        machine.slots([run], -1)


def test_the_users_threads_count(run, hardware, monkeypatch):
    hardware(cores=4)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert machine.slots([run], 2) == [{"OMP_NUM_THREADS": "3"}] * 2


def test_gpus_are_those_that_are_visible(monkeypatch, nvidia_smi):
    nvidia_smi("", code=9)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 5")
    assert machine.gpus() == ["2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine.gpus() == []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    nvidia_smi("0, GPU-a\n1, GPU-b\n")
    assert machine.gpus() == ["0", "1"]
    nvidia_smi("", code=9)  # as without a driver
    assert machine.gpus() == []


@pytest.mark.parametrize(
    "visible",
    [
        "",
        "NoDevFiles",
        "void",
        "none",
        "-1",
        "0,-1,1",
        "0,,1",
        "0, 1",
        " 1",
        "+1",
        "01,2",
        "0,0",
        "0,00",
        "1gpu2,2ampere",
        "0,GPU-a",
        "GPU-a,GPU-b",
        "GPU-a,0",
        "GPU-a,GPU-a",
        " GPU-a",
        "GPU-a, GPU-b",
        "MIG-1,MIG-2",
        "MIG-1,GPU-a",
    ],
)
def test_gpus_are_counted_like_torch_counts_them(monkeypatch, nvidia_smi, visible):
    nvidia_smi("", code=9)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert machine.gpus() == [str(name) for name in torch.cuda._parse_visible_devices()]


@pytest.mark.parametrize(
    ("visible", "usable"),
    [
        ("1,0", ["1", "0"]),
        ("0,2,1", ["0"]),
        ("7", []),
        ("GPU-8932,GPU-89aa", ["GPU-8932", "GPU-89aa"]),
        ("GPU-89aa,GPU-7,GPU-8932", ["GPU-89aa"]),
        ("GPU-89", []),  # of which of the two?
        ("GPU-8932,GPU-8932f937", []),
        ("MIG-1,MIG-2", ["MIG-1", "MIG-2"]),
    ],
)
def test_a_gpu_that_the_machine_does_not_have_ends_the_list(monkeypatch, nvidia_smi, visible, usable):
    nvidia_smi("0, GPU-8932f937\n1, GPU-89aa0000\n")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert machine.gpus() == usable


def test_what_nvidia_smi_says_besides_is_no_gpu(monkeypatch, nvidia_smi):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    nvidia_smi("No devices were found\n")
    assert machine.gpus() == []
    nvidia_smi("Warning: infoROM is corrupted at gpu 0000:41:00.0, sorry\n0, GPU-a\n")
    assert machine.gpus() == ["0"]


SHOW = "from sparseid.launching.machine import wait_briefly; wait_briefly(); import torch"


@pytest.mark.parametrize(
    ("chosen", "rounds"), [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "passive"}, "0")]
)
def test_threads_wait_briefly_unless_the_user_chose(monkeypatch, chosen, rounds):
    """Read from torch's OpenMP itself."""
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**chosen, "OMP_DISPLAY_ENV": "verbose"}.items():
        monkeypatch.setenv(name, value)
    shown = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True).stderr
    if "GOMP_SPINCOUNT" not in shown:
        pytest.skip("torch does not come with libgomp here")
    assert f"GOMP_SPINCOUNT = '{rounds}'" in shown
