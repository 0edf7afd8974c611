"""An installation without optional groups: what it can do, and the line that names the group of what it lacks."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[1]
CORE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]


def needed(asked):
    """Return the installed distributions that requirements lead to, by their normal names."""
    found, waiting = {}, [(Requirement(line), "") for line in asked]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # of another platform
            continue
        for chosen in ("", *requirement.extras):
            if (name, chosen) not in seen:
                seen.add((name, chosen))
                waiting += [(Requirement(line), chosen) for line in found[name].requires or []]
    return found


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """Return a function that executes code where only the packages of the core can be imported."""
    place = tmp_path_factory.mktemp("light")
    for package in needed(CORE).values():
        for top in {Path(str(file)).parts[0] for file in package.files or [] if ".." not in str(file)}:
            target, link = Path(str(package.locate_file(top))), place / top
            if not link.exists() and target.exists() and top != "__pycache__":
                link.symlink_to(target)

    def executed(code, *arguments):
        paths = f"import sys; sys.path[:0] = [{str(PROJECT / 'src')!r}, {str(place)!r}]\n"
        command = [sys.executable, "-S", "-c", paths + code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=place.parent, timeout=600)

    return executed


def test_the_core_has_no_packages_of_cells_audio_and_dashboards():
    heavy = {"anndata", "scanpy", "torchaudio", "torchvision", "wandb", "transformers", "diffusers", "numba"}
    assert heavy.isdisjoint(needed(CORE))


FIT = """
import numpy as np, sparseid, torch
for name in sparseid.__all__:
    getattr(sparseid, name)
table = np.random.default_rng(0).normal(size=(40, 3))
model = sparseid.SparseVAE(latents=2, preset="smoke", device="cpu").fit(table)
attributions = sparseid.attribution_map(torch.nn.Linear(3, 2), torch.from_numpy(table).float())
print(model.transform(table).shape, tuple(attributions.shape))
"""


def test_all_public_names_are_there_and_an_estimator_is_fitted(light):
    done = light(FIT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(40, 2) (2, 3)\n"


COMMAND = "from sparseid.__main__ import run; sys.exit(run())"


@pytest.mark.parametrize(
    ("words", "package", "group"),
    [
        (["experiment=audiomnist", "scale=smoke"], "torchaudio", "audio"),
        (["experiment=tbr/fig4", "scale=smoke", "logger=wandb"], "wandb", "dashboards"),
        (["experiment=tbr/fig5a", "scale=smoke", "data.source=semi_synthetic"], "anndata", "cells"),
        (["experiment=tbr/fig5a", "scale=smoke"], "scanpy", "cells"),
        (["experiment=sparse_vae/arrays", "scale=smoke", "data.path=cells.h5ad"], "anndata", "cells"),
        (["experiment=ddl/fig9", "scale=smoke"], "diffusers", "diffusion"),
        (["experiment=ddl/table3", "scale=smoke"], "transformers", "sae"),
    ],
)
def test_what_is_missing_is_named_with_its_group_before_anything_starts(light, tmp_path, words, package, group):
    (tmp_path / "cells.h5ad").write_bytes(b"never read")
    done = light(COMMAND, *[word.replace("=cells.", f"={tmp_path}/cells.") for word in words], f"outputs={tmp_path}")
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"the package {package} is not installed: pip install 'sparseid[{group}]' (make setup does)" in done.stderr
    assert "Traceback" not in done.stderr
