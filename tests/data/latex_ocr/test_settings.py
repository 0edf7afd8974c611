import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sparseid.config.identity import recipe_hash, row_keys
from sparseid.config.schema import RunConfig
from sparseid.data.latex_ocr.generator import RENDERERS
from sparseid.data.latex_ocr.settings import LatexOcrSettings
from sparseid.methods.sparling.settings import DensityScheduleSettings, SparlingSettings
from sparseid.settings import settings_errors

CONFIG = Path(__file__).resolve().parents[3] / "configs" / "data" / "latex_ocr.yaml"


def settings(**changes):
    stored = OmegaConf.load(CONFIG)
    del stored["defaults"]
    merged = OmegaConf.merge(OmegaConf.structured(LatexOcrSettings), stored, changes)
    return OmegaConf.to_object(merged)


def test_the_published_settings_are_possible():
    config = settings()
    assert (config.dpi, config.longest, config.white_flip, config.loop_size) == (200, 30, 0.25, 0)
    assert config.spatial == (120, 360)
    assert list(settings_errors(config, "data.", None)) == []
    assert list(config.missing_files()) == []


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"renderer": "latex"}, "data.renderer", "builtin or pdflatex"),
        ({"height": 0}, "data.height", "at least 1"),
        ({"dpi": 20}, "data.dpi", "between 50 and 1200"),
        ({"longest": 0}, "data.longest", "between 1 and 200"),
        ({"white_flip": 1.5}, "data.white_flip", "between 0 and 1"),
        ({"white_flip": float("nan")}, "data.white_flip", "between 0 and 1"),
        ({"loop_size": -1}, "data.loop_size", "at least 0"),
    ],
)
def test_impossible_settings(changes, key, message):
    ((keys, text),) = settings_errors(settings(**changes), "data.", None)
    assert keys == (key,)
    assert message in text


def test_a_canvas_that_cuts_off_every_long_formula():
    ((keys, text),) = settings_errors(settings(width=60), "data.", None)
    assert keys == ("data.width", "data.dpi", "data.longest")
    assert "every formula of data.longest=30 tokens would be cropped: at data.dpi=200" in text
    assert list(settings_errors(settings(width=60, dpi=100), "data.", None)) == []
    assert [keys[0] for keys, _ in settings_errors(settings(width=20, height=10), "data.", None)] == [
        "data.height",
        "data.width",
    ]


def test_tex_is_asked_for_before_the_run(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    ((keys, text),) = settings(renderer="pdflatex").missing_files()
    assert keys == ("data.renderer",)
    assert "apt-get install" in text


def test_checking_settings_imports_no_torch():
    code = (
        "import sys; from sparseid.data.latex_ocr.settings import LatexOcrSettings; "
        "from sparseid.settings import settings_errors; "
        "data = LatexOcrSettings(height=120, width=360, dpi=200, longest=30, white_flip=0.25); "
        "assert list(settings_errors(data, 'data.', None)) == list(data.missing_files()) == []; "
        "print(sorted({'torch', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_rows_have_the_domain_of_the_targets_and_renderers_are_different_recipes():
    densities = {"cut_factor": 0.75, "start_density": 0.5, "min_density": 1e-3}
    method = SparlingSettings(schedule=DensityScheduleSettings(**densities, target_fall_per_sample=1e-6))
    runs = [RunConfig(method=method, data=settings(renderer=renderer)) for renderer in RENDERERS]
    assert [row_keys(run)["domain"] for run in runs] == ["latex_ocr"] * 2
    assert len({recipe_hash(run) for run in runs}) == 2
