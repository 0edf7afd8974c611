"""A job's run is fixed at submission; processes that wait for it may come and go."""

import json
import shutil
import signal
import sys
from pathlib import Path

from sparseid.config.search_path import CONFIGS


def test_a_single_run_is_one_job_submitted_once_and_edits_do_not_reach_it(cluster, command, tmp_path, until):
    configs = tmp_path / "configs"
    shutil.copytree(CONFIGS, configs)
    command.program = [sys.executable, str(Path(__file__).with_name("with_configs.py")), str(configs)]
    preset = configs / "experiment" / "at" / "digitcircle.smoke.yaml"
    with cluster.paused():
        code, said = command.run("hydra.launcher.wait=false")
        assert code == 0, said
        (job,) = cluster.jobs()
        assert f"1 submitted as job {job}" in said
        run = command.folder()
        assert (run.state, run.read_status()["job"]) == ("planned", job)

        code, said = command.run("hydra.launcher.wait=false")
        assert code == 0, said
        assert f"1 already submitted as job {job}" in said
        assert list(cluster.jobs()) == [job]

        preset.write_text(preset.read_text().replace("width: 32", "width: 48"))
    until(lambda: not cluster.jobs())
    assert run.state == "done"
    assert command.states() == {0: "done"}  # no other run was made
    assert "    width: 32" in (run.path / "config.yaml").read_text()
    assert json.loads((run.path / "environment.json").read_text())


def test_ctrl_c_while_waiting_leaves_the_jobs(cluster, command, until):
    with cluster.paused():
        process = command.start("seed=0,1")
        for line in process.stdout:
            if line.startswith("waiting:"):  # it has looked into the queue, and says that the node takes no jobs
                break
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert "2 jobs continue" in said
        assert "DRAINED" in line
        assert set(command.states().values()) == {"planned"}
        (array,) = {job.partition("_")[0] for job in cluster.jobs()}
        assert f"scancel '{array}_[0-1]'" in said
        assert len(cluster.jobs()) == 2
        cluster.ask("scancel", f"{array}_[0-1]")
        until(lambda: not cluster.jobs())


def test_what_sbatch_refuses_is_the_users_to_mend(cluster, command):
    code, said = command.run("seed=0,1", "hydra.launcher.partition=nowhere")
    assert code == 2, said
    assert "sbatch refuses the jobs" in said
    assert "partition" in said
    assert "Traceback" not in said
    assert cluster.jobs() == {}
