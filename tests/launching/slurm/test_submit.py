"""Arrays of trials, their limits, and the options of sbatch."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.config.compose import compose
from sparseid.config.identity import run_name
from sparseid.errors import ConfigError
from sparseid.launching.slurm.job import status_folder
from sparseid.launching.slurm.settings import checked
from sparseid.launching.slurm.submit import Submission, refuse_tasks, resources, split


@given(st.integers(0, 2000), st.integers(1, 500))
def test_long_sweeps_are_split_evenly_and_every_trial_is_sent_once(trials, max_array):
    arrays = split(range(trials), max_array)
    assert sorted(trial for array in arrays for trial in array) == list(range(trials))
    lengths = [len(array) for array in arrays]
    assert len(arrays) == -(-trials // max_array)
    assert all(max_array >= length >= max(lengths) - 1 for length in lengths)


SMOKE = ("experiment=digitcircle", "scale=smoke")


@pytest.mark.parametrize(
    ("overrides", "typed", "expected"),
    [
        ([], {}, (1, 2, None)),
        (["trainer.threads=4"], {}, (1, 4, None)),
        (["trainer.threads=4"], {"cpus_per_task": 6}, (1, 6, None)),
        (["trainer.accelerator=gpu"], {}, (1, 2, 1)),
        (["trainer=ddp", "trainer.accelerator=gpu", "trainer.devices=4"], {}, (4, 2, 4)),
        (["trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2"], {}, (2, 2, None)),
        (["trainer.accelerator=gpu"], {"gres": "gpu:a100:1"}, (1, 2, None)),
        (["trainer.accelerator=gpu"], {"gpus_per_node": 0}, (1, 2, 0)),
        (["trainer=ddp", "trainer.devices=4"], {"gpus_per_node": 4, "tasks_per_node": 1}, (1, 2, 4)),
    ],
)
def test_a_job_asks_for_what_its_run_uses_and_what_is_typed_wins(overrides, typed, expected):
    needs = resources(compose([*SMOKE, *overrides]), checked(typed))
    assert (needs["ntasks_per_node"], needs["cpus_per_task"], needs["gpus_per_node"]) == expected


@pytest.mark.parametrize(
    ("overrides", "typed", "problem"),
    [
        ([], {"tasks_per_node": 2}, "tasks_per_node=2, but a run has 1"),
        (["trainer=ddp", "trainer.devices=2"], {"tasks_per_node": 4}, "tasks_per_node=4, but a run has 2"),
        (["trainer=ddp", "trainer.devices=2"], {"nodes": 2}, "nodes=2, but a run uses one node"),
        (["trainer=ddp", "trainer.devices=2"], {"tasks_per_node": 1}, ""),
        (["trainer=ddp", "trainer.devices=2"], {"tasks_per_node": 2}, ""),
    ],
)
def test_a_job_has_one_task_or_one_per_device(overrides, typed, problem):
    with pytest.raises(ConfigError, match=problem) if problem else contextlib.nullcontext():
        refuse_tasks([compose([*SMOKE, *overrides])], checked(typed))


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """Submit runs to an sbatch that only keeps what it is given and counts job ids from 7."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {
        "srun": "exit 1",
        "sbatch": f'n=$(ls {tmp_path}/*.sh 2>/dev/null | wc -l); cp "$1" {tmp_path}/$n.sh; '
        f'[ -e {tmp_path}/full ] && [ $n -gt 0 ] && echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2 && exit 1; '
        "echo Submitted batch job $((n + 7))",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")

    def send(runs, **typed):
        for run in runs:
            status_folder(run).open(run)
        submission = Submission(checked({"submitit_folder": f"{tmp_path}/jobs", "name": "sparseid", **typed}))
        jobs = submission.send(runs)
        scripts = [path.read_text() for path in sorted(tmp_path.glob("*.sh"))]
        return submission, jobs, scripts

    return send


def runs_of(tmp_path, seeds, *overrides):
    return [compose([*SMOKE, f"outputs={tmp_path}/outputs", f"seed={seed}", *overrides]) for seed in range(seeds)]


def test_sbatch_is_told_array_cap_dependency_signal_and_threads(tmp_path, sent):
    _, jobs, scripts = sent(runs_of(tmp_path, 5), max_array=2, max_in_flight=2, partition="gpu", timeout_min=90)
    assert sorted(jobs.values()) == ["7_0", "7_1", "8_0", "8_1", "9"]
    assert len(scripts) == 3
    assert ["#SBATCH --array=0-1%2" in text for text in scripts].count(True) == 2
    # one array after the other: never more than the cap at once
    assert [re.findall(r"afterany:\d+", text) for text in scripts] == [[], ["afterany:7"], ["afterany:8"]]
    for text in scripts:
        assert "#SBATCH --signal=USR2@120" in text
        assert "#SBATCH --partition=gpu" in text
        assert "#SBATCH --time=90" in text
        assert "export OMP_NUM_THREADS=2" in text
        assert "--cpus-per-task=2" in text.splitlines()[-1]
        assert "wckey" not in text


def test_other_options_replace_ours_however_they_are_written(tmp_path, sent):
    others = {"mail-type": "END", "exclusive": True, "cpus-per-task": 3, "comment": "a b"}
    _, _, [text] = sent(runs_of(tmp_path, 1), additional_parameters=others, comment="ours", name="n" * 300)
    options = re.findall(r"#SBATCH --([\w-]+)(?:=(.*))?", text)
    assert len(dict(options)) == len(options)
    assert {("mail-type", "END"), ("exclusive", ""), ("cpus-per-task", "3"), ("comment", "'a b'")} <= set(options)
    assert ("job-name", "n" * 128) in options
    assert "--cpus-per-task=3" in text.splitlines()[-1]
    assert "export OMP_NUM_THREADS=3" in text


def test_runs_that_need_different_resources_share_no_array(tmp_path, sent):
    runs = [*runs_of(tmp_path, 2), *runs_of(tmp_path, 2, "trainer.threads=3")]
    _, jobs, scripts = sent([runs[0], runs[2], runs[1], runs[3]])
    assert len(scripts) == 2
    assert [text.count("#SBATCH --cpus-per-task=3") for text in scripts] == [0, 1]
    assert len(jobs) == 2  # threads do not change a run: the second pair are the same runs


@pytest.mark.parametrize(
    ("accelerator", "typed", "hints"),
    [
        ("auto", {}, True),
        ("cpu", {}, False),
        ("auto", {"gres": "gpu:1"}, False),
        ("auto", {"additional_parameters": {"gpus": 1}}, False),
    ],
)
def test_a_run_that_takes_what_there_is_gets_no_gpu_unasked(tmp_path, sent, capsys, accelerator, typed, hints):
    sent(runs_of(tmp_path, 1, f"trainer.accelerator={accelerator}"), **typed)
    assert ("no GPU is requested" in capsys.readouterr().out) == hints


def test_after_a_refusal_nothing_more_is_sent_and_what_was_sent_is_known(tmp_path, sent):
    (tmp_path / "full").touch()
    submission, jobs, scripts = sent(runs_of(tmp_path, 6), max_array=2)
    assert submission.refused == "QOSMaxSubmitJobPerUserLimit"
    assert sorted(jobs.values()) == ["7_0", "7_1"]
    assert len(scripts) == 2  # the refused one was tried, the third was not


@pytest.mark.parametrize(("in_flight", "first"), [(0, "afterany:7_0:7_1\n"), (2, "afterany:7:7_0:7_1\n")])
def test_a_run_waits_for_the_one_that_it_starts_from(tmp_path, sent, in_flight, first):
    sources, alone = runs_of(tmp_path, 2), runs_of(tmp_path, 3)[2]
    retrained = runs_of(tmp_path, 2, "method.training=retrained")
    _, jobs, scripts = sent([*retrained, *sources, alone], max_in_flight=in_flight)
    assert list(jobs) == [run_name(run) for run in (*sources, alone, *retrained)]
    assert "afterany" not in scripts[0]
    assert first in scripts[1]


def test_a_run_waits_for_one_that_was_submitted_before(tmp_path, sent):
    [source], [retrained] = runs_of(tmp_path, 1), runs_of(tmp_path, 1, "method.training=retrained")
    sent([source])
    status_folder(retrained).open(retrained)
    submission = Submission(checked({"submitit_folder": f"{tmp_path}/jobs", "name": "sparseid"}))
    assert submission.send([retrained], queued={run_name(source): "7"}) == {run_name(retrained): "8"}
    assert "afterany:7\n" in sorted(tmp_path.glob("*.sh"))[1].read_text()
