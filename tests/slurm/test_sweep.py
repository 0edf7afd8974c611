"""Sweeps on a real SLURM: each trial a job, failed ones named, long sweeps in several arrays."""

import re
import time

from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder


def test_six_trials_of_which_one_fails(cluster, command):
    broken = command.folder("seed=3")
    broken.metrics.mkdir(parents=True)  # training cannot write its curves

    code, said = command.run("seed=0,1,2,3,4,5")
    assert code == 1, said
    assert command.states() == {seed: "failed" if seed == 3 else "done" for seed in range(6)}
    array = re.search(r"6 submitted as job (\d+)_\[0-5\]", said)[1]
    assert [cluster.told(f"{array}_{task}", "JobState") for task in range(6)].count("COMPLETED") == 5
    assert cluster.told(f"{array}_3", "JobState") == "FAILED"
    assert "Traceback" in (broken.path / "log.txt").read_text()
    assert "5 of 6 done, 1 failed" in said
    assert "1 of 6 runs failed" in said
    assert "IsADirectoryError" in said
    assert str(command.outputs / "jobs" / "slurm" / f"{array}_3_0_log.out") in said

    broken.metrics.rmdir()
    code, said = command.run("seed=0,1,2,3,4,5")
    assert code == 0, said
    assert "5 of 6 runs done already" in said
    assert "1 submitted as job" in said
    assert set(command.states().values()) == {"done"}


def test_forty_trials_in_three_arrays_with_a_cap(cluster, command, until):
    sweep = "seed=range(0,40)"
    with cluster.paused():
        code, said = command.run(
            sweep, "hydra.launcher.max_array=15", "hydra.launcher.max_in_flight=4", "hydra.launcher.wait=false"
        )
        assert code == 0, said
        waiting = cluster.jobs()
        assert len(waiting) == 40
        arrays = sorted({job.partition("_")[0] for job in waiting}, key=int)
        assert [sum(job.startswith(f"{array}_") for job in waiting) for array in arrays] == [14, 13, 13]
        assert [cluster.told(array, "ArrayTaskThrottle") for array in arrays] == ["4", "4", "4"]
        # all but one trial of each array are made meanwhile: their jobs find nothing to do
        trained = {command.folder(f"seed={seed}").path for seed in (0, 1, 2)}
        for status in command.outputs.glob("smoke/sparling/*/status.json"):
            run = RunFolder(status.parent)
            assert run.read_status()["job"] in waiting
            if run.path not in trained:
                (run.path / "figures").mkdir()
                write_rows(run.result, [])
                run.write_status("done")

    process = command.start(sweep)
    most = 0
    while process.poll() is None:
        most = max(most, list(cluster.jobs().values()).count("RUNNING"))
        time.sleep(0.2)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    assert "37 of 40 runs done already" in said
    assert "3 already submitted as job" in said
    assert said.count("submitted as") == 1  # nothing more was submitted
    until(lambda: not cluster.jobs())
    assert 1 <= most <= 4
    assert command.states() == dict.fromkeys(range(40), "done")
    outputs = list((command.outputs / "jobs" / "slurm").glob("*_log.out"))
    assert len(outputs) == 40
    assert sum("is done" in path.read_text() for path in outputs) == 37


def test_a_run_on_two_processes_is_one_job_of_two_tasks(cluster, command):
    code, said = command.run("trainer=ddp", "trainer.accelerator=cpu", "trainer.devices=2")
    assert code == 0, said
    job = re.search(r"1 submitted as job (\d+)\n", said)[1]
    assert cluster.told(job, "NumTasks") == "2"
    assert command.states() == {0: "done"}
    log = (command.folder().path / "log.txt").read_text()
    assert log.count("running, process") == 1
    assert "Report:" in said  # a single run shows its results, wherever it was made
