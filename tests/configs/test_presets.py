"""Every preset composes at every scale, is short, and says what it is."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from sparseid.config.choices import PICKED_GROUPS, choices, description, scales
from sparseid.config.components import component_names, settings_class, settings_classes
from sparseid.config.compose import compose
from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS
from sparseid.config.sweep import plan
from sparseid.papers.presets import planned_lines, recorded_presets

PRESETS = [(experiment, scale) for experiment in choices("experiment") for scale in scales(experiment)]
FILES = sorted(CONFIGS.rglob("*.yaml"))


@pytest.fixture
def no_user_files(tmp_path, monkeypatch):
    """Compose as where the user has placed no data."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    for name in ("GTEX_H5AD", "TF_TARGETS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("experiment", "scale"), PRESETS)
@pytest.mark.usefixtures("no_user_files")
def test_preset_composes_at_scale_to_the_runs_that_are_recorded(experiment, scale):
    planned = plan([f"experiment={experiment}", f"scale={scale}"])
    recorded = recorded_presets().get((experiment, scale), [])
    changed = sorted(set(planned_lines(planned)) ^ set(recorded))
    assert not changed, (
        f"experiment={experiment} scale={scale} asks for other runs than outputs/recorded/presets.csv says, so rows of "
        f"its old runs leave the report. If that is meant: make presets. First difference: {changed[0]}"
    )
    for trial in planned.trials:
        run = trial.run
        assert isinstance(run, RunConfig)
        assert type(run.method) is settings_class("method", run.method.name)
        assert type(run.data) is settings_class("data", run.data.name)
        assert (run.experiment, run.scale) == (experiment, scale)
        assert run_directory(run).parts[:3] == ("outputs", scale, run.paper)


def test_recorded_presets_exist():
    assert set(recorded_presets()) == set(PRESETS)


@pytest.mark.parametrize("experiment", choices("experiment"))
def test_preset_has_every_scale(experiment):
    assert scales(experiment) == choices("scale") == ["smoke", "small", "paper"]


@pytest.mark.parametrize("experiment", choices("experiment"))
def test_preset_begins_with_what_it_is_its_command_cost_and_expectation(experiment):
    text = (CONFIGS / "experiment" / f"{experiment}.yaml").read_text()
    assert description("experiment", experiment)
    for word in (f"python run.py experiment={experiment}", "# Paper:", "# Cost:", "# Expect:"):
        assert word in text
    assert text.count("\n") <= 40


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONFIGS)))
def test_file_is_one_screen(path: Path):
    assert path.read_text().count("\n") <= 60


@pytest.mark.parametrize("group", PICKED_GROUPS)
def test_every_choice_is_described(group):
    assert choices(group)
    for choice in choices(group):
        assert 10 < len(description(group, choice)) < 120


@pytest.mark.parametrize("group", ["method", "data"])
def test_every_choice_of_a_typed_group_has_a_schema_and_a_file(group):
    assert choices(group) == component_names(group)
    for name, schema in settings_classes(group).items():
        assert dataclasses.fields(schema)[0].default == name


@pytest.mark.parametrize("trainer", choices("trainer"))
@pytest.mark.parametrize("logger", choices("logger"))
def test_trainers_and_loggers_compose_and_leave_the_run_the_same(trainer, logger):
    run = compose([f"trainer={trainer}", f"logger={logger}", "scale=smoke"])
    assert run_directory(run) == run_directory(compose(["scale=smoke"]))
    assert run.logger.name == logger


def test_figures_share_their_runs_with_each_other_and_with_the_main_job():
    folders = [
        {run_directory(trial.run) for trial in plan([f"experiment={experiment}", "scale=smoke"]).trials}
        for experiment in ("digitcircle", "sparling/fig3", "sparling/fig4")
    ]
    assert folders[0] < folders[1] == folders[2]


def test_scale_without_values_is_refused(tmp_path):
    configs = shutil.copytree(CONFIGS, tmp_path / "configs")
    (configs / "experiment/at/digitcircle.paper.yaml").unlink()
    with pytest.raises(
        ConfigError, match=r"no values for scale=paper.*digitcircle.paper.yaml is missing(.|\n)*smoke, small"
    ):
        compose(["scale=paper"], configs)
