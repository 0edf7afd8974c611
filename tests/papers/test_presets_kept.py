"""What a preset asks for is kept in the data folder, and never used once it may be another answer."""

import json
import shutil

import pytest

from sparseid.config.search_path import CONFIGS
from sparseid.papers import presets
from sparseid.papers.fingerprint import of_code


@pytest.fixture
def configs(tmp_path, monkeypatch):
    """A copy of the presets, and a data folder with nothing kept."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("GTEX_H5AD", raising=False)
    monkeypatch.delenv("TF_TARGETS", raising=False)
    yield shutil.copytree(CONFIGS, tmp_path / "configs")
    _forget()


@pytest.fixture
def composed(monkeypatch):
    """List the presets that are composed."""
    calls = []
    compose = presets._compose
    monkeypatch.setattr(presets, "_compose", lambda *preset: calls.append(preset[:2]) or compose(*preset))
    return calls


def _forget():
    for cached in (presets.preset_runs, presets._dependencies):
        cached.cache_clear()


def _ask(configs, experiment="digitcircle"):
    """Ask as a new process would."""
    _forget()
    return presets.preset_runs(experiment, "smoke", configs)


def _edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_answer_is_composed_once_and_the_same_in_every_process(configs, composed, tmp_path):
    first = _ask(configs, "tbr/fig4")
    assert len({recipe for recipe, _ in first}) == 4
    assert _ask(configs, "tbr/fig4") == first
    assert composed == [("tbr/fig4", "smoke")]
    assert [path.name for path in (tmp_path / "data" / "cache" / "presets").iterdir()] == ["tbr-fig4-smoke.json"]


def test_editing_a_preset_changes_the_answer(configs, composed):
    first = _ask(configs)
    _edit(configs / "experiment" / "at" / "digitcircle.smoke.yaml", "batch_size: 32", "batch_size: 64")
    changed = _ask(configs)
    assert changed.isdisjoint(first)
    _edit(configs / "experiment" / "at" / "digitcircle.smoke.yaml", "batch_size: 64", "batch_size: 32")
    assert _ask(configs) == first
    assert len(composed) == 3


def test_what_is_edited_while_it_is_composed_is_not_kept(configs, composed, monkeypatch):
    compose = presets._compose

    def edited(*preset):
        _edit(configs / "experiment" / "at" / "digitcircle.smoke.yaml", "batch_size: 32", "batch_size: 64")
        return compose(*preset)

    monkeypatch.setattr(presets, "_compose", edited)
    between = _ask(configs)
    monkeypatch.setattr(presets, "_compose", compose)
    _edit(configs / "experiment" / "at" / "digitcircle.smoke.yaml", "batch_size: 64", "batch_size: 32")
    assert _ask(configs).isdisjoint(between)


def test_other_code_and_other_libraries_compose_again(configs, composed, monkeypatch):
    _ask(configs)
    monkeypatch.setattr(presets, "of_code", lambda *code: "another")
    _ask(configs)
    assert len(composed) == 2
    assert {"hydra-core", "omegaconf"} <= set(_libraries(monkeypatch, configs))


def _libraries(monkeypatch, configs):
    asked = []
    monkeypatch.setattr(
        presets, "of_code", lambda names, libraries: asked.extend(libraries) or of_code(names, libraries)
    )
    presets._dependencies.__wrapped__(configs)
    return asked


def test_a_file_that_a_preset_names_counts_by_its_content(configs, composed, tmp_path):
    glyphs = tmp_path / "glyphs.txt"
    glyphs.write_text("0\n###\n#.#\n###\n1\n.#.\n.#.\n.#.\n2\n##.\n.#.\n.##\n")
    _edit(configs / "experiment" / "at" / "digitcircle.smoke.yaml", "glyphs: compact", f"glyphs: {glyphs}")
    first = _ask(configs)
    assert _ask(configs) == first
    _edit(glyphs, "##.", "#..")
    assert _ask(configs).isdisjoint(first)
    assert len(composed) == 2


def test_the_atlas_that_the_user_places_counts_by_its_content(configs, tmp_path, monkeypatch):
    _edit(configs / "experiment" / "at" / "tbr" / "fig5a.smoke.yaml", "source: pbmc68k", "source: atlas")
    absent = _ask(configs, "tbr/fig5a")
    atlas = tmp_path / "atlas.h5ad"
    atlas.write_text("cells")
    monkeypatch.setenv("GTEX_H5AD", str(atlas))
    placed = _ask(configs, "tbr/fig5a")
    atlas.write_text("other cells")
    assert len(absent | placed | _ask(configs, "tbr/fig5a")) == 3 * len(absent)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"made_from": 1}', "\udcff"])
def test_a_broken_answer_is_composed_again_and_replaced(configs, composed, tmp_path, content):
    first = _ask(configs)
    kept = tmp_path / "data" / "cache" / "presets" / "digitcircle-smoke.json"
    kept.write_bytes(content.encode(errors="surrogateescape"))
    assert _ask(configs) == first
    assert _ask(configs) == first
    assert len(composed) == 2


@pytest.mark.parametrize("part", [{"recipes": []}, {"recipes": {"0": 1}}, {"named": ["tall"]}])
def test_parts_of_another_kind_are_no_answer(configs, composed, tmp_path, part):
    first = _ask(configs)
    kept = tmp_path / "data" / "cache" / "presets" / "digitcircle-smoke.json"
    kept.write_text(json.dumps(json.loads(kept.read_text()) | part))
    assert _ask(configs) == first
    assert len(composed) == 2


def test_a_data_folder_that_cannot_be_written_to_is_no_error(configs, composed, tmp_path):
    (tmp_path / "data").write_text("a file, where a folder should be")
    assert _ask(configs) == _ask(configs) != frozenset()
    assert len(composed) == 2
