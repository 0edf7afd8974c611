"""Sites that start jobs without their submitter's environment, other options of sbatch, and why a job has failed."""

import json
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = {"SBATCH_EXPORT": "NONE", "SLURM_EXPORT_ENV": "NONE"}


def test_a_site_that_exports_nothing(cluster, command):
    """Jobs still see the submitter's extensions and folder of data; other options of sbatch are passed on."""
    extension = ROOT / "tests" / "example_extension" / "toy_sparsity"
    command.environment = {**command.environment, **WITHOUT, "SPARSEID_EXTENSIONS": str(extension)}
    code, said = command.run(
        "hydra.launcher.additional_parameters={nice: 7, comment: 'two words'}",
        f"hydra.launcher.name={'long' * 50}",
        "hydra.launcher.setup=['echo \"extensions: $SPARSEID_EXTENSIONS\"']",
    )
    assert code == 0, said
    job = re.search(r"1 submitted as job (\d+)\n", said)[1]
    assert command.states() == {0: "done"}
    output = (command.outputs / "jobs" / "slurm" / f"{job}_0_log.out").read_text()
    assert f"extensions: {extension}" in output
    assert cluster.told(job, "Nice") == "7"
    assert cluster.told(job, "JobName") == ("long" * 50)[:128]


def test_a_job_that_cannot_begin_says_its_python_error(command, cluster):
    with cluster.paused():
        code, said = command.run("hydra.launcher.wait=false")
        assert code == 0, said
        job = re.search(r"1 submitted as job (\d+)\n", said)[1]
        (stored,) = (command.outputs / "jobs" / "slurm").glob(f"{job}_submitted.pkl")
        stored.write_bytes(b"damaged")
        process = command.start()
        for line in process.stdout:
            if "already submitted" in line:
                break
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 1, said
    output = command.outputs / "jobs" / "slurm" / f"{job}_0_log.out"
    assert "srun: error" in output.read_text().splitlines()[-1]
    assert "UnpicklingError" in said
    assert "srun: error" not in said


def test_jobs_that_are_sent_from_a_task_of_an_array_know_nothing_of_it(command, cluster, tmp_path):
    """Neither its number of tasks, which srun would take for the job's, nor its place in the array."""
    arguments = [*command.program, *command.settings, "hydra/launcher=slurm", "hydra.launcher.setup=['env | sort']"]
    once = f"[ $SLURM_PROCID = 0 ] || {shlex.join(arguments)}"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/bash\nsrun bash -c {shlex.quote(once)}\n")
    outer = ["--array=3-3", "--ntasks=2", "--mem=3000", "--wait", f"--output={tmp_path / 'said'}", f"--chdir={ROOT}"]
    cluster.ask("sbatch", *outer, str(script))
    said = (tmp_path / "said").read_text()
    assert command.states() == {0: "done"}, said
    job = re.search(r"1 submitted as job (\d+)\n", said)[1]
    assert command.folder().read_status()["job"] == job
    output = (command.outputs / "jobs" / "slurm" / f"{job}_0_log.out").read_text()
    assert re.findall(r"^(?:SLURM_(?:ARRAY|STEP)_|SLURM_MEM|SLURM_NTASKS=2).*", output, re.MULTILINE) == []
    assert json.loads((command.folder().path / "timing.json").read_text())["world_size"] == 1
