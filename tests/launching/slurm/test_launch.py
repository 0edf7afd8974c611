"""Following jobs through a queue that answers or does not, and what became of their runs."""

import os

import pytest

from sparseid.config.compose import compose
from sparseid.config.identity import run_name
from sparseid.launching.main import main
from sparseid.launching.one_run import DONE, FAILED
from sparseid.launching.slurm import launch
from sparseid.launching.slurm.job import status_folder
from sparseid.launching.slurm.queue import Queued, QueueError
from sparseid.training.rows import write_rows

RUNNING, WAITING = Queued("RUNNING", "None"), Queued("PENDING", "Resources")
HELD = Queued("PENDING", "JobHeldAdmin")


@pytest.fixture
def followed(tmp_path, monkeypatch):
    """Follow runs through a list of answers; the states are what their folders say when the last answer is given."""
    monkeypatch.setattr(launch, "SLOWEST_POLL_S", 0.0)

    def follow(answers, states, *overrides):
        runs = [
            compose(["scale=smoke", f"outputs={tmp_path}/outputs", f"seed={seed}", *overrides])
            for seed in range(len(states))
        ]
        for run in runs:
            status_folder(run).open(run)
        left = list(answers)

        def squeue(users):
            answer = left.pop(0) if len(left) > 1 else left[0]
            if len(left) == 1:
                for run, state in zip(runs, states, strict=True):
                    status_folder(run).write_status(state)
                    write_rows(status_folder(run).result, [])
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(launch, "jobs_in_queue", squeue)
        jobs = {run_name(run): (run, f"12_{number}") for number, run in enumerate(runs)}
        return list(launch.follow(jobs, tmp_path).values())

    return follow


def test_done_and_failed_runs_are_told_apart(followed, capsys):
    both = {"12_0": RUNNING, "12_1": WAITING}
    done, failed = sorted(
        followed([both, {"12_1": RUNNING}, {}], ["done", "running"]), key=lambda outcome: outcome.code
    )
    assert done.code == DONE
    assert failed.code == FAILED
    assert "job 12_1 ended without a trace" in failed.message
    assert "1 of 2 done, 1 failed" in capsys.readouterr().out


def test_a_queue_that_does_not_answer_is_asked_again_and_says_so_once(followed, capsys):
    silence = QueueError("squeue does not answer: Unable to contact slurm controller")
    (outcome,) = followed([silence, silence, {"12_0": RUNNING}, {}], ["done"])
    assert outcome.code == DONE
    assert capsys.readouterr().out.count("Unable to contact") == 1


def test_why_jobs_wait_that_may_never_run_is_said_once(followed, capsys):
    held = {"12_0": HELD, "12_1": HELD, "12_2": WAITING}
    followed([held, held, {}], ["done"] * 3)
    said = capsys.readouterr().out
    assert said.count("waiting: 12_[0-1]: JobHeldAdmin") == 1
    assert "Resources" not in said


def test_a_requeued_job_goes_on(followed, capsys):
    answers = [{"12_0": RUNNING}, {"12_0": Queued("PENDING", "BeginTime")}, {"12_0": RUNNING}, {}]
    (outcome,) = followed(answers, ["done"])
    assert outcome.code == DONE
    assert "job 12_0 is requeued" in capsys.readouterr().out


def test_a_forced_run_counts_as_done_only_when_it_was_made_again(followed, tmp_path):
    (outcome,) = followed([{"12_0": RUNNING}, {}], ["preempted"], "force=true")
    assert outcome.code == FAILED
    (outcome.folder / "remake" / "status.json").unlink()
    run = compose(["scale=smoke", f"outputs={tmp_path}/outputs", "force=true"])
    status_folder(run).write_status("done")
    write_rows(status_folder(run).result, [])
    status_folder(run).path.rename(tmp_path / "made")
    outcome.folder.rename(tmp_path / "old")
    (tmp_path / "made").rename(outcome.folder)
    assert launch._ended(run, "12_0", tmp_path).code == DONE


@pytest.mark.parametrize("squeue", ["exit 1", "echo slurm_load_jobs error: Unable to contact >&2; exit 1"])
def test_without_a_queue_nothing_is_submitted(tmp_path, monkeypatch, capsys, squeue):
    for name in ("sbatch", "srun", "scontrol", "squeue"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/called-$(basename $0)\n{squeue}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert main(["scale=smoke", "hydra/launcher=slurm", f"outputs={tmp_path}/outputs"]) == 2
    assert "squeue does not answer" in capsys.readouterr().err
    assert [path.name for path in tmp_path.glob("called-*")] == ["called-squeue"]


def test_jobs_of_whoever_submitted_a_run_in_a_shared_folder_count(tmp_path, monkeypatch):
    run = compose(["scale=smoke", f"outputs={tmp_path}/outputs"])
    owner = os.getuid()
    monkeypatch.setattr(launch.os, "getuid", lambda: owner + 1)
    assert launch._users([run]) == {owner + 1}
    status_folder(run).open(run)
    status_folder(run).write_status("planned", job="3")
    assert launch._users([run]) == {owner, owner + 1}
