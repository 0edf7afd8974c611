"""Promises of the README."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from sparseid.config.choices import choices
from sparseid.config.compose import compose
from sparseid.config.validate import missing_files
from sparseid.metrics.attribution.maps import Method

PROJECT = Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    path
    for folder, pattern in ((".", "*.md"), ("docs", "*.md"), ("data", "*.md"), ("outputs", "*.md"), ("src", "**/*.md"))
    for path in (PROJECT / folder).glob(pattern)
)


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


@pytest.mark.filterwarnings("ignore:not better than a baseline")
def test_the_example_of_annotated_data_writes_what_its_comment_names():
    section = README.split("## Methods as estimators")[1]
    code = re.search(r"```python\n(.*?)```", section, re.S).group(1)
    names: dict = {}
    exec(code, names)
    for place, entry in re.findall(r'(\w+)\["(\w+)"\]', code.split("#")[1]):
        assert len(getattr(names["cells"], place).pop(entry)) == {"obsm": 60, "varm": 3}[place]
    assert not names["cells"].obsm
    assert not names["cells"].varm


def test_the_attribution_example_runs_and_returns_the_map_that_it_names():
    section = README.split("## Attribution maps of your own encoder")[1]
    code = re.search(r"```python\n(.*?)```", section, re.S).group(1)
    names: dict = {}
    exec(code, names)
    assert names["attributions"].shape == (6, 50)
    assert (names["attributions"] > 0).all()
    methods = re.findall(r"`(\w+)`", section.split("Five methods:")[1].split("The module")[0])
    assert set(methods) == set(get_args(Method))
    assert len(methods) == 5
    for method in methods:
        mapped = names["sparseid"].attribution_map(names["encoder"], names["inputs"][:20], method)
        assert mapped.shape == (6, 50)


def test_the_file_of_ones_own_data_is_one_that_the_command_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    section = README.split("## Attribution maps of your own data")[1]
    exec(re.search(r"```python\n(.*?)```", section, re.S).group(1), {})
    command = re.search(r"python run.py (.*?) +#", section).group(1).split()
    run = compose(command)
    assert missing_files(run) == []
    assert (run.scale, run.data.latents, len(run.seeds)) == ("small", 4, 3)


def test_the_shown_error_message_is_the_real_one():
    shown = re.search(r"```\n\$ python run.py (.*?)\n(.*?)```", README, re.S)
    done = subprocess.run(
        [sys.executable, "run.py", *shown.group(1).split()], cwd=PROJECT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2
    for line in shown.group(2).strip().splitlines():
        assert line in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.M)
            assert anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings], anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(PROJECT).as_posix())
def test_commands_exist(page):
    text = page.read_text(encoding="utf-8")
    fenced = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
    code = "\n".join([*fenced.findall(text), *re.findall(r"`([^`\n]+)`", fenced.sub("", text))])
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z][a-z-]*)", code, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for script in re.findall(r"^python (\w[\w/]*\.py)", code, re.M):
        assert (PROJECT / script).is_file(), script


def test_each_preset_is_listed_on_the_page_of_its_paper_once():
    pages = (PROJECT / "src" / "sparseid" / "papers").glob("*/README.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert sorted(re.findall(r"^\| `([a-z0-9_/]+)` \|", text, re.M)) == sorted(choices("experiment"))


def test_the_first_screen_shows_the_two_commands_and_a_picture():
    screen = README.splitlines()[:30]
    assert [line.split()[1] for line in screen if line.startswith("make ")] == ["demo", "test"]
    [picture] = re.findall(r"^!\[.+\]\((.+)\)$", "\n".join(screen), re.M)
    assert (PROJECT / picture).stat().st_size < 200_000


def test_the_map_of_the_code_names_files_that_exist():
    source = PROJECT / "src" / "sparseid"
    for name in re.findall(r"`([a-z_/]+\.py)`", (source / "README.md").read_text(encoding="utf-8")):
        assert (source / name).is_file() or list(source.rglob(name)), name
