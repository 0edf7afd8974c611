"""The preset of sparse autoencoders at smoke: its runs and its table are made, and unusable input is refused before."""

import pytest

from sparseid.config.sweep import plan
from sparseid.launching.main import main
from sparseid.launching.one_run import DONE, make_run
from sparseid.papers.registry import artefact
from sparseid.reporting.collect import collect
from sparseid.reporting.sections import write_artefact


def test_the_table_names_model_and_text_and_has_every_kind(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    planned = plan(["experiment=ddl/table3", "scale=smoke", f"outputs={tmp_path / 'runs'}", "trainer=cpu"])
    for trial in planned.trials:
        assert make_run(trial.run, page=False).code == DONE
    section = write_artefact(artefact("ddl/table3"), collect(tmp_path / "runs"), tmp_path / "report", "smoke")
    ours = [line.texts for line in section.table if "random" in line.texts[0]]
    assert len(section.done) == 3
    assert [texts[0].rpartition(", ")[2] for texts in ours if texts[1] == "dead features, count"] == [
        "TopK",
        "BatchTopK",
        "JSAE",
    ]
    assert all("WikiText-2" in texts[0] for texts in ours)


@pytest.mark.parametrize(
    ("override", "wanted"),
    [
        ("data.model={folder}", "has no weights: save them there as *.safetensors"),
        ("data.text={folder}/latin.txt", "latin.txt is not UTF-8 (byte 0xf6 in line 1): save it as UTF-8"),
        ("data.layer=2", "has 2 layers: data.layer must be between 0 and 1"),
        ("method.k=65", "a dictionary of method.features=64 has no 65 to activate: lower method.k"),
    ],
)
def test_unusable_input_is_refused_before_anything_is_computed(override, wanted, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    (tmp_path / "latin.txt").write_bytes("sch\u00f6n\n".encode("latin-1"))
    given = override.format(folder=tmp_path)
    assert main(["experiment=ddl/table3", "scale=smoke", f"outputs={tmp_path / 'runs'}", given]) == 2
    said = "".join(capfd.readouterr())
    assert wanted in said.replace("\n  ", " ")
    assert "Traceback" not in said
    assert not [*(tmp_path / "runs").rglob("status.json")]
