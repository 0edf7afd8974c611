"""Bad input and a hostile machine: the documented exit code, one message that says what to do, nothing lost."""

import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from sparseid.config.compose import compose
from sparseid.data.digit_circle.generator import distribution
from sparseid.errors import InputError
from sparseid.launching.main import main

GLYPHS = Path(sys.modules[distribution.__module__].__file__).with_name("compact.txt")


def contents(folder):
    """Files below a folder, but for the two that say how a run ended."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("status.json", "log.txt"))
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def refused(capfd, *overrides):
    """Run the command in this process; return exit code and message, of which there is one, without a traceback."""
    code = main(["scale=smoke", *overrides])
    said = "".join(capfd.readouterr())
    assert "Traceback" not in said
    assert said.count("error: ") == 1
    return code, said


# The configuration


@pytest.fixture
def equal_digits(tmp_path):
    """A glyph file whose 1 looks like its 0."""
    zero, _, *others = GLYPHS.read_text().split("\n\n")
    path = tmp_path / "glyphs.txt"
    path.write_text("\n\n".join([zero, zero.replace("\n0\n", "\n1\n"), *others]))
    return path


@pytest.mark.parametrize(
    ("overrides", "wanted"),
    [
        (["data.glyphs={equal}"], ["0 and 1 have the same bitmap", "Redraw one", "(command line: data.glyphs="]),
        (["data.glyphs={missing}"], ["not a readable glyph file", "Use one of tall, compact or a path"]),
        (["data.classes=11"], ["data.classes must be between 1 and 10", "(command line: data.classes=11)"]),
        (["method.schedule.min_density=1e-5"], ["12800 positions", "min_density to 7.81e-05 or more"]),
        (["trainer.max_samples=31"], ["not even one batch", "raise trainer.max_samples or lower trainer.batch_size"]),
        (["trainer.accelerator=gpu"], ["this machine cannot train with trainer.accelerator=gpu", "trainer=cpu"]),
    ],
    ids=lambda value: value[0].partition("=")[0] if "=" in value[0] else "",
)
def test_setting_that_cannot_work(overrides, wanted, equal_digits, smoke, capfd):
    if overrides == ["trainer.accelerator=gpu"]:
        import torch

        if torch.cuda.is_available():
            pytest.skip("this machine has a GPU")
    given = [text.format(equal=equal_digits, missing=equal_digits.with_name("no.txt")) for text in overrides]
    code, said = refused(capfd, f"outputs={smoke.outputs}", *given)
    assert code == 2
    for words in wanted:
        assert words in said


def test_glyph_file_is_looked_at_before_torch_is_imported(equal_digits, smoke):
    code, said = smoke.run(f"data.glyphs={equal_digits}", env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"})
    assert code == 2
    assert "torch" not in {line.rpartition("|")[2].strip() for line in said.splitlines()}
    assert not smoke.outputs.exists()


def test_input_found_wrong_only_by_the_run(smoke, monkeypatch, capfd):
    """An error that a data set raises late is shown like any other invalid input."""

    def changed(cfg):
        raise InputError("glyphs.txt has changed since the command was typed: type it again")

    monkeypatch.setattr("sparseid.training.recipe.build_data", changed)
    code, said = refused(capfd, f"outputs={smoke.outputs}")
    assert code == 2
    assert said.rstrip().endswith("type it again")
    assert '"failed"' in (smoke.folder / "status.json").read_text()


# The folder of runs


def test_outputs_below_a_file(tmp_path, capfd):
    (tmp_path / "file").write_text("kept")
    code, said = refused(capfd, f"outputs={tmp_path}/file/runs")
    assert code == 2
    assert "cannot write to the folder of runs" in said
    assert "set a writable folder: outputs=FOLDER" in said
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only folders")
def test_read_only_outputs(tmp_path, capfd):
    tmp_path.chmod(0o555)
    try:
        code, said = refused(capfd, f"outputs={tmp_path}")
    finally:
        tmp_path.chmod(0o755)
    assert code == 2
    assert f"cannot write to the folder of runs {tmp_path}" in said


# What an earlier run left


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, smoke_at):
    """The outputs of a smoke run that was killed when it had two checkpoints."""
    smoke = smoke_at(tmp_path_factory.mktemp("interrupted"))
    process = smoke.start()
    while not (smoke.folder / "checkpoints" / "previous.ckpt").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return smoke.outputs


@pytest.fixture
def left(interrupted, smoke):
    """A copy of the interrupted run."""
    shutil.copytree(interrupted, smoke.outputs)
    return smoke


def files_up_to(kilobytes):
    """Stand in for a full disk: the operating system refuses to let any file grow further."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))


@pytest.mark.parametrize("kilobytes", [1, 100], ids=["first file", "checkpoint"])
def test_full_disk(kilobytes, left):
    """Going on afterwards is going on after a kill."""
    before = contents(left.folder / "checkpoints")
    code, said = left.run(preexec_fn=files_up_to(kilobytes))
    assert code == 1
    assert "Traceback" not in said
    assert said.count("error: ") == 1
    assert str(left.folder) in said
    assert "free some" in said.lower()
    assert contents(left.folder / "checkpoints") == before


def test_full_disk_when_the_report_is_made(smoke, undisturbed, capfd):
    shutil.copytree(undisturbed.outputs / "smoke", smoke.outputs / "smoke")
    shutil.rmtree(smoke.folder / "figures")
    rows = (smoke.folder / "result.json").read_bytes()
    code, said = smoke.run(preexec_fn=files_up_to(4))
    assert code == 1
    assert "Traceback" not in said
    assert "its report failed" in said
    assert "free some, then repeat the command" in said
    assert (smoke.folder / "result.json").read_bytes() == rows
    assert main(["scale=smoke", f"outputs={smoke.outputs}"]) == 0
    assert "Report:" in capfd.readouterr().out


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("damaged", [["last.ckpt"], ["last.ckpt", "previous.ckpt"]])
def test_no_whole_checkpoint(damaged, left, capfd):
    checkpoints = left.folder / "checkpoints"
    for name in damaged:
        truncate(checkpoints / name)
    if damaged == ["last.ckpt"]:
        (checkpoints / "previous.ckpt").unlink()
    before = contents(checkpoints)
    code, said = refused(capfd, f"outputs={left.outputs}")
    assert code == 1
    assert "No checkpoint can be read; nothing was changed" in said
    assert all(f"{checkpoints / name}: " in said for name in damaged)
    assert f"To start again, delete {checkpoints} or set force=true" in said
    assert contents(checkpoints) == before


@pytest.mark.slow
def test_truncated_checkpoint_with_a_whole_one_before_it(left, undisturbed):
    truncate(left.folder / "checkpoints" / "last.ckpt")
    code, said = left.run()
    assert code == 0, said
    assert "damaged checkpoint, resuming from previous.ckpt" in said
    assert "Warning" not in said
    assert left.numbers() == undisturbed.numbers()


@pytest.mark.parametrize("state", ["running", "done"])
def test_older_schema(state, left, capfd):
    config = left.folder / "config.yaml"
    schema = compose(["scale=smoke"]).schema
    config.write_text(config.read_text().replace(f"schema: {schema}", "schema: 0"))
    status = left.folder / "status.json"
    status.write_text(status.read_text().replace('"running"', f'"{state}"'))
    before = contents(left.folder)
    code, said = refused(capfd, f"outputs={left.outputs}")
    assert code == 1
    assert f"{config} has schema version 0, this code has {schema}" in said
    assert "force=true" in said
    assert contents(left.folder) == before
