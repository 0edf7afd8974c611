"""``--help data=zeisel``: the settings of a component."""

import subprocess
import sys

import pytest

from sparseid.config.components import FOLDERS, component_names
from sparseid.config.search_path import CONFIGS
from sparseid.launching.component_help import component_pages
from sparseid.launching.main import main


@pytest.mark.parametrize("group", FOLDERS)
def test_every_component_has_a_page(group):
    for name in component_names(group):
        page = component_pages([f"{group}={name}"], [CONFIGS])
        assert page.startswith(f"{group}={name}: ")
        assert max(map(len, page.splitlines())) <= 120


def test_a_page_shows_documentation_value_and_range(capsys):
    assert main(["--help", "data=zeisel"]) == 0
    page = capsys.readouterr().out
    assert "  data.genes=558\n      Final number of genes: those that vary most after normalisation.\n" in page
    assert "[a whole number, at least 2]" in page
    assert "[sample, original]" in page
    assert main(["--help", "method=sparling"]) == 0
    assert "  method.sparse.momentum=0.1\n" in capsys.readouterr().out


def test_an_unknown_component_is_answered_with_the_nearest(capsys):
    assert main(["--help", "method=sparlin"]) == 2
    assert "did you mean: sparling" in capsys.readouterr().err


def test_help_of_nothing_in_particular_is_the_whole_page(capsys):
    assert main(["--help", "experiment=digitcircle"]) == 0
    assert "usage: python run.py" in capsys.readouterr().out


def test_a_page_needs_neither_torch_nor_hydra():
    code = (
        "import sys; from pathlib import Path; from sparseid.launching.component_help import component_pages\n"
        "component_pages(['data=gtex'], [Path('configs')])\n"
        "print([name for name in ('torch', 'hydra', 'omegaconf', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
