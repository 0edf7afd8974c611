"""A package from outside, end to end: ``tests/example_extension`` brings a data set, a method and a paper."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "tests" / "example_extension" / "toy_sparsity"
SMALL = ["experiment=toy/fig1", "scale=small"]


@dataclasses.dataclass(frozen=True)
class Shell:
    """A folder of runs, and the environment in which commands find the package."""

    outputs: Path
    environment: dict[str, str]

    def popen(self, *command: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=os.environ | self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __call__(self, *command: str) -> tuple[int, str]:
        process = self.popen(*command)
        said, _ = process.communicate()
        return process.returncode, said

    def run(self, *arguments: str) -> tuple[int, str]:
        return self("run.py", f"outputs={self.outputs}", *arguments)

    def folder(self, scale: str, seed: int) -> Path:
        (found,) = self.outputs.glob(f"{scale}/toy/sparselinear-lasso-penalty0.3-seed{seed}-*")
        return found


def numbers(folder: Path) -> list[dict]:
    """Return the rows of a run without when and by what they were made."""
    rows = json.loads((folder / "result.json").read_text())["rows"]
    return [{key: value for key, value in row.items() if key not in ("written", "commit", "dirty")} for row in rows]


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Commands that find the package by SPARSEID_EXTENSIONS."""
    return Shell(tmp_path_factory.mktemp("outputs"), {"SPARSEID_EXTENSIONS": str(EXAMPLE)})


@pytest.fixture(scope="module")
def swept(shell):
    """Output of the command that ran Figure 1 for two seeds, each run in its own process."""
    code, said = shell.run(*SMALL, "seed=0,1", "method.penalty=0.0,0.3", "hydra.launcher.jobs=2")
    assert code == 0, said
    return said


def test_help_lists_it(shell):
    code, said = shell("run.py", "--help")
    assert code == 0
    text = " ".join(said.split())
    assert "toy/fig1 Toy, Figure 1: F1 of the support against the penalty of the lasso (toy_sparsity)" in text
    assert "lasso lasso: linear regression with an L1 penalty (toy_sparsity)" in text
    assert "sparse_linear labels that are linear in a few of many features, with noise (toy_sparsity)" in text


@pytest.mark.parametrize(
    ("overrides", "wanted"),
    [
        (["experiment=toy/fgi1"], "did you mean: toy/fig1"),
        (["method.penalti=1"], "did you mean: method.penalty"),
        (["data.relevant=0"], "data.relevant must be at least 1"),
        (["data.relevant=50"], "data.relevant exceeds data.features"),
        (["data=zeisel"], "lasso cannot be trained on zeisel"),
    ],
)
def test_mistakes_are_named(shell, overrides, wanted):
    code, said = shell.run("experiment=toy/fig1", "scale=smoke", *overrides)
    assert code == 2
    assert wanted in said


def test_it_is_planned(shell):
    code, said = shell("scripts/plan.py", f"outputs={shell.outputs}", "experiment=toy/fig1", "scale=paper", "--json")
    assert code == 0, said
    assert sum(len(artefact["runs"]) for artefact in json.loads(said)["artefacts"]) == 30
    code, said = shell("scripts/plan.py", "--outputs", str(shell.outputs), "--scale", "paper", "--only", "toy")
    assert code == 0, said
    assert "toy/fig1" in said


def test_a_killed_run_resumes_to_the_same_numbers(shell, swept, tmp_path):
    other = dataclasses.replace(shell, outputs=tmp_path)
    one = [*SMALL, "hydra.mode=RUN", "seed=1", "method.penalty=0.3"]
    process = other.popen("run.py", f"outputs={tmp_path}", *one, "trainer.save_every_s=0")
    while process.poll() is None and not any(tmp_path.glob("small/toy/*/checkpoints/last.ckpt")):
        time.sleep(0.005)
    process.kill()
    process.communicate()
    folder = other.folder("small", 1)
    assert not (folder / "result.json").exists()
    code, said = other.run(*one)
    assert code == 0, said
    assert "resum" in (folder / "log.txt").read_text() + said
    assert numbers(folder) == numbers(shell.folder("small", 1))


def test_it_is_reported(shell, swept):
    assert "4 runs over seed, method.penalty" in swept
    pages = {path.name: path.read_text() for path in shell.outputs.rglob("*.html")}
    page = pages["toy.html"]
    assert "Support recovery by the lasso" in page
    assert "Figure 1: F1 of the support against the penalty" in page
    assert "With a penalty of 0.3 the support is found better than without" in page
    assert "holds" in page
    assert "Support recovery by the lasso" in pages["index.html"]
    table = next(shell.outputs.rglob("toy-fig1*.md")).read_text()
    assert "F1 of the support" in table
    assert any(shell.outputs.rglob("toy-fig1*.svg"))


def test_an_installed_package_runs_what_was_planned(shell, swept, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "site" / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__"))
    info = tmp_path / "site" / "toy_sparsity-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-sparsity\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sparseid.extensions]\ntoy_sparsity = toy_sparsity\n")
    installed = Shell(tmp_path / "outputs", {"PYTHONPATH": str(tmp_path / "site")})
    assert "(toy_sparsity)" in installed("run.py", "--help")[1]

    text = (shell.folder("small", 1) / "config.yaml").read_text()
    frozen = tmp_path / "frozen.yaml"
    frozen.write_text(text.replace(str(shell.outputs), str(installed.outputs)))
    code, said = installed("-m", "sparseid.launching.job", str(frozen))
    assert code == 0, said
    assert numbers(installed.folder("small", 1)) == numbers(shell.folder("small", 1))


def test_a_broken_paper_is_named_before_any_run_begins(tmp_path):
    paper = tmp_path / "with_a_broken_paper" / "papers" / "broken" / "__init__.py"
    paper.parent.mkdir(parents=True)
    paper.write_text("import no_such_module")
    shell = Shell(tmp_path / "outputs", {"SPARSEID_EXTENSIONS": str(tmp_path / "with_a_broken_paper")})
    code, said = shell.run("scale=smoke")
    assert code == 2
    assert "error: with_a_broken_paper.papers.broken cannot be imported: ModuleNotFoundError" in said
    assert "remove the extension with_a_broken_paper (SPARSEID_EXTENSIONS=" in said
    assert not any(shell.outputs.rglob("status.json"))


def test_an_error_in_a_module_that_settings_name_is_shown_without_our_traceback(tmp_path):
    package = tmp_path / EXAMPLE.name
    shutil.copytree(EXAMPLE, package, ignore=shutil.ignore_patterns("__pycache__"))
    module = package / "methods" / "lasso" / "module.py"
    text = module.read_text()
    module.write_text(f"{text}\nnot_defined\n")
    shell = Shell(tmp_path / "outputs", {"SPARSEID_EXTENSIONS": str(package)})
    code, said = shell.run("experiment=toy/fig1", "scale=smoke", "hydra.mode=RUN")
    assert code == 2
    assert "toy_sparsity.methods.lasso.module cannot be imported: NameError: name 'not_defined' is not defined" in said
    assert f"from: {module}:{len(text.splitlines()) + 2}" in said
    assert "Traceback" not in said


def test_without_the_package_its_run_is_refused_by_name(shell, swept):
    without = dataclasses.replace(shell, environment={})
    code, said = without("-m", "sparseid.launching.job", str(shell.folder("small", 1) / "config.yaml"))
    assert code == 2
    assert "lasso" in said
    assert "Traceback" not in said
