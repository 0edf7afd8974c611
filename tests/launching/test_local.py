"""Trials in processes of their own, with short programs in the place of runs."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from filelock import FileLock

from sparseid.config.compose import compose
from sparseid.config.identity import run_directory, run_name
from sparseid.config.sweep import plan
from sparseid.errors import InputError
from sparseid.files import write_text
from sparseid.launching import local
from sparseid.launching.job import BUSY, WATCH_PARENT, main
from sparseid.launching.machine import LOCKS
from sparseid.launching.one_run import DONE, FAILED, REFUSED, make_run, skipped
from sparseid.training.rows import write_rows
from sparseid.training.run_folder import RunFolder


@pytest.fixture
def runs(tmp_path):
    trials = plan(["experiment=digitcircle", "scale=smoke", "seed=range(4)", f"outputs={tmp_path}"]).trials
    return [trial.run for trial in trials]


@pytest.fixture
def make(runs, monkeypatch):
    """Make the trials with a Python program each, given as text per seed, and return the outcomes."""
    monkeypatch.setattr(local, "RETRY_S", 0.05)

    def pool(*programs, places=2):
        files = [local.serialize(run) for run in runs[: len(programs)]]
        program_of = dict(zip(files, programs, strict=True))
        return local.Pool(
            files, [{"PLACE": str(n)} for n in range(places)], lambda file: [sys.executable, "-c", program_of[file]]
        ).run()

    return pool


def test_a_failed_trial_stops_no_other(make, runs):
    outcomes = make(
        "", "print('error: it broke'); raise SystemExit(1)", "raise SystemExit(2)", "print('error: a: b'); exit(1)"
    )
    assert [outcome.code for outcome in outcomes] == [DONE, FAILED, REFUSED, FAILED]
    assert [outcome.message for outcome in outcomes] == ["", "it broke", "no output", "a: b"]
    assert [outcome.name for outcome in outcomes] == [run_name(run) for run in runs]


def test_a_process_that_was_killed_is_failed(make, runs):
    program = (
        f"from sparseid.training.run_folder import RunFolder; f = RunFolder({str(run_directory(runs[0]))!r});"
        "f.checkpoints.mkdir(parents=True); f.write_status('running'); import os; os.kill(os.getpid(), 9)"
    )
    [outcome] = make(program)
    assert outcome.code == FAILED
    assert outcome.message == "ended by SIGKILL (out of memory?)"
    status = RunFolder(run_directory(runs[0])).read_status()
    assert (status["state"], status["message"]) == ("failed", "ended by SIGKILL (out of memory?)")


def test_a_trial_that_another_process_makes_is_asked_for_again(make, tmp_path):
    mark = tmp_path / "mark"
    busy = f"import pathlib; m = pathlib.Path({str(mark)!r}); old = m.exists(); m.touch(); exit(0 if old else {BUSY})"
    assert [outcome.code for outcome in make(busy, "")] == [DONE, DONE]
    assert mark.exists()


def test_every_process_has_a_place_of_its_own(make, tmp_path):
    program = (
        f"import os, time, pathlib; p = pathlib.Path({str(tmp_path)!r}) / os.environ['PLACE'];"
        "p.touch(exist_ok=False); time.sleep(0.1); p.unlink()"
    )
    assert [outcome.code for outcome in make(*[program] * 4)] == [DONE] * 4


def test_every_process_has_a_gpu_of_its_own(make, tmp_path, monkeypatch):
    """Also if there are more places than free GPUs: another command has one of the two."""
    monkeypatch.setenv(LOCKS, str(tmp_path / "locks"))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr("sparseid.launching.machine.LOOK_S", 0.02)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-6,MIG-7")
    program = (
        f"import os, time, pathlib; p = pathlib.Path({str(tmp_path)!r}) / os.environ['CUDA_VISIBLE_DEVICES'];"
        "p.touch(exist_ok=False); time.sleep(0.1); p.unlink(); print(p.name)"
    )
    assert [outcome.code for outcome in make(*[program] * 4)] == [DONE] * 4
    assert {path.read_text() for path in (tmp_path / "jobs").glob("*.txt")} == {"MIG-6\n", "MIG-7\n"}
    with FileLock(tmp_path / "locks" / "MIG-6"):
        assert [outcome.code for outcome in make(*[program] * 4)] == [DONE] * 4
    assert {path.read_text() for path in (tmp_path / "jobs").glob("*.txt")} == {"MIG-7\n"}


def test_a_single_run_does_not_wait_for_gpus_that_do_not_exist(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    command = ["scale=smoke", "trainer.accelerator=gpu", "trainer.devices=2", "hydra.mode=RUN", f"outputs={tmp_path}"]
    [trial] = plan(command).trials
    with pytest.raises(InputError, match=r"trainer.devices=2, but this machine has 1 GPUs: 0"):
        local.launch_local([trial.run], single=True, jobs=0, wait=True)


@pytest.mark.parametrize("fails", [False, True])
def test_a_trial_begins_after_the_one_that_it_starts_from(tmp_path, fails):
    """Retrained, whichever stands first; it is not begun if that fails."""
    trials = plan(["scale=smoke", "method.training=retrained", "seed=0,1", f"outputs={tmp_path}"]).trials
    runs = [trial.run for trial in trials]
    files = [local.serialize(run) for run in reversed(runs)]
    mark = tmp_path / "mark"
    program = (
        f"import pathlib, sys, time; m = pathlib.Path({str(mark)!r} + sys.argv[2])\n"
        f"if sys.argv[1] == 'sparling': time.sleep(0.2); m.touch(); sys.exit({int(fails)})\n"
        "sys.exit(not m.exists())"
    )
    of_file = {file: (run.method.training, str(run.seed)) for file, run in zip(files, reversed(runs), strict=True)}
    outcomes = local.Pool(files, [{}] * 4, lambda file: [sys.executable, "-c", program, *of_file[file]]).run()
    assert [outcome.code for outcome in outcomes] == [FAILED if fails else DONE] * 4
    assert [outcome.name for outcome in outcomes] == [run_name(run) for run in reversed(runs)]
    retrained = [outcome for outcome in outcomes if "retrained" in outcome.name]
    assert all(("it starts from" in outcome.message) == fails for outcome in retrained)
    assert len(list((tmp_path / "jobs").glob("*retrained*.txt"))) == (0 if fails else 2)


def test_the_configuration_is_frozen(runs, tmp_path):
    from sparseid.config.stored import load_run_config

    assert load_run_config(local.serialize(runs[2])) == runs[2]
    assert local.serialize(runs[2]).parent == tmp_path / "jobs"


def test_done_and_diverged_trials_are_left_out(runs, capsys):
    for run, state in zip(runs, ("done", "diverged", "failed", "done"), strict=True):
        folder = RunFolder(run_directory(run))
        folder.open(run)
        folder.write_status(state, "because")
        write_rows(folder.result, [])
    (run_directory(runs[0]) / "figures").mkdir()
    outcomes = [skipped(run) for run in runs]
    assert outcomes[0].code == DONE
    assert outcomes[1].code == FAILED
    assert "force=true" in outcomes[1].message
    assert outcomes[2:] == [None, None]  # of the last one the figures are missing
    write_text(RunFolder(run_directory(runs[0])).result, '{"rows": [{"ru')
    assert skipped(runs[0]) is None
    local.report_skipped(outcomes)
    assert capsys.readouterr().out == "1 of 4 runs done already\n1 of 4 runs diverged before\n"


@pytest.mark.parametrize(
    ("devices", "asked"), [("2 x cpu", 1), ("NVIDIA H200", 2), ("2 x cpu then cpu", 2), ("cpu", 1)]
)
def test_a_run_that_is_skipped_says_that_it_was_made_on_another_number_of_devices(pretend, capsys, devices, asked):
    folder = pretend("scale=smoke")
    (folder.path / "environment.json").write_text(json.dumps({"device": devices}))
    (folder.path / "figures").mkdir()
    run = compose(["scale=smoke", "trainer=cpu", f"outputs={folder.path.parents[2]}"])
    run = dataclasses.replace(run, trainer=dataclasses.replace(run.trainer, devices=asked))
    note = f"made on {devices}, not with trainer.devices={asked}: the number of devices is not part of a run's identity"
    local.report_skipped([skipped(run), None])
    said = capsys.readouterr().out
    assert said.splitlines()[1:] == ([] if devices == "cpu" else [f"1 of 2 runs {note}; force=true repeats it"])
    assert make_run(run, page=False).code == DONE
    assert (f"it was {note}" in capsys.readouterr().out) == (devices != "cpu")


def test_ctrl_c_lets_the_runs_save(tmp_path):
    """SIGTERM reaches the jobs; nothing is begun after it; the sweep ends only when they have ended."""
    program = "import signal, time, pathlib, sys\n" + (
        "def stop(*_):\n    pathlib.Path(sys.argv[1]).with_suffix('.saved').touch(); sys.exit(143)\n"
        "signal.signal(signal.SIGTERM, stop)\npathlib.Path(sys.argv[1]).with_suffix('.begun').touch()\ntime.sleep(60)\n"
    )
    script = tmp_path / "sweep.py"
    script.write_text(
        "import sys\nfrom sparseid.config.sweep import plan\nfrom sparseid.launching import local\n"
        f"trials = plan(['scale=smoke', 'seed=range(4)', 'outputs={tmp_path}']).trials\n"
        f"command = lambda file: [sys.executable, '-c', {program!r}, str(file)]\n"
        "try:\n    local.Pool([local.serialize(trial.run) for trial in trials], [{}, {}], command).run()\n"
        "except KeyboardInterrupt:\n    sys.exit(130)\n"
    )
    begin = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    for signum, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True, **begin)
        until(lambda: len(list(tmp_path.glob("jobs/*.begun"))) == 2)
        process.send_signal(signum)
        _, said = process.communicate(timeout=300)
        assert process.returncode == code
        assert "2 runs save and end" in said
        assert len(list(tmp_path.glob("jobs/*.saved"))) == 2
        assert len(list(tmp_path.glob("jobs/*.begun"))) == 2
        for file in [*tmp_path.glob("jobs/*.saved"), *tmp_path.glob("jobs/*.begun")]:
            file.unlink()


def test_a_second_signal_kills_and_says_so(tmp_path):
    [trial] = plan(["scale=smoke", f"outputs={tmp_path}"]).trials
    folder = RunFolder(run_directory(trial.run))
    program = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"from sparseid.training.run_folder import RunFolder; f = RunFolder({str(folder.path)!r})\n"
        "f.checkpoints.mkdir(parents=True); f.write_status('running'); time.sleep(60)"
    )
    script = tmp_path / "sweep.py"
    script.write_text(
        "import sys\nfrom sparseid.config.sweep import plan\nfrom sparseid.launching import local\n"
        f"[trial] = plan(['scale=smoke', 'outputs={tmp_path}']).trials\n"
        f"local.Pool([local.serialize(trial.run)], [{{}}], lambda file: [sys.executable, '-c', {program!r}]).run()\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True) as process:
        until(lambda: folder.state == "running")
        process.terminate()
        while "again kills them" not in process.stderr.readline():
            assert process.poll() is None
        process.terminate()
        process.communicate(timeout=300)
    assert process.returncode == 143
    assert folder.read_status()["message"] == "ended by SIGKILL, asked to stop twice"


def until(reached, seconds=30.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "waited for nothing"
        time.sleep(0.02)


# The process of one trial


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("schema: 0", "schema version 0"),
        ("- nonsense", "not a mapping"),
        ("\xff: [", "cannot be read"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path, capsys, text, words):
    file = tmp_path / "trial.yaml"
    if text is not None:
        file.write_text(text)
    assert main([str(file)]) == REFUSED
    assert words in capsys.readouterr().out
    assert main([]) == REFUSED


def test_a_run_made_elsewhere_is_busy(runs, monkeypatch):
    monkeypatch.delenv(WATCH_PARENT, raising=False)
    file = local.serialize(runs[0])
    with RunFolder(run_directory(runs[0])).lock():
        assert main([str(file)]) == BUSY


def test_a_job_ends_with_whoever_started_it(runs):
    """On a leash: the end of our standard input stops the job like SIGTERM."""
    program = "import time, threading; from sparseid.launching import job; job._end_with_parent()\ntime.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
    process.stdin.close()
    assert process.wait(timeout=300) == -signal.SIGTERM


def test_in_the_background(runs, monkeypatch, capsys):
    """Returns at once; the trials are made by a process that goes on."""
    for run in runs[:2]:  # begun by other code: they fail at once
        folder = RunFolder(run_directory(run))
        folder.open(run)
        write_text(folder.path / "config.yaml", "schema: 0")
    outcomes = local.launch_local(runs[:2], single=False, jobs=2, wait=False)
    assert [outcome.waiting for outcome in outcomes] == [True, True]
    said = capsys.readouterr().out
    pid = int(said.split("process ")[1].split(";")[0])
    until(lambda: ended(pid), seconds=120)
    [log] = run_directory(runs[0]).parents[2].glob("jobs/local-*.txt")
    assert str(log) in said
    assert log.read_text().count("FAILED") == 2
    assert "Report: " in log.read_text()


def ended(pid):
    """Return whether a child has ended."""
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def test_an_impossible_number_of_jobs_is_refused_first(tmp_path, capsys):
    from sparseid.launching.main import main as command

    assert command(["scale=smoke", f"outputs={tmp_path}", "seed=0,1", "hydra.launcher.jobs=-1"]) == REFUSED
    assert "hydra.launcher.jobs is -1" in capsys.readouterr().err
    assert not (tmp_path / "jobs").exists()
