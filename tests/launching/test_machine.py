"""Places for runs: GPUs shared out, cores shared out, and what is refused."""

import dataclasses

import pytest

from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.launching import machine


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
    assert [place["CUDA_VISIBLE_DEVICES"] for place in machine.slots([run], 0)] == ["0", "1"]
    assert {place["OMP_NUM_THREADS"] for place in machine.slots([run], 0)} == {"4"}


def test_gpus_in_groups_and_shared(run, hardware):
    hardware(gpus=["0", "1", "2", "3", "4"])
    pairs = machine.slots([run, with_trainer(run, devices=2)], 0)
    assert [place["CUDA_VISIBLE_DEVICES"] for place in pairs] == ["0,1", "2,3"]
    shared = machine.slots([with_trainer(run, devices=4)], 2)
    assert [place["CUDA_VISIBLE_DEVICES"] for place in shared] == ["0,1,2,3"] * 2


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


def test_gpus_are_those_that_are_visible(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 5")
    assert machine.gpus() == ["2", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine.gpus() == []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 0; echo 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert machine.gpus() == ["0", "1"]
    program.write_text("#!/bin/sh\nexit 9\n")  # as without a driver
    assert machine.gpus() == []
