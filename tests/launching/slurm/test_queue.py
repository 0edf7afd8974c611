"""Reading squeue's answers and the last lines of a job."""

import pytest

from sparseid.launching.slurm.queue import QueueError, compact, jobs_in_queue, why_not_done


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    def answers(script):
        (tmp_path / "squeue").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "squeue").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return answers


def test_a_queue_is_read_by_job(squeue):
    squeue("printf '12_0|RUNNING|None\\n12_1|PENDING|Resources\\n9|COMPLETING|None\\n'")
    queue = jobs_in_queue([0])
    assert {job: entry.waits for job, entry in queue.items()} == {"12_0": False, "12_1": True, "9": False}
    assert queue["12_1"].reason == "Resources"


def test_only_jobs_of_the_users_named_are_asked_for(squeue, tmp_path):
    squeue(f'echo "$@" > {tmp_path}/asked')
    jobs_in_queue([1000, 1001])
    assert "--user=1000,1001" in (tmp_path / "asked").read_text()


def test_an_empty_queue_is_no_error_and_an_error_no_empty_queue(squeue):
    squeue("exit 0")
    assert jobs_in_queue([0]) == {}
    squeue("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(QueueError, match="Unable to contact"):
        jobs_in_queue([0])


def test_job_ids_are_written_as_scancel_reads_them():
    assert compact(["3_7", "3_0", "3_1", "5", "4_2"]) == ["3_[0-1,7]", "5", "4_[2]"]


EXITED = "srun: error: n: task 0: Exited with exit code 1"
TRACEBACK = """Traceback (most recent call last):
  File "run.py", line 1, in <module>
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"""


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        ({"state": "failed", "message": "ValueError: no"}, "anything", "ValueError: no"),
        ({"state": "running"}, "error: *** STEP 1.0 ON n CANCELLED AT T DUE TO TIME LIMIT ***", "time limit"),
        ({"state": "running"}, "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0", "mem_gb"),
        ({"state": "preempted"}, "error: *** JOB 1 ON n CANCELLED AT T ***", "cancelled"),
        ({"state": "running"}, "error: *** JOB 1 ON n CANCELLED AT T DUE TO NODE FAILURE ***", "node failed"),
        ({"state": "planned"}, "error: what it said\nsrun: error: task 0: Exited with exit code 1", "what it said"),
        ({"state": "planned"}, "ModuleNotFoundError: No module named 'x'", "No module named 'x'"),
        (
            {"state": "planned"},
            f"{TRACEBACK}\n{EXITED}",
            "the job ended with: torch.cuda.OutOfMemoryError: CUDA out of memory",
        ),
        ({"state": "planned"}, f"{TRACEBACK}\n\nsubmitit says more\n{EXITED}", "OutOfMemoryError"),
        (
            {"state": "planned"},
            f"/bin/bash: python: command not found\n{EXITED}",
            "the job ended with: /bin/bash: python: command not found",
        ),
        ({"state": "running"}, "srun: error: n: task 0: Killed\nsrun: Force Terminated StepId=1.0", "was killed"),
        (
            {"state": "preempted"},
            f"submitit INFO - Job not requeued because: timed-out too many times.\n{EXITED}",
            "max_num",
        ),
        ({"state": "planned"}, None, "cancelled while it waited"),
    ],
)
def test_a_run_that_is_not_done_says_why(tmp_path, status, said, expected):
    output = tmp_path / "12_3_0_log.out"
    if said is not None:
        output.write_text(f"begins\n{said}\n")
    message = why_not_done(status, "12_3", output)
    assert expected in message
    assert "12_3" in message
    assert str(tmp_path) in message
