"""Weights & Biases beside a run: what an offline folder holds, and that nothing it does can touch the run."""

import csv
import json
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
import toy

from sparseid.config.compose import compose
from sparseid.config.identity import run_hash, run_name
from sparseid.config.schema import LoggerSettings
from sparseid.errors import ConfigError
from sparseid.training import loggers
from sparseid.training.callbacks import OnceReady
from sparseid.training.rows import Row, read_rows
from sparseid.training.run import execute

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # pytest's importlib mode knows no siblings
from wandb_file import offline_folder, records, values
from wandb_server import serving

TRAINING = Path(__file__).parent
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8ffff3f0005fe02fe0def46b8"
    "0000000049454e44ae426082"
)


@pytest.fixture(autouse=True)
def _nobody_is_logged_in(monkeypatch, tmp_path):
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_DIR", "WANDB_BASE_URL", "WANDB_SERVICE", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NETRC", str(tmp_path / "home" / "netrc"))
    monkeypatch.chdir(tmp_path / "empty")
    yield
    loggers.finish()
    assert list((tmp_path / "empty").iterdir()) == []  # nothing is left in the working directory


def logged(outputs, **changes):
    """Return a toy run's configuration with logger=wandb."""
    cfg = toy.toy_config(outputs, **changes)
    cfg.logger = LoggerSettings(name="wandb", project="toys")
    return cfg


def make(cfg):
    """Make a run and end its logging, as the end of the process does."""
    try:
        return execute(cfg)
    finally:
        loggers.finish()


def history(found):
    """Return the logged points as lines of metrics.csv."""
    lines = []
    for kind, record in found:
        if kind == "history":
            point = values(record.history.item)
            step, samples = point.pop("_step"), point.pop("samples", None)
            lines += [(step, samples, k, v) for k, v in point.items() if not k.startswith(("_", "figures/"))]
    return sorted(lines)


def curves(folder):
    with (folder / "metrics.csv").open() as file:
        return sorted((int(s), int(n), k, float(v)) for s, n, k, v in list(csv.reader(file))[1:])


def images(found):
    items = [item for kind, record in found if kind == "history" for item in record.history.item]
    return {json.loads(item.value_json) for item in items if item.nested_key[:1] == ["figures/curve"]}


def said(folder):
    return [line for line in (folder / "log.txt").read_text().splitlines() if "Weights & Biases" in line]


def test_an_offline_folder_holds_the_run(tmp_path):
    cfg = logged(tmp_path / "out", seed=3)
    folder = execute(cfg)
    (folder / "figures").mkdir()
    (folder / "figures" / "curve.png").write_bytes(PNG)  # drawn by whoever launched the run, when it is done
    loggers.finish()

    found = records(offline_folder(tmp_path / "out"))
    (run,) = [record.run for kind, record in found if kind == "run"]
    assert run.run_id == f"smoke-toys-{run_hash(cfg)}"
    assert (run.display_name, run.project, run.run_group) == (run_name(cfg), "toys", "toy")
    assert run.job_type == "toy-toy"
    commit = json.loads((folder / "environment.json").read_text())["commit"][:8]
    assert set(run.tags) - {"dirty"} == {"toys", "smoke", "toy", "seed-3", commit}
    config = values(run.config.update)
    assert config["seed"] == 3
    assert config["trainer"]["max_samples"] == toy.MAX_STEPS * toy.BATCH  # shown as trainer.max_samples
    assert config["method"]["cuts"] == 100

    assert history(found) == curves(folder)
    assert len(curves(folder)) > 8
    assert [record.metric.step_metric for kind, record in found if kind == "metric"] == ["", "samples"]
    totals = {}
    for kind, record in found:
        if kind == "summary":
            totals |= values(record.summary.update)
    rows = [row for row in read_rows(folder / "result.json") if row.value is not None]
    assert {k: v for k, v in totals.items() if k.startswith("final/")} == loggers.summary(rows, ["domain", "method"])
    assert totals["final/cut=last/split=1/error"] in {row.value for row in rows}
    assert {"image-file", "png", 1} <= images(found)
    assert [record.exit.exit_code for kind, record in found if kind == "exit"] == [0]
    (line,) = said(folder)
    assert f"wandb sync {offline_folder(tmp_path / 'out')}" in line


def test_the_numbers_are_those_without_it(tmp_path):
    plain = execute(toy.toy_config(tmp_path / "csv"))
    assert toy.results(make(logged(tmp_path / "wandb"))) == toy.results(plain)


def test_a_resumed_run_is_the_same_run_with_every_step_once(tmp_path, monkeypatch):
    monkeypatch.setattr(loggers, "run_hash", lambda cfg: "1a2b3c4d")  # what interrupts the toy is a setting of its own
    whole = execute(toy.toy_config(tmp_path / "whole"))
    for kill_at in (25, 30):
        with pytest.raises(toy.Killed):
            make(logged(tmp_path / "out", hook="training_step", kill_at=kill_at))
    (old,) = (tmp_path / "out" / "wandb").iterdir()
    folder = make(logged(tmp_path / "out"))
    new = offline_folder(tmp_path / "out")  # one folder: the newest has all that the others had
    assert new.name > old.name
    assert new.name.endswith("-smoke-toys-1a2b3c4d")
    found = records(new)
    assert history(found) == curves(folder) == curves(whole)
    assert [record.exit.exit_code for kind, record in found if kind == "exit"] == [0]


def test_a_resumed_run_goes_on_with_its_curves_online(tmp_path, monkeypatch):
    monkeypatch.setattr(loggers, "run_hash", lambda cfg: "1a2b3c4d")
    monkeypatch.setenv("WANDB_API_KEY", "a" * 40)
    with serving() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        with pytest.raises(toy.Killed):
            make(logged(tmp_path / "out", hook="training_step", kill_at=25))
        (begun,) = map(list, server.history.values())
        folder = make(logged(tmp_path / "out"))
    assert set(server.history) == {"smoke-toys-1a2b3c4d"}
    assert server.history["smoke-toys-1a2b3c4d"][: len(begun)] == begun
    points = [(p["_step"], k, v) for p in server.history["smoke-toys-1a2b3c4d"] for k, v in p.items() if k[0] != "_"]
    assert sorted(point for point in points if point[1] != "samples") == sorted(
        (s, k, v) for s, _, k, v in curves(folder)
    )
    assert server.exits == [1, 0]
    assert {(told["groupName"], told["jobType"]) for told in server.upserts if told["groupName"]} == {
        ("toy", "toy-toy")
    }
    assert f"{server.url}/me/" in said(folder)[-1]


def test_only_a_run_that_goes_on_resumes_its_predecessor(tmp_path, fake_wandb):
    """A run that begins again replaces what was logged under its id; one that goes on keeps it."""
    calls = fake_wandb("online")
    cfg = logged(tmp_path / "out")
    make(cfg)
    cfg.force = True
    folder = make(cfg)  # in a folder of its own, which then takes the place of the first
    cfg.force = False
    (folder / "result.json").unlink()
    (folder / "status.json").unlink()  # as if it had been stopped before its tests: only these are left
    make(cfg)
    inits = [entry for entry in calls() if entry[0] == "init"]
    assert [entry[1]["resume"] for entry in inits] == [None, None, "allow"]
    assert len({entry[1]["id"] for entry in inits}) == 1
    assert {entry[1]["mode"] for entry in inits} == {"online"}
    steps = [entry[1] for entry in calls() if entry[0] == "log"]
    assert steps.count(steps[0]) == 2  # the third start knew from the server that it was there
    assert said(folder)[-1].endswith("https://example.org/run")
    assert sum(entry[0] == "summary" for entry in calls()) == 3


def test_an_interrupted_run_is_marked(tmp_path, monkeypatch, fake_wandb):
    calls, start = fake_wandb("online"), loggers.start

    def interrupted(*arguments):
        start(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(loggers, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(logged(tmp_path / "out"))
    assert ["preempting"] in calls()
    assert ["finish", 1] in calls()


FAKE = """
import json, os, time

class errors:
    class UsageError(Exception): pass

def note(*entry):
    with open(os.environ["FAKE_CALLS"], "a") as file:
        file.write(json.dumps(entry) + "\\n")

def fault(call):
    if BEHAVIOUR == call + " raises":
        raise RuntimeError("no such luck\\nsecond line")
    if BEHAVIOUR == call + " exits":
        raise SystemExit(3)
    if BEHAVIOUR == call + " dies":
        os._exit(9)
    if BEHAVIOUR == call + " hangs":
        time.sleep(1000)

BEHAVIOUR = os.environ["FAKE_BEHAVIOUR"]
print("chatter")
fault("import")

def login():
    fault("login")
    if BEHAVIOUR != "online" :
        raise errors.UsageError("no key")

def Settings(**settings):
    return None

class Run:
    url = "https://example.org/run"
    def __init__(self, step):
        self.starting_step, self.settings, self.summary = step, self, self
    sync_dir = "folder"
    def define_metric(self, *a, **k): pass
    def log(self, values, step=None):
        print("chatter")
        note("log", step)
        fault("log")
    def update(self, values): note("summary")
    def mark_preempting(self): note("preempting")
    def finish(self, exit_code):
        note("finish", exit_code)
        fault("finish")

def init(settings, **arguments):
    note("init", {k: arguments[k] for k in ("id", "mode", "resume")})
    fault("init")
    return Run(1000 if arguments["resume"] else 0)
"""


@pytest.fixture
def fake_wandb(monkeypatch, tmp_path):
    """Put a module in the place of wandb for other processes; returns a function that reads what it was asked for."""
    folder, record = tmp_path / "fake", tmp_path / "calls"
    folder.mkdir()
    (folder / "wandb.py").write_text(FAKE)
    record.touch()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("FAKE_CALLS", str(record))

    def behave(behaviour):
        monkeypatch.setenv("FAKE_BEHAVIOUR", behaviour)
        return lambda: [json.loads(line) for line in record.read_text().splitlines()]

    return behave


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("import raises", "RuntimeError: no such luck second line; "),
        ("init raises", "RuntimeError: no such luck second line; "),
        ("init exits", "SystemExit: 3; "),
        ("log raises", "RuntimeError: no such luck second line; "),
        ("log dies", "its process ended with code 9"),
        ("init hangs", "not finished within 2 s, stopped"),
        ("finish hangs", "not finished within 2 s, stopped"),
    ],
)
def test_its_failures_stop_nothing_and_cost_one_line(tmp_path, monkeypatch, capfd, fake_wandb, behaviour, reason):
    fake_wandb(behaviour)
    if "hangs" in behaviour:  # a busy machine may need more for the others
        monkeypatch.setattr(loggers, "FINISH_S", 2.0)
    folder = make(logged(tmp_path / "out"))
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "csv")))
    (line,) = [line for line in said(folder) if "upload with" not in line]
    assert reason in line
    assert "metrics.csv" in line
    printed = capfd.readouterr()
    assert line.split(" ", 1)[1] in printed.out
    assert "chatter" not in printed.out + printed.err
    assert "Traceback" not in printed.err


def test_a_setting_that_wandb_refuses_is_named_and_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "onlin")
    folder = make(logged(tmp_path / "out"))
    assert read_rows(folder / "result.json")
    refused, offline = said(folder)
    assert "mode: Input should be 'online', 'offline'" in refused
    assert refused.endswith("; logging offline")
    assert "upload with: wandb sync" in offline


def test_a_folder_that_wandb_cannot_have_is_named_and_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WANDB_DIR", str(tmp_path / "file"))
    folder = make(logged(tmp_path / "out"))
    assert read_rows(folder / "result.json")
    (line,) = said(folder)
    assert str(tmp_path / "file") in line
    assert "the run continues without it" in line


def test_long_names_are_cut_to_what_wandb_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(toy.ToyDataSettings, "row_keys", lambda self: {"domain": "\N{GREEK SMALL LETTER ALPHA}" * 300})
    cfg = logged(tmp_path / "out", seed=12345)
    cfg.experiment = "e" * 200
    folder = execute(cfg)
    loggers.finish()
    (run,) = [record.run for kind, record in records(offline_folder(tmp_path / "out")) if kind == "run"]
    assert read_rows(folder / "result.json")
    assert run.display_name.endswith(f"-{run_hash(cfg)}")
    assert max(map(len, (run.display_name, run.run_group, run.job_type))) <= 128
    assert max(map(len, run.tags)) <= 64


def test_a_failed_start_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    folder = make(logged(tmp_path / "out"))
    (line,) = said(folder)
    assert "FileNotFoundError" in line
    assert "metrics.csv" in line


def test_unreachable_although_logged_in(tmp_path, fake_wandb):
    calls = fake_wandb("login raises")
    folder = make(logged(tmp_path / "out"))
    assert [entry[1]["mode"] for entry in calls() if entry[0] == "init"] == ["offline"]
    assert ["no such luck second line; logging offline" in line for line in said(folder)] == [True, False]


def test_blocked_sockets(tmp_path, monkeypatch):
    """Without sockets the real library cannot even log offline: it talks to its own service through one."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import socket\ndef refuse(*_): raise OSError('sockets are blocked')\nsocket.socket.connect = refuse\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    folder = make(logged(tmp_path / "out"))
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "csv")))
    (line,) = said(folder)
    assert "metrics.csv" in line


def test_a_full_disk(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    limit = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"  # as if no more could be written
    )
    (site / "sitecustomize.py").write_text(limit)
    monkeypatch.setenv("PYTHONPATH", str(site))
    folder = make(logged(tmp_path / "out"))
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "csv")))
    (line,) = [line for line in said(folder) if "upload with" not in line]
    assert "metrics.csv" in line


def test_where_the_user_says_otherwise(tmp_path, monkeypatch, fake_wandb):
    calls = fake_wandb("online")
    cfg = logged(tmp_path / "out")
    cfg.logger.mode = "offline"
    make(cfg)
    assert [entry[1]["mode"] for entry in calls() if entry[0] == "init"] == ["offline"]
    monkeypatch.setenv("WANDB_MODE", "disabled")
    make(logged(tmp_path / "disabled"))
    assert len([entry for entry in calls() if entry[0] == "init"]) == 1
    assert loggers.request(cfg, loggers.RunFolder(toy.directory(cfg)))["init"]["dir"] == str(tmp_path / "out")
    monkeypatch.setenv("WANDB_DIR", "/elsewhere")
    assert loggers.request(cfg, loggers.RunFolder(toy.directory(cfg)))["init"]["dir"] == "/elsewhere"


def test_a_killed_run_is_logged_to_its_last_line(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import toy; from pathlib import Path\n"
        "from sparseid.config.schema import LoggerSettings\n"
        "from sparseid.training import recipe, run\n"
        "run.run_directory = recipe.run_directory = toy.directory\n"
        "cfg = toy.toy_config(Path(sys.argv[2]), step_s=0.02, max_steps=10**6)\n"
        "cfg.logger = LoggerSettings(name='wandb'); run.execute(cfg)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(TRAINING), str(tmp_path / "out")])
    folder = tmp_path / "out" / "toy-seed0"

    def wait_until(condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.1)

    try:
        wait_until(lambda: (folder / "log.txt").exists() and said(folder) and len(curves(folder)) > 5)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: any(kind == "exit" for kind, _ in records(offline_folder(tmp_path / "out"))))
    found = records(offline_folder(tmp_path / "out"))
    assert history(found) == curves(folder)
    assert [record.exit.exit_code for kind, record in found if kind == "exit"] == [1]


def test_only_the_first_process_logs_and_only_once():
    calls = []
    for rank in (0, 1):
        ready = OnceReady(lambda rank=rank: calls.append(rank))
        for hook in (ready.on_train_start, ready.on_test_start, ready.on_test_start):
            hook(types.SimpleNamespace(is_global_zero=rank == 0), None)
    assert calls == [0]


def test_points_are_whole_lines_grouped_by_step(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("step,samples,name,value\n50,400,loss,2.0\n50,400,val/error,nan\n56,448,val/er")
    with path.open("rb") as file:
        ((step, point),) = loggers.new_points(file)
        assert (step, point["samples"], point["loss"]) == (50, 400, 2.0)
        assert point["val/error"] != point["val/error"]
        assert list(loggers.new_points(file)) == []
        with path.open("a") as more:
            more.write("ror,1.5\n")
        assert list(loggers.new_points(file)) == [(56, {"samples": 448, "val/error": 1.5})]


def test_summary_names():
    base = {"run": "r", "paper": "p", "scale": "small", "recipe": "h", "seed": 0, "unit": "", "n": 1}
    made = {"commit": "c", "dirty": False, "device": "cpu", "written": "2026-01-01T00:00:00+00:00"}
    keys = {"domain": "digitcircle", "method": "sparling_mt"}
    rows = [
        Row(**base, **made, keys={**keys, "steps_above": 2}, metric="ce", value=1.5),
        Row(**base, **made, keys=keys, metric="ce", value=None),
        Row(**base, **made, keys=keys, metric="fpe", value=0.5),
    ]
    assert loggers.summary(rows, list(keys)) == {"final/steps_above=2/ce": 1.5, "final/fpe": 0.5}


@pytest.mark.parametrize("project", ["a/b", "p" * 129])
def test_a_project_that_wandb_refuses_is_refused_before_training(project):
    compose(["scale=smoke", f"logger.project={project}"])  # nothing is logged there
    with pytest.raises(ConfigError, match=r"logger\.project"):
        compose(["scale=smoke", "logger=wandb", f"logger.project={project}"])


def test_mode_is_checked():
    with pytest.raises(ConfigError, match=r"logger\.mode must be auto or online or offline"):
        compose(["logger=wandb", "logger.mode=never"])
    assert compose(["logger=wandb"]).logger == LoggerSettings("wandb")


def test_damaged_curves_do_not_keep_a_run_from_being_reported(tmp_path):
    """They stay as they are if only the tests of a run are left."""
    cfg = logged(tmp_path)
    folder = loggers.RunFolder(toy.directory(cfg))
    folder.path.mkdir(parents=True)
    for content, resumed in (b"step,samples,name,value\n", False), (b"step,samples,name,value\n7,\xff\n", True):
        folder.metrics.write_bytes(content)
        assert loggers.request(cfg, folder)["resumed"] == resumed
