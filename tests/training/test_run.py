"""The run contract: states, locks, damaged files, full disks, forced runs."""

import dataclasses
import errno
import json
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import torch
import toy
import yaml

from sparseid.training import checkpoints
from sparseid.training.errors import RunBusy, RunDiverged, RunError
from sparseid.training.rows import read_rows
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder

SHORT = {"max_steps": 20}


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_what_a_run_leaves(tmp_path):
    folder = execute(toy.toy_config(tmp_path, **SHORT))
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left == {
        "config.yaml",
        "environment.json",
        "status.json",
        "metrics.csv",
        "timing.json",
        "result.json",
        "arrays.npz",
        "log.txt",
        "checkpoints/last.ckpt",
        "checkpoints/previous.ckpt",
        "checkpoints/milestones/cut1.ckpt",
    }
    assert {path.name for path in tmp_path.iterdir()} <= {"toy-seed0", ".toy-seed0.lock"}
    assert json.loads((folder / "status.json").read_text())["state"] == "done"
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["schema"] == 1
    assert config["method"]["name"] == "toy"
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["seed"] == 0
    assert environment["device"] == "cpu"
    assert environment["packages"]["torch"].startswith(torch.__version__.split("+")[0])


def test_rows(tmp_path):
    rows = read_rows(execute(toy.toy_config(tmp_path, seed=3, **SHORT)) / "result.json")
    assert [(row.keys["cut"], row.metric, row.n) for row in rows] == [
        ("cut1", "error", 6),
        ("cut1", "sum", 6),
        ("cut1", "undefined", 0),
        ("last", "error", 12),
        ("last", "sum", 12),
        ("last", "undefined", 0),
    ]
    assert rows[0].keys == {"domain": "toy", "method": "toy", "cut": "cut1", "split": 1}
    assert {(row.run, row.paper, row.scale, row.seed, row.device) for row in rows} == {
        ("toy-seed3", "toys", "smoke", 3, "cpu")
    }
    assert rows[2].value is None


def test_two_runs_agree_and_seeds_differ(tmp_path):
    one, two = (execute(toy.toy_config(tmp_path / name, **SHORT)) for name in "ab")
    other = execute(toy.toy_config(tmp_path, seed=1, **SHORT))
    assert toy.results(one) == toy.results(two)
    assert toy.results(one)[2] != toy.results(other)[2]


def test_done_is_done(tmp_path, capsys, monkeypatch):
    cfg = toy.toy_config(tmp_path, **SHORT)
    folder = execute(cfg)
    before = contents(folder)
    monkeypatch.setattr(toy.ToyModule, "__init__", None)  # nothing may be built
    assert execute(cfg) == folder
    assert "already done" in capsys.readouterr().out
    assert contents(folder) == before


def test_asking_loads_no_torch():
    code = "import sys, sparseid.training.run; sys.exit('torch' in sys.modules or 'hydra' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_paper_scale_on_a_cpu_says_what_it_costs(tmp_path, capsys):
    execute(toy.toy_config(tmp_path, **SHORT))
    assert "GPU" not in capsys.readouterr().out
    execute(dataclasses.replace(toy.toy_config(tmp_path / "paper", **SHORT), scale="paper"))
    assert "scale=paper is meant for a GPU, but trains on the CPU here: expect months" in capsys.readouterr().out


# Two processes


def test_second_process_is_refused_and_a_killed_one_does_not_block(tmp_path):
    first = toy.start(tmp_path, "step_s=2")
    try:
        toy.wait_until((tmp_path / "toy-seed0" / "metrics.csv").exists, first)
        status = json.loads((tmp_path / "toy-seed0" / "status.json").read_text())
        owner = re.escape(f"process {first.pid} on {status['host']} since {status['started']}")
        with pytest.raises(RunBusy, match=owner):
            execute(toy.toy_config(tmp_path))
        second = toy.start(tmp_path)
        out, err = second.communicate()
        assert second.returncode == 1
        assert f"process {first.pid}" in err
        assert "Traceback" not in err
        assert out == ""
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()
    assert execute(toy.toy_config(tmp_path)).name == "toy-seed0"


def test_interrupt(tmp_path):
    process = toy.start(tmp_path, "step_s=0.05")
    toy.wait_until((tmp_path / "toy-seed0" / "metrics.csv").exists, process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "run the same command to resume" in err
    assert "Traceback" not in err
    status = json.loads((tmp_path / "toy-seed0" / "status.json").read_text())
    assert (status["state"], status["message"]) == ("preempted", "interrupted; run the same command to resume")


def test_interrupt_in_process_leaves_the_signal_handler(tmp_path, monkeypatch):
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(toy.ToyModule, "called", lambda self, hook: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt, match="run the same command"):
        execute(toy.toy_config(tmp_path))
    assert signal.getsignal(signal.SIGINT) is handler


# Damaged checkpoints


@pytest.fixture
def interrupted(tmp_path):
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook="training_step", kill_at=40))
    return tmp_path / "toy-seed0"


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_truncated_checkpoint_falls_back(tmp_path, interrupted, capsys):
    truncate(interrupted / "checkpoints" / "last.ckpt")
    folder = execute(toy.toy_config(tmp_path))
    assert f"damaged checkpoint, resuming from previous.ckpt; {interrupted}" in capsys.readouterr().out
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))


def test_a_file_of_another_kind_is_told_without_advice_to_execute_it(tmp_path, interrupted, capsys):
    last = interrupted / "checkpoints" / "last.ckpt"
    last.write_bytes(b"x" * 300 + last.read_bytes())
    folder = execute(toy.toy_config(tmp_path))
    assert f"resuming from previous.ckpt; {last}: it is no checkpoint" in capsys.readouterr().out
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))


def flip_one_bit(path, name):
    """Flip the lowest bit of the last byte of a tensor: the sign or the exponent of its last number."""
    content = bytearray(path.read_bytes())
    tensor = checkpoints.load(path)["state_dict"][name]
    place = content.index(tensor.numpy().tobytes()) + tensor.numel() * tensor.element_size() - 1
    content[place] ^= 1
    path.write_bytes(content)
    unchecked = torch.load(path, weights_only=True)["state_dict"][name]
    assert not torch.equal(unchecked, tensor)  # torch itself takes it


def test_a_checkpoint_with_a_flipped_bit_falls_back(tmp_path, interrupted, capsys):
    flip_one_bit(interrupted / "checkpoints" / "last.ckpt", "net.0.weight")
    folder = execute(toy.toy_config(tmp_path))
    said = capsys.readouterr().out
    assert "damaged checkpoint, resuming from previous.ckpt; " in said
    assert "is not as it was written" in said
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))


def test_a_part_that_became_a_folder_is_no_checkpoint(interrupted):
    """Attributes of parts have no checksum, and torch reads zeros from a folder."""
    path = interrupted / "checkpoints" / "last.ckpt"
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir  # of the list of parts
    content[start + 38] ^= 0x10  # external attributes of the first part
    path.write_bytes(content)
    with pytest.raises(ValueError, match="list of parts is not as it was written"):
        checkpoints.load(path)


def test_weights_to_test_with_a_flipped_bit_give_no_numbers(tmp_path):
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, hook="test_step", kill_at=1))
    folder = RunFolder(tmp_path / "toy-seed0")
    milestone = sorted(folder.checkpoints.glob("milestones/*.ckpt"))[0]
    flip_one_bit(milestone, "net.0.weight")
    with pytest.raises(RunError, match=rf"{milestone.name} is damaged .*force=true"):
        execute(toy.toy_config(tmp_path))
    assert folder.state == "failed"


def test_no_usable_checkpoint(tmp_path, interrupted):
    truncate(interrupted / "checkpoints" / "last.ckpt")
    torch.save({"state_dict": {}}, interrupted / "checkpoints" / "previous.ckpt")
    before = contents(interrupted / "checkpoints")
    with pytest.raises(RunError, match=r"(?s)last\.ckpt.*previous\.ckpt.*delete .*checkpoints or set force=true"):
        execute(toy.toy_config(tmp_path))
    assert contents(interrupted / "checkpoints") == before
    assert RunFolder(interrupted).state == "failed"
    execute(toy.toy_config(tmp_path, force=True))
    assert RunFolder(interrupted).state == "done"


def test_killed_between_the_two_renames(tmp_path, interrupted):
    folder = interrupted / "checkpoints"
    (folder / "last.ckpt").rename(folder / "next.ckpt")
    assert checkpoints.usable_checkpoint(folder, "hash0", print) == folder / "previous.ckpt"
    assert checkpoints.usable_checkpoint(tmp_path, "hash0", print) is None
    leftover = folder / ".next.ckpt.abc.tmp"
    leftover.write_bytes(b"half")
    execute(toy.toy_config(tmp_path))
    assert sorted(path.name for path in folder.glob("*.ckpt")) == ["last.ckpt", "previous.ckpt"]
    assert not leftover.exists()


def test_a_checkpoint_of_another_run_is_refused_and_nothing_is_lost(tmp_path, interrupted):
    other = execute(toy.toy_config(tmp_path, seed=1, **SHORT)) / "checkpoints" / "last.ckpt"
    last, own = interrupted / "checkpoints" / "last.ckpt", (interrupted / "checkpoints" / "last.ckpt").read_bytes()
    last.write_bytes(other.read_bytes())
    before = contents(interrupted / "checkpoints")
    refused = rf"{last} is a checkpoint of another run, hash1; this one is hash0\. Nothing was changed\.\nMove it"
    with pytest.raises(RunError, match=refused):
        execute(toy.toy_config(tmp_path))
    assert contents(interrupted / "checkpoints") == before
    last.unlink()
    expected = toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))
    assert toy.results(execute(toy.toy_config(tmp_path))) == expected

    last.write_bytes(own)  # the last one again, of an unfinished training
    (interrupted / "status.json").unlink()
    last.with_name("previous.ckpt").write_bytes(other.read_bytes())  # not needed
    assert toy.results(execute(toy.toy_config(tmp_path))) == expected


def test_every_checkpoint_says_whose_it_is_and_tests_read_their_own_only(tmp_path):
    folder = execute(toy.toy_config(tmp_path, **SHORT))
    paths = sorted((folder / "checkpoints").rglob("*.ckpt"))
    assert {path.parent.name for path in paths} == {"checkpoints", "milestones"}
    assert {checkpoints.load(path)["sparseid"]["run"] for path in paths} == {"hash0"}
    other = execute(toy.toy_config(tmp_path / "other", seed=1, **SHORT))
    for path in paths:
        if path.name in ("last.ckpt", "previous.ckpt"):
            continue
        path.write_bytes((other / path.relative_to(folder)).read_bytes())
        with pytest.raises(
            RunError, match=rf"{path} is a checkpoint of another run, hash1; this one is hash0\. Put its"
        ):
            checkpoints.weights(path, "hash0")
        assert checkpoints.weights(path, "hash1").keys() == checkpoints.load(path)["state_dict"].keys()
    truncate(folder / "arrays.npz")
    with pytest.raises(RunError, match=r"milestones/.*\.ckpt is a checkpoint of another run, hash1; this one is hash0"):
        execute(toy.toy_config(tmp_path, **SHORT))


def test_weights_without_the_rest_are_not_continued(tmp_path, interrupted):
    folder = interrupted / "checkpoints"
    milestone = next(iter((folder / "milestones").glob("*.ckpt")))
    (folder / "last.ckpt").write_bytes(milestone.read_bytes())
    said = []
    assert checkpoints.usable_checkpoint(folder, "hash0", said.append) == folder / "previous.ckpt"
    assert "last.ckpt: it was not written by this program, or holds only weights" in said[0]


def test_a_checkpoint_from_before_runs_were_named_in_it_is_continued(tmp_path, interrupted):
    for path in (interrupted / "checkpoints").glob("*.ckpt"):
        content = checkpoints.load(path)
        assert content["sparseid"].pop("run") == "hash0"
        torch.save(content, path)
    folder = execute(toy.toy_config(tmp_path))
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))


def test_a_repeated_run_continues_in_the_folder_that_it_is_moved_to(tmp_path):
    """Its checkpoints name the run, not the folder."""
    folder = execute(toy.toy_config(tmp_path, force=True, **SHORT))
    (folder / "result.json").unlink()
    assert execute(toy.toy_config(tmp_path, **SHORT)) == folder
    assert RunFolder(folder).state == "done"


def test_every_checkpoint_is_plain(tmp_path):
    folder = execute(toy.toy_config(tmp_path, **SHORT)) / "checkpoints"
    for path in folder.rglob("*.ckpt"):
        assert "net.0.weight" in torch.load(path, weights_only=True)["state_dict"]


def test_a_pickled_object_is_refused(tmp_path, interrupted):
    for name in ("last.ckpt", "previous.ckpt"):
        torch.save({"state_dict": {}, "sparseid": Path("x")}, interrupted / "checkpoints" / name)
    with pytest.raises(RunError, match=r"No checkpoint can be read"):
        execute(toy.toy_config(tmp_path))


# Damaged results


def test_a_done_run_whose_arrays_are_cut_repeats_its_tests(tmp_path, capsys, monkeypatch):
    folder = execute(toy.toy_config(tmp_path, **SHORT))
    expected, arrays = toy.results(folder), (folder / "arrays.npz").read_bytes()
    truncate(folder / "arrays.npz")
    assert RunFolder(folder).state == "failed"
    assert f"{folder / 'arrays.npz'} is damaged" in RunFolder(folder).message
    monkeypatch.setattr(toy.ToyModule, "training_step", lambda self, batch, batch_idx: 1 / 0)
    execute(toy.toy_config(tmp_path, **SHORT))
    assert "arrays.npz is missing or damaged: the tests are repeated" in capsys.readouterr().out
    assert RunFolder(folder).state == "done"
    assert toy.results(folder) == expected
    assert (folder / "arrays.npz").read_bytes() == arrays


# Full disk, unwritable folder, old schema


def test_full_disk(tmp_path, monkeypatch):
    written = []
    replace_file = checkpoints.replace_file

    def full(path, write):
        if len(written) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        replace_file(path, write)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "replace_file", full)
        with pytest.raises(RunError, match=rf"no space left for {tmp_path}/toy-seed0 .*; free some, then run the same"):
            execute(toy.toy_config(tmp_path))
    folder = tmp_path / "toy-seed0"
    status = json.loads((folder / "status.json").read_text())
    assert status["state"] == "failed"
    assert "no space left" in status["message"]
    assert "Traceback" in (folder / "log.txt").read_text()
    assert checkpoints.load(folder / "checkpoints" / "last.ckpt")["global_step"] == 21
    execute(toy.toy_config(tmp_path))
    assert toy.results(folder) == toy.results(execute(toy.toy_config(tmp_path / "undisturbed")))


def test_half_written_checkpoint_is_not_left(tmp_path):
    io = checkpoints.AtomicCheckpointIO("hash0")
    io.save_checkpoint({"state_dict": {"a": torch.ones(1)}}, tmp_path / "last.ckpt")
    io.save_checkpoint({"state_dict": {"a": torch.zeros(1)}}, tmp_path / "last.ckpt")
    assert checkpoints.load(tmp_path / "previous.ckpt")["state_dict"]["a"] == 1
    with pytest.raises(TypeError):
        io.save_checkpoint({"state_dict": {"a": (i for i in range(3))}}, tmp_path / "last.ckpt")
    assert checkpoints.load(tmp_path / "last.ckpt")["state_dict"]["a"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["last.ckpt", "previous.ckpt"]


def test_unwritable_outputs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"Cannot write to .*outputs=FOLDER"):
        execute(toy.toy_config(tmp_path / "file"))


def test_older_schema(tmp_path):
    folder = execute(toy.toy_config(tmp_path, **SHORT))
    config = folder / "config.yaml"
    config.write_text(config.read_text().replace("schema: 1", "schema: 0"))
    before = contents(folder)
    with pytest.raises(RunError, match=r"config\.yaml has schema version 0, this code has 1.*force=true"):
        execute(toy.toy_config(tmp_path, **SHORT))
    assert contents(folder) == before
    execute(toy.toy_config(tmp_path, force=True, **SHORT))
    assert yaml.safe_load(config.read_text())["schema"] == 1


# Errors and divergence


def test_exception(tmp_path, monkeypatch):
    monkeypatch.setattr(toy.ToyModule, "validation_step", lambda self, batch, batch_idx: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        execute(toy.toy_config(tmp_path))
    folder = RunFolder(tmp_path / "toy-seed0")
    assert folder.read_status()["message"] == "ZeroDivisionError: division by zero"
    assert folder.state == "failed"
    assert "ZeroDivisionError" in (folder.path / "log.txt").read_text()
    assert not folder.result.exists()


@pytest.mark.parametrize("step", [0, 23])
def test_diverged(tmp_path, step):
    with pytest.raises(RunDiverged, match=rf"has diverged: the loss is not finite at step {step + 1}$"):
        execute(toy.toy_config(tmp_path, diverge_at=step, save_every_s=0.0))
    folder = RunFolder(tmp_path / "toy-seed0")
    assert folder.state == "diverged"
    assert not folder.result.exists()
    if step:
        weights = checkpoints.load(folder.checkpoints / "last.ckpt")["state_dict"]
        assert all(torch.isfinite(tensor).all() for tensor in weights.values())
    with pytest.raises(RunDiverged, match=f"not finite at step {step + 1}.*force=true repeats it"):
        execute(toy.toy_config(tmp_path))


# Forced runs


def test_forced_run_replaces_the_old_one_when_it_is_done(tmp_path):
    folder = execute(toy.toy_config(tmp_path, **SHORT))
    (folder / "figures").mkdir()
    before = contents(folder)
    with pytest.raises(toy.Killed):
        execute(toy.toy_config(tmp_path, force=True, hook="training_step", kill_at=12, **SHORT))
    kept = contents(folder)
    assert {path: kept[path] for path in before} == before
    assert toy.results(folder)[0]
    execute(toy.toy_config(tmp_path, **SHORT))  # not forced: the old result stands
    assert (folder / "remake").exists()
    execute(toy.toy_config(tmp_path, force=True, **SHORT))
    assert not (folder / "remake").exists()
    assert not (folder / "figures").exists()
    assert contents(folder).keys() == before.keys()
    assert toy.results(folder)[0] == toy.results(execute(toy.toy_config(tmp_path / "undisturbed", **SHORT)))[0]


@pytest.mark.parametrize("stage", ["moved out", "old aside", "new in place"])
def test_killed_while_replacing(tmp_path, stage):
    folder = RunFolder(tmp_path / "run")
    (folder.remake.path).mkdir(parents=True)
    (folder.path / "result.json").write_text("old")
    (folder.remake.path / "result.json").write_text("new")
    folder.remake.path.rename(tmp_path / ".run.remade")
    if stage != "moved out":
        folder.path.rename(tmp_path / ".run.replaced")
    if stage == "new in place":
        (tmp_path / ".run.remade").rename(folder.path)
    with folder.lock():
        assert folder.result.read_text() == "new"
    assert {path.name for path in tmp_path.iterdir()} <= {"run", ".run.lock"}
