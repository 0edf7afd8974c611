import copy
import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.config.compose import compose
from sparseid.config.identity import (
    recipe_hash,
    row_keys,
    run_directory,
    run_hash,
    run_name,
    semantic_settings,
    settings_hash,
)
from sparseid.data.gtex import sources
from sparseid.files import write_text
from sparseid.training.run_folder import RunFolder

SCALARS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.text(max_size=5),
)
SETTINGS = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_size=5,
)


def shuffled(value):
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(inner) for inner in value] if isinstance(value, list) else value


def respelt(value):
    """Whole numbers as floats."""
    if isinstance(value, dict):
        return {key: respelt(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [respelt(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.mark.parametrize("letter", ["a", "\N{GREEK SMALL LETTER ALPHA}", "\N{MATHEMATICAL BOLD SMALL A}"])
def test_long_names_fit_into_a_file_system_and_stay_distinct(tmp_path, monkeypatch, letter):
    runs = [compose(["scale=smoke", f"outputs={tmp_path}", f"seed={seed}"]) for seed in (1, 2)]
    monkeypatch.setattr(type(runs[0].data), "row_keys", lambda self: {"domain": letter * 300})
    names = [run_name(run) for run in runs]
    assert len(set(names)) == 2
    for run, name in zip(runs, names, strict=True):
        assert name.endswith(f"-{run_hash(run)}")
        assert len(name.encode()) > 230
        write_text(tmp_path / f"{name}.yaml", "temporary files have the longest names")
        with RunFolder(run_directory(run)).lock():
            RunFolder(run_directory(run)).open(run)
        assert len(run_name(run, 128)) <= 128
    assert len({run_name(run, 128) for run in runs}) == 2


@given(SETTINGS)
def test_hash_does_not_depend_on_key_order_nor_number_spelling(settings):
    expected = settings_hash(settings)
    assert re.fullmatch("[0-9a-f]{8}", expected)
    assert settings_hash(shuffled(settings)) == expected
    assert settings_hash(respelt(settings)) == expected
    assert settings_hash(json.loads(json.dumps(settings))) == expected


def test_hash_is_the_same_in_every_version_of_python():
    assert settings_hash({"b": [1, 2.5, 1e-7], "a": {"x": True, "y": None, "z": "ü"}}) == "df119301"


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        settings_hash({"a": float("nan")})


@pytest.fixture(scope="module")
def run():
    return compose(["scale=smoke"])


@pytest.mark.parametrize(
    "override",
    [
        "outputs=/elsewhere",
        "logger=wandb",
        "trainer=ddp",
        "trainer.devices=4",
        "trainer.accelerator=cpu",
        "trainer.threads=3",
        "trainer.deterministic=false",
        "trainer.save_every_s=1",
        "trainer.stop_before_s=9",
        "force=true",
        "experiment=sparling/fig3",
        "method.optimizer.clip_norm=1",
        "method.optimizer.lr=0.0020",
    ],
)
def test_what_does_not_change_the_numbers_does_not_change_the_hash(run, override):
    assert run_hash(compose(["scale=smoke", override])) == run_hash(run)


@pytest.mark.parametrize(
    "override",
    [
        "seed=1",
        "trainer.max_samples=512",
        "trainer.batch_size=64",
        "trainer.precision=bf16-mixed",
        "method.optimizer.lr=0.0021",
        "method.sparse.thresholds=single",
        "method.evaluation.items=65",
        "data.post_noise=0.04",
    ],
)
def test_what_changes_the_numbers_changes_the_hash(run, override):
    assert run_hash(compose(["scale=smoke", override])) != run_hash(run)


def test_hash_in_another_process(run):
    code = (
        "from sparseid.config.compose import compose; from sparseid.config.identity import run_hash;"
        "print(run_hash(compose(['scale=smoke'])))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == run_hash(run)


def test_semantic_settings_are_plain(run):
    assert json.loads(json.dumps(semantic_settings(run))) == semantic_settings(run)
    assert set(semantic_settings(run)["trainer"]) == {"max_samples", "batch_size"}


def test_fields_at_their_default_do_not_count(run):
    """A later version may add a field with a default without making every earlier run a different one."""
    settings = semantic_settings(run)
    assert "precision" not in settings["trainer"]
    assert "momentum" not in settings["method"].get("sparse", {})
    run = copy.deepcopy(run)
    run.trainer.precision = "bf16-mixed"
    run.method.sparse.momentum = 0.2
    changed = semantic_settings(run)
    assert changed["trainer"]["precision"] == "bf16-mixed"
    assert changed["method"]["sparse"] == {"momentum": 0.2}
    assert settings_hash(changed) != settings_hash(settings)


def test_a_file_counts_by_its_content(run, tmp_path):
    run = copy.deepcopy(run)
    path = tmp_path / "glyphs.txt"
    path.write_text("one")
    run.data.glyphs = str(path)
    first = run_hash(run)
    moved = tmp_path / "moved.txt"
    moved.write_text("one")
    run.data.glyphs = str(moved)
    assert run_hash(run) == first
    moved.write_text("two")
    assert run_hash(run) != first


@pytest.fixture
def of_atlas(monkeypatch, tmp_path):
    """A run on the atlas, which is nowhere yet."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GTEX_H5AD", raising=False)
    monkeypatch.delenv("TF_TARGETS", raising=False)
    return compose(["experiment=tbr/fig5a", "hydra.mode=RUN", "scale=paper"])


@pytest.mark.parametrize(
    ("variable", "setting", "place"),
    [("GTEX_H5AD", "path", sources.ATLAS_FILE), ("TF_TARGETS", "tf_targets", sources.TABLE_FILE)],
)
def test_the_users_files_count_by_their_content_wherever_they_are_found(
    of_atlas, monkeypatch, tmp_path, variable, setting, place
):
    nowhere = run_hash(of_atlas)
    found = tmp_path / "data" / "gtex" / place
    found.parent.mkdir(parents=True)
    found.write_text("one")
    first, recipe = run_hash(of_atlas), recipe_hash(of_atlas)
    assert first != nowhere
    other = tmp_path / "other"
    other.write_text("two")
    monkeypatch.setenv(variable, str(other))
    assert run_hash(of_atlas) not in (first, nowhere)
    assert recipe_hash(of_atlas) != recipe  # rows of other trials are no further seeds of the same
    other.write_text("one")
    assert run_hash(of_atlas) == first
    monkeypatch.delenv(variable)
    setattr(of_atlas.data, setting, str(other))
    assert run_hash(of_atlas) == first
    other.write_text("three")
    assert run_hash(of_atlas) != first


def test_a_placed_atlas_is_nothing_to_runs_on_other_cells(monkeypatch, tmp_path):
    run = compose(["experiment=tbr/fig5a", "hydra.mode=RUN", "scale=small"])
    first = run_hash(run)
    (tmp_path / "file").write_text("one")
    monkeypatch.setenv("GTEX_H5AD", str(tmp_path / "file"))
    monkeypatch.setenv("TF_TARGETS", str(tmp_path / "file"))
    assert run_hash(run) == first


def test_seeds_of_a_trial_share_their_recipe(run):
    run = copy.deepcopy(run)
    recipe, name = recipe_hash(run), run_hash(run)
    run.seed += 1
    assert recipe_hash(run) == recipe
    assert run_hash(run) != name


def test_names_and_folder(run):
    assert row_keys(run) == {"domain": "digitcircle", "method": "sparling_mt"}
    assert row_keys(compose(["method.sparse.thresholds=single"]))["method"] == "sparling_st"
    assert run_name(run) == f"digitcircle-sparling_mt-seed0-{run_hash(run)}"
    assert run_directory(run) == Path("outputs/smoke/sparling") / run_name(run)
    assert re.fullmatch("[A-Za-z0-9_.-]+", run_name(run))
    other = dataclasses.replace(run, outputs="/elsewhere")
    assert run_directory(other) == Path("/elsewhere/smoke/sparling") / run_name(run)


def test_images_unlike_the_published_ones_have_it_in_their_keys(run):
    harder = dataclasses.replace(run, data=dataclasses.replace(run.data, post_noise=0.1, rarest=0.25))
    assert "rarest" not in row_keys(run)
    assert row_keys(harder) == {**row_keys(run), "post_noise": 0.1, "rarest": 0.25}


def test_keys_of_single_cells_say_which_cells_they_are_unless_they_are_the_papers():
    trials = ("experiment=tbr/fig5b", "hydra.mode=RUN", "data.S=2", "data.z_choice=3")
    run = compose([*trials, "scale=small", "data.held_out.index=1"])
    held_out = {"domain": "gtex", "method": "tbr", "S": 2, "z_choice": 3, "held_out": 1}
    assert row_keys(run) == held_out | {"source": "semi_synthetic"}
    assert run_name(run).startswith("gtex-tbr-S2-z_choice3-held_out1-semi_synthetic-seeds0to2-")
    published = compose([*trials, "scale=paper"])
    assert row_keys(published) == {key: value for key, value in held_out.items() if key != "held_out"}


@pytest.mark.parametrize(
    ("data", "trained", "name"),
    [
        ("zeisel", True, "vsc"),
        ("zeisel", False, "vsc_untrained_inputs"),
        ("seven_features", False, "vsc"),
        ("seven_features", True, "vsc_trained_inputs"),
    ],
)
def test_the_recipe_published_for_the_data_has_the_plain_name(data, trained, name):
    preset = {"zeisel": "fig4", "seven_features": "fig3"}[data]
    settings = ["hydra.mode=RUN", "scale=smoke", "method.model=vsc", f"method.vsc.train_pseudo_inputs={trained}"]
    rho = ["data.rho=0.0"] if data == "seven_features" else []
    assert row_keys(compose([f"experiment=sparse_vae/{preset}", *settings, *rho]))["method"] == name
