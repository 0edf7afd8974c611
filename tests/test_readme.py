"""Promises of the README."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sparseid.config.compose import compose
from sparseid.config.validate import absent

PROJECT = Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs_and_does_what_its_comments_say():
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    names: dict = {}
    exec(code, names)
    share = float((names["motifs"] > 0).float().mean())
    assert 0 < share < 0.6  # the moving threshold starts at 0 and closes in on the quantile
    assert names["layer"].density == pytest.approx(0.0075)
    for _ in range(60):
        motifs = names["layer"](names["torch"].randn(32, 10, 28, 28))
    assert float((motifs > 0).float().mean()) == pytest.approx(0.0075, rel=0.2)


def test_the_attribution_example_runs_and_returns_the_map_that_it_names():
    section = README.split("## Attribution maps of your own encoder")[1]
    code = re.search(r"```python\n(.*?)```", section, re.S).group(1)
    names: dict = {}
    exec(code, names)
    assert names["attributions"].shape == (6, 50)
    assert (names["attributions"] > 0).all()
    for method in re.findall(r"`(\w+)`", section.split("Methods:")[1].split("The module")[0]):
        mapped = names["attribution_map"](names["encoder"], names["inputs"][:20], method)
        assert mapped.shape == (6, 50)


def test_the_file_of_ones_own_data_is_one_that_the_command_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    section = README.split("## Attribution maps of your own data")[1]
    exec(re.search(r"```python\n(.*?)```", section, re.S).group(1), {})
    command = re.search(r"python run.py (.*?) +#", section).group(1).split()
    run = compose(command)
    assert absent(run) == []
    assert (run.scale, run.data.latents, len(run.seeds)) == ("small", 4, 3)


def test_the_shown_error_message_is_the_real_one():
    shown = re.search(r"```\n\$ python run.py (.*?)\n(.*?)```", README, re.S)
    done = subprocess.run(
        [sys.executable, "run.py", *shown.group(1).split()], cwd=PROJECT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    for line in shown.group(2).strip().splitlines():
        assert line in done.stderr


def test_every_link_and_make_target_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (PROJECT / target).exists(), target
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z][a-z-]*)", README):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_every_experiment_of_the_readme_is_a_preset_and_the_other_way_round():
    presets = {
        str(path.relative_to(PROJECT / "configs/experiment").with_suffix(""))
        for path in (PROJECT / "configs/experiment").rglob("*.yaml")
        if "at" not in path.relative_to(PROJECT / "configs/experiment").parts
    }
    listed = set(re.findall(r"^\| `([a-z0-9_/]+)` \|", README, re.M))
    assert listed == presets
