"""Generated parts of READMEs and recipes, and their figures, are up to date."""

import importlib.util
import re
from pathlib import Path

import matplotlib
import pytest

from sparseid.reporting.collect import collect

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "outputs" / "recorded"
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")
IDENTIFIER = re.compile(r"\b[a-z]+[0-9a-f]{10}\b")
"""Matplotlib's names of markers and clipping paths, hashes of their coordinates."""


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("readmes", ROOT / "scripts" / "readmes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generated(collect(tmp_path_factory.mktemp("no_runs"), recorded=RECORDED))


def test_every_page_is_as_it_would_be_written_now(generated):
    for path, text in generated.items():
        if path.suffix == ".md":
            assert path.read_text(encoding="utf-8") == text, f"{path.relative_to(ROOT)} is out of date: make readmes"


def test_every_figure_is_as_it_would_be_drawn_now(generated):
    figures = {path: text for path, text in generated.items() if path.suffix == ".svg"}
    assert set((ROOT / "docs" / "figures").iterdir()) == set(figures)
    for path, text in figures.items():
        before = path.read_text(encoding="utf-8")
        if f"Matplotlib v{matplotlib.__version__}," not in before:
            pytest.skip(f"the figures were drawn by another version of Matplotlib than {matplotlib.__version__}")
        before, now = (IDENTIFIER.sub("", version) for version in (before, text))
        assert NUMBER.sub("", before) == NUMBER.sub("", now), f"{path.name} is out of date: make readmes"
        numbers = ([float(number) for number in NUMBER.findall(version)] for version in (before, now))
        assert next(numbers) == pytest.approx(next(numbers), abs=0.5), f"{path.name} is out of date: make readmes"


def test_pages_of_all_papers_have_a_table_a_figure_and_presets(generated):
    pages = [path for path in generated if path.parent.parent.name == "papers"]
    assert len(pages) == 5
    for path in pages:
        kinds = re.findall(r"<!-- (\w+): ", generated[path])
        assert kinds == ["table", "figure", "presets"], path
        assert len(re.findall(r"^\| (---)", generated[path], re.M)) == 2, path
