"""Two users of one group, whatever their umask: real users, so that these tests need root."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ALICE, BOB, GROUP = 1, 2, 60  # users of every system (daemon, bin) and a group
NAME = "daemon"

WRITES = """
import os, sys
from pathlib import Path
from sparseid.config.compose import compose
from sparseid.config.identity import run_directory
from sparseid.launching.local import serialize
from sparseid.launching.one_run import check_outputs
from sparseid.files import replaced_folder, write_text
from sparseid.papers.recorded import write_table
from sparseid.training.run_folder import RunFolder
os.umask(0o022)
outputs = sys.argv[1]
check_outputs(outputs)
run = compose(["scale=smoke", f"outputs={outputs}"])
serialize(run)
folder = RunFolder(run_directory(run))
with folder.lock():
    folder.open(run)
    folder.write_status("running")
    folder.log("begun")
    with replaced_folder(folder.path / "figures") as figures:
        write_text(figures / "one.svg", "drawn")
report = Path(outputs) / "report" / "smoke"
report.mkdir(parents=True, exist_ok=True)
write_text(report / "index.html", str(os.getuid()))
print(report.joinpath("index.html").read_text())
"""


@pytest.fixture
def shared(require_program):
    """A folder of a group, as an administrator makes it."""
    if os.getuid() != 0:
        pytest.skip("only root can be two users")
    require_program("setpriv")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(folder, ALICE, GROUP)
    folder.chmod(0o2775)
    yield folder
    shutil.rmtree(folder)


def by(user, *command):
    """Run Python as a user, who may read everything (the interpreter may be in root's home) but write as usual."""
    caps = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    who = ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={GROUP}", *caps]
    done = subprocess.run([*who, sys.executable, *map(str, command)], capture_output=True, text=True, umask=0o022)
    return done.returncode, done.stdout + done.stderr


def left_over(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


def test_what_one_of_a_group_makes_the_other_continues(shared):
    outputs = shared / "new" / "outputs"
    assert by(ALICE, "-c", WRITES, outputs) == (0, f"{ALICE}\n")
    assert by(BOB, "-c", WRITES, outputs) == (0, f"{BOB}\n")
    assert by(ALICE, "-c", WRITES, outputs) == (0, f"{ALICE}\n")
    assert left_over(shared) == []
    assert {path.stat().st_gid for path in shared.rglob("*")} == {GROUP}


def test_a_folder_that_is_not_shared_is_refused_with_what_its_owner_must_do(shared):
    command = ["run.py", "scale=smoke", "seed=0,1", f"outputs={shared}/outputs"]
    (shared / "outputs").mkdir()
    os.chown(shared / "outputs", ALICE, GROUP)  # 755
    (shared / "outputs").chmod(0o755)
    code, said = by(BOB, *command)
    assert code == 2, said
    remedy = f"belongs to {NAME}: to share results, {NAME} sets chmod -R g+rwX,g+s on the folder of runs"
    assert f"{shared}/outputs {remedy}" in said
    (shared / "outputs").chmod(0o2775)
    (shared / "outputs" / "jobs").mkdir()  # of a version that left it to the umask
    os.chown(shared / "outputs" / "jobs", ALICE, GROUP)
    code, said = by(BOB, *command)
    assert code == 2, said
    assert f"{shared}/outputs/jobs {remedy}" in said
    assert "Traceback" not in said
    assert left_over(shared) == []
    assert not (shared / "outputs" / "smoke").exists()


def test_a_folder_of_ones_own_stays_as_the_umask_says(shared):
    shared.chmod(0o755)
    assert by(ALICE, "-c", WRITES, shared / "outputs")[0] == 0
    assert all(path.stat().st_mode & 0o022 == 0 for path in shared.rglob("*") if not path.name.endswith(".lock"))
